package boot

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

type (
	// Request is an HTTP API request, payload version 2.
	Request  = events.APIGatewayV2HTTPRequest
	Response = events.APIGatewayV2HTTPResponse
)

// Fault answers a request that a handler never saw, or died of. http.Error is one.
type Fault func(w http.ResponseWriter, text string, status int)

// Serve answers HTTP API events with a handler; a body of more than most bytes with 413. A panic becomes a 500 without
// details. It counts 5xx answers in a metric, because Lambda doesn't count them as errors.
func Serve(h http.Handler, most int64, no Fault) func(context.Context, Request) (Response, error) {
	return func(ctx context.Context, in Request) (Response, error) {
		out := answered(ctx, h, in, most, no).response()
		if out.StatusCode >= http.StatusInternalServerError {
			Count(NotAnswered, 1)
		}
		return out, nil
	}
}

func answered(ctx context.Context, h http.Handler, in Request, most int64, no Fault) *answer {
	w, fault := &answer{header: http.Header{}}, &answer{header: http.Header{}}
	r, err := request(ctx, in)
	switch {
	case err != nil:
		no(fault, err.Error(), http.StatusBadRequest)
		return fault
	case r.ContentLength > most:
		no(fault, fmt.Sprintf("the body has more than %d bytes", most), http.StatusRequestEntityTooLarge)
		return fault
	}
	if err := guarded(ctx, h, w, r); err != nil {
		slog.ErrorContext(ctx, "a handler panicked", "path", r.URL.Path, "err", err)
		no(fault, "Internal Server Error", http.StatusInternalServerError)
		return fault
	}
	return w
}

func guarded(ctx context.Context, h http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer Recover(ctx, &err)
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

// Address returns the address at which a caller reached a host. That a caller says which is safe: API Gateway answers
// only under its own name and configured domains.
func Address(host string) string {
	if IsLocal(host) {
		return "http://" + host
	}
	return "https://" + host
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
