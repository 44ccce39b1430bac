package lambda

import (
	"bytes"
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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/template"
)

// maxBody is API Gateway's limit for a request's body.
const maxBody = 10 << 20

type Gateway struct {
	routes  []route
	invoker Invoker
	account string
	log     *slog.Logger
	now     func() time.Time
}

func NewGateway(functions []template.Function, account string, invoker Invoker, log *slog.Logger) *Gateway {
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

// gatewayRequestID has the form of API Gateway's extended request ids.
func gatewayRequestID() string { return rand.Text()[:15] + "=" }

// event converts a request to payload format 2.0.
func (g *Gateway) event(r *http.Request, route route, parameters map[string]string,
	body []byte) events.APIGatewayV2HTTPRequest {
	now, ip := g.now().UTC(), sourceIP(r)
	e := events.APIGatewayV2HTTPRequest{
		Version:               "2.0",
		RouteKey:              route.key(),
		RawPath:               r.URL.Path,
		RawQueryString:        r.URL.RawQuery,
		Headers:               headers(r, ip, len(body)),
		QueryStringParameters: query(r),
		PathParameters:        parameters,
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			AccountID: g.account, APIID: "local", DomainName: r.Host, DomainPrefix: "local", Stage: "$default",
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: r.Method, Path: r.URL.Path, Protocol: r.Proto,
				SourceIP:  ip,
				UserAgent: r.UserAgent()},
			RequestID: gatewayRequestID(), RouteKey: route.key(), Time: now.Format("02/Jan/2006:15:04:05 -0700"),
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

func query(r *http.Request) map[string]string {
	q := map[string]string{}
	for name, values := range r.URL.Query() {
		q[name] = strings.Join(values, ",")
	}
	return q
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

func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// respond writes a function's answer. If the answer is an object with a statusCode, it sets status, headers and body;
// any other JSON becomes the body of a 200.
//
// It returns an error, and writes nothing, if the answer is malformed.
func respond(w http.ResponseWriter, payload []byte) error {
	if !json.Valid(payload) {
		return errors.New("it is no JSON")
	}
	var fields map[string]json.RawMessage
	isObject := bytes.HasPrefix(bytes.TrimSpace(payload), []byte("{")) && json.Unmarshal(payload, &fields) == nil
	if _, explicit := fields["statusCode"]; !isObject || !explicit {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(payload) // a failure means that the caller has left
		return nil
	}
	var a struct {
		StatusCode      int                        `json:"statusCode"`
		Headers         map[string]json.RawMessage `json:"headers"`
		Cookies         []string                   `json:"cookies"`
		Body            string                     `json:"body"`
		IsBase64Encoded bool                       `json:"isBase64Encoded"`
	}
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
	for name, raw := range a.Headers {
		h.Set(name, plain(raw))
	}
	h.Del("Content-Length")
	for _, cookie := range a.Cookies {
		h.Add("Set-Cookie", cookie)
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(body) // a failure means that the caller has left
	return nil
}

// plain returns a header's value, which may be a string, a number or a boolean.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// route is a route of the API. A part in braces matches any segment; {name+} at the end matches all remaining segments.
type route struct {
	function     string
	method, path string
	parts        []string
	timeout      time.Duration
}

func newRoute(function string, r template.Route) route {
	return route{function: function, method: r.Method, path: r.Path, parts: segments(r.Path), timeout: r.Timeout}
}

// key names the route as API Gateway does.
func (r route) key() string { return r.method + " " + r.path }

func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

// match reports whether the path fits, and returns its path parameters.
func (r route) match(path string) (map[string]string, bool) {
	parameters := map[string]string{}
	have := segments(path)
	for i, want := range r.parts {
		name, isParameter := strings.CutPrefix(want, "{")
		name = strings.TrimSuffix(name, "}")
		if greedy, ok := strings.CutSuffix(name, "+"); ok && isParameter {
			if len(have) <= i {
				return nil, false
			}
			parameters[greedy] = strings.Join(have[i:], "/")
			return parameters, true
		}
		if i >= len(have) || (isParameter && have[i] == "") || (!isParameter && have[i] != want) {
			return nil, false
		}
		if isParameter {
			parameters[name] = have[i]
		}
	}
	return parameters, len(have) == len(r.parts)
}

// weight ranks the routes that match a request. Exact paths come before paths with parameters, and those before greedy
// ones. On the same path, a method comes before ANY.
func (r route) weight() int {
	w := 0
	for _, part := range r.parts {
		switch {
		case strings.HasSuffix(part, "+}"):
			w -= 1000
		case !strings.HasPrefix(part, "{"):
			w += 2
		}
	}
	if r.method != "ANY" {
		w++
	}
	return w
}

func (g *Gateway) find(method, path string) (best route, parameters map[string]string, found bool) {
	for _, r := range g.routes {
		p, ok := r.match(path)
		if !ok || (r.method != "ANY" && r.method != method) {
			continue
		}
		if !found || r.weight() > best.weight() {
			best, parameters, found = r, p, true
		}
	}
	return best, parameters, found
}
