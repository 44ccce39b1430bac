// Package wire makes the HTTP calls of tools. For every call that failed it reports whether the call can have had an
// effect.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
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
	// Throttle is how long the vendor refuses calls with 403 after too many in a short time; 0: it does not.
	Throttle time.Duration

	mayRead sync.Map // endpoints that could be read
}

// Tokens are the credentials of one tenant for one vendor. Errors are *failedcall.Error with the outcome Failed,
// because without a token nothing is called.
type Tokens interface {
	Token(ctx context.Context) (string, error)
	// Renew returns a new token in place of the refused one.
	Renew(ctx context.Context, refused string) (string, error)
	// Refused records that a token was refused although it had just been renewed.
	Refused(ctx context.Context, token string)
}

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
// while ctx allows. Its errors are *failedcall.Error with the outcome Failed.
func (c *Client) Read(ctx context.Context, path string, out any) error {
	for attempt := 1; ; attempt++ {
		attemptCtx, cancel := context.WithTimeout(ctx, attemptWithin)
		err := c.call(attemptCtx, http.MethodGet, path, nil, out)
		cancel()
		if err == nil {
			return nil
		}
		err.Outcome = explain.CallFailed
		if attempt == maxAttempts || !again(err) || !clock.LastsFor(ctx, backoff(attempt, err.RetryAfter)) {
			return err
		}
	}
}

// Write makes a call that changes something, once. Its errors are *failedcall.Error: Failed if nothing changed, or
// Unknown.
func (c *Client) Write(ctx context.Context, method, path string, in, out any) error {
	if err := c.call(ctx, method, path, in, out); err != nil {
		return err
	}
	return nil
}

// call makes a call with the tenant's token. If the vendor refuses the token, call tries once more with a new one,
// because a call without a valid token has no effect. It returns a nil *failedcall.Error only if out is filled.
func (c *Client) call(ctx context.Context, method, path string, in, out any) *explain.CallError {
	token, err := c.Tokens.Token(ctx)
	if err != nil {
		return c.without(err)
	}
	refused := c.callAs(ctx, token, method, path, in, out)
	if refused == nil || refused.Problem != explain.ProblemUnauthorized {
		return refused
	}
	if token, err = c.Tokens.Renew(ctx, token); err != nil {
		return c.without(err)
	}
	refused = c.callAs(ctx, token, method, path, in, out)
	if refused != nil && refused.Problem == explain.ProblemUnauthorized {
		c.Tokens.Refused(ctx, token)
	}
	return refused
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
		return c.refused(res, path, text)
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
	if method == http.MethodGet {
		c.allow(path)
	}
	return nil
}

// again reports whether a read that failed may work a moment later.
func again(e *explain.CallError) bool {
	if errors.As(e.Err, new(noToken)) {
		return false
	}
	switch e.Problem {
	case explain.ProblemRateLimited, explain.ProblemDown, explain.ProblemTimeout, explain.ProblemUnreachable,
		explain.ProblemLost, explain.ProblemBadAnswer:
		return !errors.Is(e.Err, context.Canceled)
	}
	return false
}
