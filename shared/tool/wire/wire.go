// Package wire makes the HTTP calls of tools. For every call that failed it reports whether the call can have had an
// effect.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/outbound"
)

// attemptWithin bounds one attempt of a read.
const attemptWithin = 20 * time.Second

const maxAttempts = 3

// Client calls one vendor's API with JSON.
type Client struct {
	Provider explain.Provider
	Base     string // no slash at its end
	Tokens   Tokens
	HTTP     HTTP
	// Explain reads the body of an error.
	Explain func(status int, body []byte) Refusal

	mu     sync.Mutex
	held   string // the token
	failed error  // why there is none; no further request asks for one
}

// Tokens are the credentials of one tenant for one vendor. Errors are *explain.CallError with the outcome Failed,
// because without a token nothing is called.
type Tokens interface {
	Token(ctx context.Context) (string, error)
	// Renew returns a new token in place of the refused one.
	Renew(ctx context.Context, refused string) (string, error)
	// Refused records that a token was refused although it had just been renewed.
	Refused(ctx context.Context, token string)
}

// Minted makes tokens, each a new one. A token that is refused twice stays refused.
type Minted func(ctx context.Context) (string, error)

func (m Minted) Token(ctx context.Context) (string, error)           { return m(ctx) }
func (m Minted) Renew(ctx context.Context, _ string) (string, error) { return m(ctx) }
func (m Minted) Refused(context.Context, string)                     {}

// HTTP is the pair of HTTP clients that all vendors share.
type HTTP struct{ Reads, Writes *http.Client }

// NewHTTP makes clients that follow no redirect and return *NotSent for requests that were never sent. Writes never
// repeats a request by itself. It opens a connection for each request, because the server may close an idle one just as
// a request is sent on it.
func NewHTTP() HTTP {
	reads := http.DefaultTransport.(*http.Transport).Clone()
	reads.MaxResponseHeaderBytes = 64 << 10
	writes := reads.Clone()
	writes.DisableKeepAlives = true
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return HTTP{
		Reads:  &http.Client{Transport: once{reads}, CheckRedirect: stay},
		Writes: &http.Client{Transport: once{writes}, CheckRedirect: stay},
	}
}

// once sends a request at most once.
type once struct{ next http.RoundTripper }

// NotSent is the error of a request of which no byte was sent.
type NotSent struct{ Err error }

func (e *NotSent) Error() string { return "not sent: " + e.Err.Error() }
func (e *NotSent) Unwrap() error { return e.Err }

// RoundTrip returns *NotSent when no connection could be made.
func (o once) RoundTrip(r *http.Request) (*http.Response, error) {
	connected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	r = r.Clone(httptrace.WithClientTrace(r.Context(), trace))
	r.GetBody = nil // net/http repeats only a request whose body it can read again
	res, err := o.next.RoundTrip(r)
	if err != nil && !connected {
		return nil, &NotSent{err}
	}
	return res, err
}

// Read makes a call that changes nothing. If the failure may be temporary, Read repeats the call, up to maxAttempts,
// while ctx allows: after the time that the vendor asks for, or else half a second, doubled at each attempt. Its errors
// are *explain.CallError with the outcome Failed.
func (c *Client) Read(ctx context.Context, path string, out any) error {
	for attempt := 1; ; attempt++ {
		attemptCtx, cancel := context.WithTimeout(ctx, attemptWithin)
		err := c.call(attemptCtx, http.MethodGet, path, nil, out)
		cancel()
		if err == nil {
			return nil
		}
		err.Outcome = explain.CallFailed
		wait := 500 * time.Millisecond << (attempt - 1)
		// up to half of it more at random, so that clients don't retry at the same time
		wait = cmp.Or(err.RetryAfter, wait+rand.N(wait/2))
		if attempt == maxAttempts || !again(err) || !clock.LastsFor(ctx, wait) {
			return err
		}
	}
}

// Write makes a call that changes something, once. Its errors are *explain.CallError: Failed if nothing changed, or
// Unknown.
func (c *Client) Write(ctx context.Context, method, path string, in, out any) error {
	if err := c.call(ctx, method, path, in, out); err != nil {
		return err
	}
	return nil
}

// call makes a call with the tenant's token. If the vendor refuses the token, call tries once more with a new one,
// because a call without a valid token has no effect. It returns a nil *explain.CallError only if out is filled.
func (c *Client) call(ctx context.Context, method, path string, in, out any) *explain.CallError {
	token, err := c.Token(ctx, "")
	if err != nil {
		return c.without(err)
	}
	refused := c.callAs(ctx, token, method, path, in, out)
	if refused == nil || refused.Problem != explain.ProblemUnauthorized {
		return refused
	}
	if token, err = c.Token(ctx, token); err != nil {
		return c.without(err)
	}
	refused = c.callAs(ctx, token, method, path, in, out)
	if refused != nil && refused.Problem == explain.ProblemUnauthorized {
		c.Tokens.Refused(ctx, token)
	}
	return refused
}

// Token returns the token, which is asked for once, or another one in place of the refused one, which may have been
// renewed by another request already.
func (c *Client) Token(ctx context.Context, refused string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil || refused == "" && c.held != "" || refused != c.held:
	case refused == "":
		c.held, c.failed = c.Tokens.Token(ctx)
	default:
		c.held, c.failed = c.Tokens.Renew(ctx, refused)
	}
	return c.held, c.failed
}

// without returns the error of a call that was not made because there is no token.
func (c *Client) without(err error) *explain.CallError {
	var e *explain.CallError
	if !errors.As(err, &e) {
		e = &explain.CallError{Problem: explain.ProblemInternal, Args: []any{c.Provider}, Err: err}
	}
	return &explain.CallError{Outcome: explain.CallFailed, Problem: e.Problem, RetryAfter: e.RetryAfter, Args: e.Args,
		Err: noToken{e.Err}}
}

// noToken marks a call that was not made because there is no token. It is not repeated.
type noToken struct{ error }

func (e noToken) Unwrap() error { return e.error }

func (c *Client) callAs(ctx context.Context, token, method, path string, in, out any) *explain.CallError {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return explain.Fail(explain.ProblemInternal, err, c.Provider)
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.Base+path, body)
	if err != nil {
		return explain.Fail(explain.ProblemInternal, err, c.Provider)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", "application/json")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	client := c.HTTP.Writes
	if method == http.MethodGet {
		client = c.HTTP.Reads
	}
	res, err := client.Do(r)
	if err != nil {
		return Broken(c.Provider, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, outbound.MaxBody+1))
	if res.StatusCode >= 300 {
		return c.refused(res, text)
	}
	switch {
	case err != nil:
		return Broken(c.Provider, err)
	case len(text) > outbound.MaxBody:
		err = fmt.Errorf("the answer is over %d bytes", outbound.MaxBody)
	default:
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemBadAnswer, Args: []any{c.Provider},
			Err: plain(err)}
	}
	return nil
}

// again reports whether a read that failed may work a moment later.
func again(e *explain.CallError) bool {
	passing := []explain.Problem{explain.ProblemRateLimited, explain.ProblemDown, explain.ProblemTimeout,
		explain.ProblemUnreachable, explain.ProblemLost, explain.ProblemBadAnswer}
	return slices.Contains(passing, e.Problem) && !errors.As(e.Err, new(noToken)) &&
		!errors.Is(e.Err, context.Canceled)
}

// maxSaid is how much of a vendor's error message is shown, in characters.
const maxSaid = 200

// Broken returns the error of a call without an answer. Its outcome is Unknown, or Failed if the request was never
// sent.
func Broken(p explain.Provider, err error) *explain.CallError {
	e := &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemLost, Args: []any{p}, Err: plain(err)}
	unsent := errors.As(err, new(*NotSent))
	if unsent {
		e.Outcome, e.Problem = explain.CallFailed, explain.ProblemUnreachable
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		e.Problem = explain.ProblemTimeout
	}
	return e
}

// plain removes quotations from an error: the URL, which contains ids, and a vendor's numbers, which may be private.
func plain(err error) error {
	if u, is := errors.AsType[*url.Error](err); is {
		err = u.Err
	}
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		kind, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Errorf("a %s at byte %d, in place of %s", kind, wrong.Offset, wrong.Type)
	}
	if broken, is := errors.AsType[*json.SyntaxError](err); is {
		return fmt.Errorf("no JSON from byte %d", broken.Offset)
	}
	return err
}

// Refused returns the error of a call that was answered with a status of 300 or more.
func Refused(p explain.Provider, status int, header http.Header, said string) *explain.CallError {
	e := &explain.CallError{
		Outcome: explain.CallFailed, Problem: explain.ProblemRejected,
		Args:       []any{p, strings.TrimSpace(strconv.Itoa(status) + " " + Short(said))},
		RetryAfter: RetryAfter(header, time.Now()), Err: fmt.Errorf("HTTP %d", status),
	}
	switch status {
	case http.StatusUnauthorized:
		e.Problem, e.Args = explain.ProblemUnauthorized, []any{p}
	case http.StatusForbidden:
		e.Problem, e.Args = explain.ProblemForbidden, []any{p}
		if e.RetryAfter > 0 { // freee throttles with 403, and this header says so
			e.Problem = explain.ProblemRateLimited
		}
	case http.StatusNotFound:
		e.Problem, e.Args = explain.ProblemNotFound, []any{p}
	case http.StatusTooManyRequests:
		e.Problem, e.Args = explain.ProblemRateLimited, []any{p}
	}
	if status >= 500 {
		e.Outcome, e.Problem, e.Args = explain.CallUnknown, explain.ProblemDown, []any{p, status}
	}
	return e
}

// RetryAfter returns how long the vendor asks to wait, as outbound.RetryAfter does. If the answer doesn't say and no
// call remains, freee's X-Ratelimit-Reset is the time.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if wait := outbound.RetryAfter(h, now); wait > 0 {
		return wait
	}
	reset, err := time.Parse(time.RFC3339, h.Get("X-Ratelimit-Reset"))
	if err != nil || h.Get("X-Ratelimit-Remaining") != "0" || !reset.After(now) {
		return 0
	}
	return outbound.Wait(reset.Sub(now).Truncate(time.Second).Seconds() + 1)
}

// Short returns a vendor's text on one line, truncated.
func Short(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > maxSaid {
		r = append(r[:maxSaid-1], '…')
	}
	return string(r)
}

// Refusal is the content of an error's body, read from the vendor's own format.
type Refusal struct {
	Said string // the vendor's message
	// Problem is more specific than the status: ProblemUnauthorized, ProblemDenied or ProblemRateLimited; may be empty.
	Problem explain.Problem
}

// refused returns the error for an answer.
func (c *Client) refused(res *http.Response, body []byte) *explain.CallError {
	var r Refusal
	if c.Explain != nil {
		r = c.Explain(res.StatusCode, body)
	}
	e := Refused(c.Provider, res.StatusCode, res.Header, r.Said)
	switch {
	case res.StatusCode < 400 || res.StatusCode >= 500:
	case r.Problem == explain.ProblemDenied:
		e.Problem, e.Args = explain.ProblemDenied, []any{c.Provider, Short(r.Said)}
	case r.Problem != "":
		e.Problem, e.Args = r.Problem, []any{c.Provider}
	}
	return e
}
