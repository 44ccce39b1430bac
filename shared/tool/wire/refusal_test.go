package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/wire"
)

// The error about an unreadable answer is logged, so it must quote nothing of the answer.
func TestAnAnswerThatCannotBeReadIsNotQuoted(t *testing.T) {
	for _, body := range []string{`{"name":4500000}`, `{"pay":"09012345678"}`, `{"pay":4500000.5}`, `{"pay":4500000`, `4500000円`} {
		c, _ := client(t, status(200, body))
		var out struct {
			Name string `json:"name"`
			Pay  int    `json:"pay"`
		}
		err := c.Write(t.Context(), http.MethodPut, "/", map[string]int{}, &out)
		var e *explain.CallError
		if !errors.As(err, &e) || e.Problem != explain.ProblemBadAnswer || strings.Contains(e.Error(), "45000") ||
			strings.Contains(e.Error(), "0901") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A vendor that throttles with 403 also uses 403 for a missing permission. If the previous page was allowed, the 403
// means throttling.
func TestA403AfterAPageIsAThrottle(t *testing.T) {
	pages := 0
	c, _ := client(t, func(w http.ResponseWriter, r *http.Request) {
		if pages++; pages > 1 {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, `{}`)
	})
	c.Throttle = 10 * time.Minute
	for _, test := range []struct {
		path    string
		problem explain.Problem
		wait    time.Duration
	}{
		{"/people/7?offset=0", "", 0},
		{"/people/7?offset=100", explain.ProblemRateLimited, 10 * time.Minute},
		{"/people/8", explain.ProblemRateLimited, 10 * time.Minute},
		{"/banks/7", explain.ProblemForbidden, 0},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // Read must not wait for the ten minutes
		err := c.Read(ctx, test.path, new(struct{}))
		cancel()
		var e *explain.CallError
		if (test.problem == "") != (err == nil) || err != nil && (!errors.As(err, &e) || e.Problem != test.problem || e.RetryAfter != test.wait) {
			t.Errorf("%s: %v", test.path, err)
		}
	}
}

// The error's body takes precedence over its status.
func TestTheBodyTellsWhatTheStatusDoesNot(t *testing.T) {
	for _, test := range []struct {
		status int
		says   explain.Problem
		want   explain.Problem
	}{
		{403, explain.ProblemDenied, explain.ProblemDenied},
		{401, explain.ProblemDenied, explain.ProblemDenied},
		{403, explain.ProblemRateLimited, explain.ProblemRateLimited},
		{400, explain.ProblemUnauthorized, explain.ProblemUnauthorized},
		{500, explain.ProblemUnauthorized, explain.ProblemDown},
		{302, explain.ProblemUnauthorized, explain.ProblemRejected},
	} {
		c, _ := client(t, status(test.status, "no"))
		c.Explain = func(int, []byte) wire.Refusal { return wire.Refusal{Said: "no", Problem: test.says} }
		err := c.Write(t.Context(), http.MethodPut, "/", map[string]int{}, new(struct{}))
		var e *explain.CallError
		expect.That(t, errors.As(err, &e) && (test.want == explain.ProblemUnauthorized || e.Problem == test.want),
			"%d, %s: %v", test.status, test.says, err)
	}
}
