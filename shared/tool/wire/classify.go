package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ringi/shared/explain"
	"ringi/shared/runtime/outbound"
)

// maxSaid is how much of a vendor's error message is shown, in characters.
const maxSaid = 200

// Broken returns the error of a call without an answer. Its outcome is Unknown, or Failed if the request was never
// sent.
func Broken(p explain.Provider, err error) *explain.CallError {
	e := &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemLost, Args: []any{p}, Err: plain(err)}
	var notSent *NotSent
	unsent := errors.As(err, &notSent)
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
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		kind, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Errorf("a %s at byte %d, in place of %s", kind, wrong.Offset, wrong.Type)
	}
	var broken *json.SyntaxError
	if errors.As(err, &broken) {
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

// backoff returns the wait before the next attempt: the time that the vendor asks for, or else half a second, doubled
// at each attempt. Up to half of the latter is added at random, so that clients don't retry at the same time.
func backoff(attempt int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	d := 500 * time.Millisecond << (attempt - 1)
	return d + rand.N(d/2)
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

// refused returns the error for an answer. A vendor that throttles with 403 uses the same status for a missing
// permission. If an earlier read of the same endpoint was allowed, the 403 counts as throttling.
func (c *Client) refused(res *http.Response, path string, body []byte) *explain.CallError {
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
	case e.Problem == explain.ProblemForbidden && c.Throttle > 0 && c.allowed(path):
		e.Problem, e.RetryAfter = explain.ProblemRateLimited, c.Throttle
	}
	return e
}

// allow records that the endpoint of a path could be read, so that a later 403 counts as throttling.
func (c *Client) allow(path string) { c.mayRead.Store(endpoint(path), true) }

func (c *Client) allowed(path string) bool {
	_, ok := c.mayRead.Load(endpoint(path))
	return ok
}

// endpoint removes from a path the query and the numbers, which differ from page to page.
func endpoint(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if p != "" && strings.Trim(p, "0123456789") == "" {
			parts[i] = "#"
		}
	}
	return strings.Join(parts, "/")
}
