package lambda

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"ringi/infra/local/template"
)

// maxBody is API Gateway's limit for a request's body.
const maxBody = 10 << 20

type GatewayInvoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (Result, error)
}

type Gateway struct {
	routes  []route
	invoker GatewayInvoker
	account string
	log     *slog.Logger
	now     func() time.Time
}

func NewGateway(functions []template.Function, account string, invoker GatewayInvoker, log *slog.Logger) *Gateway {
	g := &Gateway{invoker: invoker, account: account, log: log, now: time.Now}
	for _, f := range functions {
		for _, r := range f.Routes {
			g.routes = append(g.routes, newRoute(f.ID, r))
		}
	}
	return g
}

// Serves reports whether some route has this path, for any method.
func (g *Gateway) Serves(path string) bool {
	return slices.ContainsFunc(g.routes, func(r route) bool {
		_, fits := r.match(path)
		return fits
	})
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, parameters, ok := g.find(r.Method, r.URL.Path)
	if !ok {
		say(w, http.StatusNotFound, "Not Found")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		say(w, http.StatusRequestEntityTooLarge, "Request Too Long")
		return
	case err != nil:
		say(w, http.StatusBadRequest, "Bad Request")
		return
	}
	e := g.event(r, route, parameters, body)
	payload, err := json.Marshal(e)
	if err != nil {
		g.log.Error("encode the event", "route", route.key(), "err", err)
		say(w, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	// The function finishes even if the caller disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), route.timeout)
	defer cancel()
	result, err := g.invoker.Invoke(ctx, route.function, payload)
	switch {
	case err != nil:
		g.log.Warn("no answer", "route", route.key(), "request_id", e.RequestContext.RequestID, "err", err)
		say(w, http.StatusServiceUnavailable, "Service Unavailable")
	case result.Failed:
		g.log.Warn("function failed", "route", route.key(), "function", route.function, "request_id", result.RequestID)
		say(w, http.StatusInternalServerError, "Internal Server Error")
	default:
		if err := respond(w, result.Payload); err != nil {
			g.log.Error("answer of a wrong form", "route", route.key(), "function", route.function, "err", err)
			say(w, http.StatusInternalServerError, "Internal Server Error")
		}
	}
}

// say answers with an error of the gateway itself.
func say(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// requestID has the form of API Gateway's extended request ids.
func gatewayRequestID() string { return rand.Text()[:15] + "=" }
