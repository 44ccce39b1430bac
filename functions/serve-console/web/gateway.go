// Package web is the base of the console's pages: it adapts API Gateway's events to net/http and has the security
// headers, the session and its viewer, the layout, the texts and the error pages.
package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/runtime/boot"
)

// The largest bodies that are read, in bytes. MaxFile is for routes that take files: a request of Lambda's has at most
// 6 MB, in base64.
const (
	MaxBody = 1 << 20
	MaxFile = 4 << 20
)

type (
	// Request is an HTTP API request, payload version 2.
	Request  = events.APIGatewayV2HTTPRequest
	Response = events.APIGatewayV2HTTPResponse
)

// Serve answers HTTP API events with a handler. A panic becomes a 500 without details. It counts 5xx answers in a
// metric, because Lambda doesn't count them as errors.
func Serve(h http.Handler) func(context.Context, Request) (Response, error) {
	return func(ctx context.Context, in Request) (Response, error) {
		out := answered(ctx, h, in)
		if out.StatusCode >= http.StatusInternalServerError {
			boot.Count(boot.NotAnswered, 1)
		}
		return out, nil
	}
}

func answered(ctx context.Context, h http.Handler, in Request) Response {
	r, err := request(ctx, in)
	if err != nil {
		return plain(http.StatusBadRequest, err.Error())
	}
	if r.ContentLength > MaxFile {
		return plain(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", MaxFile))
	}
	w := &answer{header: http.Header{}}
	if err := guarded(ctx, h, w, r); err != nil {
		slog.ErrorContext(ctx, "a page panicked", "path", r.URL.Path, "err", err)
		return plain(http.StatusInternalServerError, "Internal Server Error")
	}
	return w.response()
}

func guarded(ctx context.Context, h http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer boot.Recover(ctx, &err)
	h.ServeHTTP(w, r)
	return nil
}

// request converts an event. RemoteAddr is the caller's address without a port.
func request(ctx context.Context, in Request) (*http.Request, error) {
	body := []byte(in.Body)
	if in.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(in.Body); err != nil {
			return nil, fmt.Errorf("the body is not base64")
		}
	}
	u := &url.URL{Path: in.RawPath, RawQuery: in.RawQueryString}
	r, err := http.NewRequestWithContext(ctx, in.RequestContext.HTTP.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the request line makes no sense")
	}
	for name, value := range in.Headers {
		r.Header.Set(name, value)
	}
	if len(in.Cookies) > 0 { // the gateway removes them from the headers
		r.Header.Set("Cookie", strings.Join(in.Cookies, "; "))
	}
	r.Host, r.RemoteAddr = r.Header.Get("Host"), in.RequestContext.HTTP.SourceIP
	return r, nil
}

// answer records what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// response converts the answer for the gateway: text unchanged, everything else as base64.
func (a *answer) response() Response {
	a.WriteHeader(http.StatusOK)
	out := Response{StatusCode: a.status, Headers: map[string]string{}, Cookies: a.header.Values("Set-Cookie")}
	for name, values := range a.header {
		if name != "Set-Cookie" {
			out.Headers[name] = strings.Join(values, ", ")
		}
	}
	if b := a.body.Bytes(); utf8.Valid(b) {
		out.Body = string(b)
	} else {
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(b), true
	}
	return out
}

func plain(status int, text string) Response {
	return Response{StatusCode: status, Body: text + "\n", Headers: map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff",
	}}
}

// policy lets a page load its own script, style sheet and pictures, and forbids inline scripts and styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Safe adds to every answer the headers that forbid framing, content sniffing, referrers, caching and foreign scripts.
// It answers 403 to a change that another site's page requested.
func Safe(h http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Refuse(r, &Viewer{}, "a form of another site")
		http.Error(w, "this form came from another site", http.StatusForbidden)
	}))
	guarded := cross.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Permissions-Policy":         "camera=(), geolocation=(), microphone=()",
			"Cache-Control":              "no-store",
		} {
			w.Header().Set(name, value)
		}
		if !IsLocal(r.Host) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		guarded.ServeHTTP(w, r)
	})
}

// IsLocal reports whether a host is this machine, where there is no TLS.
func IsLocal(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// LocalPath returns the path and query in text if it is below prefix, else otherwise. It rejects "//host" and "/\host",
// which browsers read as addresses of other hosts.
func LocalPath(text, prefix, otherwise string) string {
	u, err := url.Parse(text)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" ||
		strings.ContainsAny(text, "\\\r\n\t") {
		return otherwise
	}
	clean := path.Clean(u.Path)
	if clean != strings.TrimSuffix(prefix, "/") && !strings.HasPrefix(clean, prefix) || strings.HasPrefix(u.Path, "//") {
		return otherwise
	}
	return (&url.URL{Path: clean, RawQuery: u.RawQuery}).String()
}
