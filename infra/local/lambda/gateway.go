package lambda

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/template"
)

// maxBody is API Gateway's limit for a request's body.
const maxBody = 10 << 20

// gateway answers one route by its function.
type gateway struct {
	function, route string // route as API Gateway names it: a method, or ANY, and a path
	timeout         time.Duration
	invoker         Invoker
	log             *slog.Logger
}

// NewGateway serves the functions' routes, and rest on all other paths.
func NewGateway(functions []template.Function, invoker Invoker, rest http.Handler,
	log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", rest)
	for _, f := range functions {
		for _, r := range f.Routes {
			pattern := strings.TrimPrefix(r.Method+" "+strings.Replace(r.Path, "+}", "...}", 1), "ANY ")
			mux.Handle(pattern, &gateway{f.ID, r.Method + " " + r.Path, r.Timeout, invoker, log})
		}
	}
	return mux
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		fail(w, http.StatusRequestEntityTooLarge, "Request Too Long")
		return
	case err != nil:
		fail(w, http.StatusBadRequest, "Bad Request")
		return
	}
	e := g.event(r, body)
	payload, _ := json.Marshal(e) // marshaling strings and numbers can't fail
	// The function finishes even if the caller disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), g.timeout)
	defer cancel()
	result, err := g.invoker.Invoke(ctx, g.function, payload)
	switch {
	case err != nil:
		g.log.Warn("no answer", "route", g.route, "request_id", e.RequestContext.RequestID, "err", err)
		fail(w, http.StatusServiceUnavailable, "Service Unavailable")
	case result.Failed:
		g.log.Warn("function failed", "route", g.route, "function", g.function, "request_id", result.RequestID)
		fail(w, http.StatusInternalServerError, "Internal Server Error")
	default:
		if err := respond(w, result.Payload); err != nil {
			g.log.Error("answer of a wrong form", "route", g.route, "function", g.function, "err", err)
			fail(w, http.StatusInternalServerError, "Internal Server Error")
		}
	}
}

// fail answers with an error of the gateway itself.
func fail(w http.ResponseWriter, status int, message string) {
	say(w, status, map[string]string{"message": message})
}

// say answers with an object of texts.
func say(w http.ResponseWriter, status int, answer map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // a failure means that the caller has left
}

// event converts a request to payload format 2.0, without the parameters of path and query, which no function reads.
func (g *gateway) event(r *http.Request, body []byte) events.APIGatewayV2HTTPRequest {
	now := time.Now().UTC()
	ip, _, _ := net.SplitHostPort(r.RemoteAddr) // set by the server
	e := events.APIGatewayV2HTTPRequest{
		Version:        "2.0",
		RouteKey:       g.route,
		RawPath:        r.URL.Path,
		RawQueryString: r.URL.RawQuery,
		Headers:        headers(r, ip, len(body)),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			AccountID: template.Account, APIID: "local", DomainName: r.Host, DomainPrefix: "local", Stage: "$default",
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: r.Method, Path: r.URL.Path, Protocol: r.Proto,
				SourceIP:  ip,
				UserAgent: r.UserAgent()},
			RequestID: rand.Text()[:15] + "=", RouteKey: g.route, Time: now.Format("02/Jan/2006:15:04:05 -0700"),
			TimeEpoch: now.UnixMilli(),
		},
	}
	for _, line := range r.Header.Values("Cookie") {
		for cookie := range strings.SplitSeq(line, ";") {
			e.Cookies = append(e.Cookies, strings.TrimSpace(cookie))
		}
	}
	e.Body, e.IsBase64Encoded = encode(body, r.Header.Get("Content-Type"))
	return e
}

// headers returns the request's headers with lower-case names. Repeated headers are joined by commas; cookies are left
// out. The x-forwarded headers are added as API Gateway adds them.
func headers(r *http.Request, ip string, length int) map[string]string {
	h := map[string]string{"host": r.Host, "content-length": strconv.Itoa(length), "x-forwarded-proto": "https",
		"x-forwarded-port": "443", "x-forwarded-for": ip}
	for name, values := range r.Header {
		if name = strings.ToLower(name); name != "cookie" {
			h[name] = strings.Join(values, ",")
		}
	}
	return h
}

// encode returns a body as API Gateway passes it on: text and a few application types unchanged, everything else, forms
// included, in base64.
func encode(body []byte, contentType string) (text string, isBase64 bool) {
	media, _, _ := mime.ParseMediaType(contentType) // "" for an invalid type
	switch media {
	case "application/json", "application/xml", "application/javascript":
		return string(body), false
	}
	if len(body) == 0 || strings.HasPrefix(media, "text/") {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

// respond writes a function's answer. It returns an error, and writes nothing, if the answer is malformed.
func respond(w http.ResponseWriter, payload []byte) error {
	var a events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(payload, &a); err != nil {
		return err
	}
	if a.StatusCode < 100 || a.StatusCode > 599 {
		return fmt.Errorf("statusCode is %d", a.StatusCode)
	}
	body := []byte(a.Body)
	if a.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			return fmt.Errorf("body: %w", err)
		}
		body = decoded
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain;charset=UTF-8")
	for name, value := range a.Headers {
		h.Set(name, value)
	}
	h.Del("Content-Length")
	for _, cookie := range a.Cookies {
		h.Add("Set-Cookie", cookie)
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(body) // a failure means that the caller has left
	return nil
}
