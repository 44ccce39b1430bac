// Package web is the base of the console's pages: it adapts API Gateway's events to net/http and has the security
// headers, the session and its viewer, the layout, the texts and the error pages.
package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/explain"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/slackapi"
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
	serve := serving(h)
	return func(ctx context.Context, in Request) (Response, error) {
		out, err := serve(ctx, in)
		if out.StatusCode >= http.StatusInternalServerError {
			boot.Count(boot.NotAnswered, 1)
		}
		return out, err
	}
}

func serving(h http.Handler) func(context.Context, Request) (Response, error) {
	return func(ctx context.Context, in Request) (Response, error) {
		r, err := request(ctx, in)
		if err != nil {
			return plain(http.StatusBadRequest, err.Error()), nil
		}
		if r.ContentLength > MaxFile {
			return plain(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", MaxFile)), nil
		}
		w := &answer{header: http.Header{}}
		if err := guarded(ctx, h, w, r); err != nil {
			slog.ErrorContext(ctx, "a page panicked", "path", r.URL.Path, "err", err)
			return plain(http.StatusInternalServerError, "Internal Server Error"), nil
		}
		return w.response(), nil
	}
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
		slog.WarnContext(
			r.Context(), "refused", "why", "a form of another site", "method", r.Method, "path", r.URL.Path, "address",
			r.RemoteAddr,
		)
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

// Errors that refuse a request, besides those that explain knows.
var (
	ErrNoPage       = errors.New("no such page")
	ErrNoID         = errors.New("an id that nothing can have")
	ErrExpired      = errors.New("deleted after its retention time")
	ErrDeletable    = errors.New("a conversation that is deleted, or that the viewer can't see")
	ErrAdminsOnly   = errors.New("for administrators")
	ErrSignedOut    = errors.New("nobody is signed in")
	ErrBadForm      = errors.New("the form carries no token of this session")
	ErrTooMany      = errors.New("too many sign-ins")
	ErrStaleSignIn  = errors.New("no sign-in of this browser's is under way")
	ErrDenied       = errors.New("the person did not allow it")
	ErrNewWorkspace = errors.New("a workspace that has asked for nothing yet")
	ErrNoAdmin      = errors.New("the Slack secret names no first administrator")
	ErrNoClient     = errors.New("the Slack secret has no client")
)

// faults maps errors to statuses and the keys of their texts. The first entry that an error matches counts.
var faults = []struct {
	err     error
	status  int
	says    string
	refused bool // somebody tried a forbidden act: logged
}{
	{ErrNoPage, http.StatusNotFound, "no_page", false},
	{ErrNoID, http.StatusNotFound, "no_page", true},
	{ErrExpired, http.StatusNotFound, "expired", false},
	{ErrDeletable, http.StatusNotFound, "deletable", true},
	{ErrAdminsOnly, http.StatusForbidden, "admins_only", true},
	{ErrSignedOut, http.StatusUnauthorized, "signed_out", true},
	{ErrBadForm, http.StatusForbidden, "bad_form", true},
	{ErrTooMany, http.StatusTooManyRequests, "too_many", true},
	{ErrStaleSignIn, http.StatusBadRequest, "stale_sign_in", true},
	{ErrDenied, http.StatusForbidden, "denied", false},
	{ErrNoClient, http.StatusServiceUnavailable, "no_client", false},
	{ErrNewWorkspace, http.StatusForbidden, "new_workspace", true},
	{ErrNoAdmin, http.StatusServiceUnavailable, "no_admin", false},
	{ErrNotOfUs, http.StatusForbidden, "not_of_us", true},
	{slackapi.ErrSignInRefused, http.StatusForbidden, "sign_in_refused", true},
	{auditlog.ErrBusy, http.StatusTooManyRequests, "exports_busy", false},
}

// FaultOf returns the status for an error, the key of its text, and whether it is logged as refused.
func FaultOf(err error) (status int, says string, refused bool) {
	for _, f := range faults {
		if errors.Is(err, f.err) {
			return f.status, f.says, f.refused
		}
	}
	switch class := explain.ClassOf(err); class {
	case explain.NotFound:
		return http.StatusNotFound, "not_found", true
	case explain.NotAllowed:
		return http.StatusForbidden, "not_allowed", true
	case explain.Field, explain.MalformedForm, explain.BadInput:
		return http.StatusBadRequest, "bad_input", false
	case explain.Unverified, explain.Unavailable, explain.Unconfirmed, explain.ModelUnavailable:
		return http.StatusServiceUnavailable, "unavailable", false
	case explain.Conflict, explain.Changed, explain.Superseded, explain.Full:
		return http.StatusConflict, "conflict", false
	default:
		if class.Refusal() { // impossible in the subject's current state
			return http.StatusConflict, "conflict", false
		}
	}
	return http.StatusInternalServerError, "internal", false
}

// Fail answers with a page that explains the error.
func (c *Site) Fail(w http.ResponseWriter, r *http.Request, v *Viewer, err error) {
	status, says, refused := FaultOf(err)
	switch {
	case refused:
		Refuse(r, v, err.Error())
	case status >= http.StatusInternalServerError:
		slog.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "tenant", v.Tenant, "err", err)
	}
	texts := v.Texts("fault")
	d := Document{Title: texts.In("title", says), Data: texts.In("text", says), Status: status}
	if err := c.Show(w, r, v, d, "home/fault"); err != nil {
		slog.ErrorContext(r.Context(), "an error page failed", "err", err)
		http.Error(w, d.Title, status)
	}
}
