package wire

import (
	"net/http"
	"strings"

	"ringi/shared/explain/failedcall"
)

// Refusal is what the body of a refusal says in a vendor's own form.
type Refusal struct {
	Said string // the vendor's words, for people
	// Problem is what the body tells that the status doesn't: ProblemUnauthorized,
	// ProblemDenied or ProblemRateLimited; empty where it tells no more.
	Problem failedcall.Problem
}

// refused makes the error of an answer. A vendor that throttles with 403 gives the same status for
// a missing permission: if the same endpoint was allowed before, the 403 counts as throttling.
func (c *Client) refused(res *http.Response, path string, body []byte) *failedcall.Error {
	var r Refusal
	if c.Explain != nil {
		r = c.Explain(res.StatusCode, body)
	}
	e := Refused(c.Provider, res.StatusCode, res.Header, r.Said)
	switch {
	case res.StatusCode < 400 || res.StatusCode >= 500:
	case r.Problem == failedcall.ProblemDenied:
		e.Problem, e.Args = failedcall.ProblemDenied, []any{c.Provider, Short(r.Said)}
	case r.Problem != "":
		e.Problem, e.Args = r.Problem, []any{c.Provider}
	case e.Problem == failedcall.ProblemForbidden && c.Throttle > 0 && c.allowed(path):
		e.Problem, e.RetryAfter = failedcall.ProblemRateLimited, c.Throttle
	}
	return e
}

// allow records that the endpoint of a path was read: a later 403 there is throttling.
func (c *Client) allow(path string) { c.mayRead.Store(endpoint(path), true) }

func (c *Client) allowed(path string) bool {
	_, ok := c.mayRead.Load(endpoint(path))
	return ok
}

// endpoint is a path without what differs from page to page: its query and its numbers.
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
