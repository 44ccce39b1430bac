package wire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/tool"
	"ringi/shared/tool/wire"
)

// token is one that nobody renews.
type token string

func (t token) Token(context.Context) (string, error) { return string(t), nil }

func (t token) Renew(context.Context, string) (string, error) {
	return "", &tool.Error{Problem: tool.ProblemUnauthorized}
}

// client calls a server that counts its requests.
func client(t *testing.T, do http.HandlerFunc) (*wire.Client, *atomic.Int32) {
	t.Helper()
	calls := new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		do(w, r)
	}))
	t.Cleanup(s.Close)
	return &wire.Client{Provider: tool.Google, Base: s.URL, Tokens: token("sesame-himitsu"), HTTP: wire.NewHTTP(), Explain: func(b []byte) string { return string(b) }}, calls
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func cut(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"a":`)
}

func TestWhatAFailedWriteMayHaveDone(t *testing.T) {
	for name, test := range map[string]struct {
		do      http.HandlerFunc
		outcome tool.Outcome
		problem tool.Problem
	}{
		"400":                {status(400, "bad"), tool.Failed, tool.ProblemRejected},
		"401":                {status(401, ""), tool.Failed, tool.ProblemUnauthorized},
		"403":                {status(403, ""), tool.Failed, tool.ProblemForbidden},
		"404":                {status(404, ""), tool.Failed, tool.ProblemNotFound},
		"409":                {status(409, ""), tool.Failed, tool.ProblemRejected},
		"429":                {status(429, ""), tool.Failed, tool.ProblemRateLimited},
		"302":                {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, tool.Failed, tool.ProblemRejected},
		"500":                {status(500, ""), tool.Unknown, tool.ProblemDown},
		"503":                {status(503, ""), tool.Unknown, tool.ProblemDown},
		"the connection cut": {cut, tool.Unknown, tool.ProblemLost},
		"half an answer":     {half, tool.Unknown, tool.ProblemLost},
		"an answer in HTML":  {status(200, "<html>"), tool.Unknown, tool.ProblemBadAnswer},
		"no answer in time":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, tool.Unknown, tool.ProblemTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			c, calls := client(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server does not see the client go
				test.do(w, r)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := c.Write(ctx, http.MethodPut, "/x?secret=id", map[string]int{"a": 1}, new(struct{}))
			var e *tool.Error
			if !errors.As(err, &e) || e.Outcome != test.outcome || e.Problem != test.problem {
				t.Fatalf("%v, want %s %s", err, test.outcome, test.problem)
			}
			if calls.Load() != 1 {
				t.Errorf("called %d times", calls.Load())
			}
			if s := err.Error(); strings.Contains(s, "himitsu") || strings.Contains(s, "secret=") {
				t.Errorf("the error says too much: %s", s)
			}
		})
	}
}

func TestAWriteThatNeverLeftHasFailed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	for name, base := range map[string]string{"refused": closed, "no TLS": strings.Replace(plainServer(t), "http:", "https:", 1)} {
		t.Run(name, func(t *testing.T) {
			c := &wire.Client{Provider: tool.Google, Base: base, Tokens: token("x"), HTTP: wire.NewHTTP()}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			err := c.Write(ctx, http.MethodPost, "/", map[string]int{}, new(struct{}))
			var e *tool.Error
			if !errors.As(err, &e) || e.Outcome != tool.Failed {
				t.Errorf("%v", err)
			}
		})
	}
}

func plainServer(t *testing.T) string {
	s := httptest.NewServer(status(200, "{}"))
	t.Cleanup(s.Close)
	return s.URL
}

func TestReadsTryAgainWhenThatHelps(t *testing.T) {
	for name, test := range map[string]struct {
		do    http.HandlerFunc
		calls int32
	}{
		"500":              {status(500, ""), 3},
		"cut":              {cut, 3},
		"HTML":             {status(200, "<html>"), 3},
		"403 is ambiguous": {status(403, ""), 1},
		"401":              {status(401, ""), 1},
		"404":              {status(404, ""), 1},
		"429 with a wait that does not fit": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, calls := client(t, test.do)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var e *tool.Error
			if err := c.Read(ctx, "/", new(struct{})); !errors.As(err, &e) || e.Outcome != tool.Failed {
				t.Errorf("%v", err)
			}
			if calls.Load() != test.calls {
				t.Errorf("%d calls, want %d", calls.Load(), test.calls)
			}
		})
	}
}

func TestAReadWaitsAsLongAsAsked(t *testing.T) {
	var calls atomic.Int32
	c, _ := client(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			return
		}
		_, _ = io.WriteString(w, `{"a":7}`)
	})
	var out struct{ A int }
	began := time.Now()
	if err := c.Read(t.Context(), "/", &out); err != nil || out.A != 7 {
		t.Fatal(out, err)
	}
	if d := time.Since(began); d < time.Second {
		t.Errorf("waited %s", d)
	}
}
