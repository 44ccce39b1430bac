package runner_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/wire"
)

// answering returns a client of a server that counts its requests.
func answering(t *testing.T, do http.HandlerFunc) (*wire.Client, *atomic.Int32) {
	t.Helper()
	calls := new(atomic.Int32)
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		do(w, r)
	}))
	s.Config.SetKeepAlivesEnabled(false) // no connection outlives a call in a bubble of testing/synctest
	return &wire.Client{Provider: explain.Google, Base: s.URL, Tokens: token("sesame-himitsu"), HTTP: wire.NewHTTP(),
		Explain: func(_ int, b []byte) wire.Refusal {
			r := wire.Refusal{Said: string(b)}
			if problem := explain.Problem(b); slices.Contains([]explain.Problem{explain.ProblemDenied,
				explain.ProblemRateLimited, explain.ProblemUnauthorized}, problem) {
				r.Problem = problem
			}
			return r
		}}, calls
}

// failure returns the error of a call that failed.
func failure(t *testing.T, err error) *explain.CallError {
	t.Helper()
	e, is := errors.AsType[*explain.CallError](err)
	expect.Must(t, is, "%v", err)
	return e
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

// What an error's body says takes precedence over its status.
func TestWhatAFailedWriteMayHaveDone(t *testing.T) {
	for name, test := range map[string]struct {
		do      http.HandlerFunc
		outcome explain.CallOutcome
		problem explain.Problem
	}{
		"403 that denies":    {status(403, "denied"), explain.CallFailed, explain.ProblemDenied},
		"401 that denies":    {status(401, "denied"), explain.CallFailed, explain.ProblemDenied},
		"403 for the rate":   {status(403, "rate_limited"), explain.CallFailed, explain.ProblemRateLimited},
		"400 for the token":  {status(400, "unauthorized"), explain.CallFailed, explain.ProblemUnauthorized},
		"500 of any content": {status(500, "unauthorized"), explain.CallUnknown, explain.ProblemDown},
		"302 of any content": {status(302, "unauthorized"), explain.CallFailed, explain.ProblemRejected},
		"400":                {status(400, "bad"), explain.CallFailed, explain.ProblemRejected},
		"401":                {status(401, ""), explain.CallFailed, explain.ProblemUnauthorized},
		"403":                {status(403, ""), explain.CallFailed, explain.ProblemForbidden},
		"404":                {status(404, ""), explain.CallFailed, explain.ProblemNotFound},
		"409":                {status(409, ""), explain.CallFailed, explain.ProblemRejected},
		"429":                {status(429, ""), explain.CallFailed, explain.ProblemRateLimited},
		"302": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}, explain.CallFailed, explain.ProblemRejected},
		"500":                {status(500, ""), explain.CallUnknown, explain.ProblemDown},
		"503":                {status(503, ""), explain.CallUnknown, explain.ProblemDown},
		"the connection cut": {cut, explain.CallUnknown, explain.ProblemLost},
		"half an answer":     {half, explain.CallUnknown, explain.ProblemLost},
		"an answer in HTML":  {status(200, "<html>"), explain.CallUnknown, explain.ProblemBadAnswer},
		"no answer in time": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, explain.CallUnknown,
			explain.ProblemTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			c, calls := answering(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client is gone
				test.do(w, r)
			})
			within := time.Minute
			if test.problem == explain.ProblemTimeout {
				within = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			e := failure(t, c.Write(ctx, http.MethodPut, "/x?secret=id", map[string]int{"a": 1}, new(struct{})))
			expect.That(t, e.Outcome == test.outcome && e.Problem == test.problem, "%v, want %s %s", e, test.outcome,
				test.problem)
			expect.Is(t, calls.Load(), 1, "called (times)")
			s := e.Error()
			expect.That(t, !strings.Contains(s, "himitsu") && !strings.Contains(s, "secret="), "the error says too much: %s", s)
		})
	}
}

func TestAWriteThatNeverLeftHasFailed(t *testing.T) {
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed := "http://" + l.Addr().String()
	l.Close()
	c, _ := answering(t, status(200, "{}"))
	for name, base := range map[string]string{"refused": closed, "no TLS": strings.Replace(c.Base, "http:", "https:", 1)} {
		c.Base = base
		e := failure(t, c.Write(t.Context(), http.MethodPost, "/", map[string]int{}, new(struct{})))
		expect.Is(t, e.Outcome, explain.CallFailed, name)
	}
}

func TestReadsTryAgainWhenThatHelps(t *testing.T) {
	for name, test := range map[string]struct {
		do    http.HandlerFunc
		calls int32
	}{
		"500":              {status(500, ""), 3},
		"429":              {status(429, ""), 3},
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
			c, calls := answering(t, test.do)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				expect.Is(t, failure(t, c.Read(ctx, "/", new(struct{}))).Outcome, explain.CallFailed)
			})
			expect.Is(t, calls.Load(), test.calls, "calls")
		})
	}
}

func TestAReadWaitsAsLongAsAsked(t *testing.T) {
	first := true
	c, _ := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		if first {
			first = false
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
		}
		_, _ = io.WriteString(w, `{"a":7}`)
	})
	var out struct{ A int }
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		expect.NoError(t, c.Read(t.Context(), "/", &out))
		expect.That(t, out.A == 7 && time.Since(began) == time.Second, "%v, waited %s", out, time.Since(began))
	})
}

// renewableTokens returns its tokens one after another.
type renewableTokens struct {
	left           []string
	asked          int
	renewed, ended string // with these in place of others
	err            error  // error of the first renewal
}

func (p *renewableTokens) Token(context.Context) (string, error) {
	p.asked++
	return p.left[0], nil
}

func (p *renewableTokens) Renew(_ context.Context, refused string) (string, error) {
	p.renewed += refused
	if p.err != nil || len(p.left) == 1 {
		return "", cmp.Or[error](p.err, &explain.CallError{Problem: explain.ProblemUnauthorized})
	}
	p.left = p.left[1:]
	return p.left[0], nil
}

// token is one that can't be renewed.
func token(text string) wire.Tokens { return &renewableTokens{left: []string{text}} }

func (p *renewableTokens) Refused(_ context.Context, token string) { p.ended += token }

func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		good    string // the token that is accepted
		err     error  // error of the renewal
		calls   int32
		renewed string
		problem explain.Problem // empty: success; unauthorized: the second token is refused, too
	}{
		"the first works":  {"one", nil, 1, "", ""},
		"the second works": {"two", nil, 2, "one", ""},
		"none works":       {"never", nil, 2, "one", explain.ProblemUnauthorized},
		"there is no other": {"two", &explain.CallError{Outcome: explain.CallUnknown,
			Problem: explain.ProblemTokenLost}, 1, "one", explain.ProblemTokenLost},
		"it is not to be had now": {"two", &explain.CallError{Outcome: explain.CallFailed, Problem: explain.ProblemDown}, 1,
			"one", explain.ProblemDown},
		"nobody knows why not": {"two", errors.New("sesame-himitsu"), 1, "one", explain.ProblemInternal},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			t.Run(name+" "+method, func(t *testing.T) {
				c, calls := answering(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					expect.That(t, r.Method != http.MethodPut || string(body) == `{"a":1}`, "sent %q", body)
					if r.Header.Get("Authorization") != "Bearer "+test.good {
						w.WriteHeader(401)
						return
					}
					_, _ = io.WriteString(w, "{}")
				})
				p := &renewableTokens{left: []string{"one", "two", "three"}, err: test.err}
				c.Tokens = p
				var err error
				if method == http.MethodGet {
					err = c.Read(t.Context(), "/", new(struct{}))
				} else {
					err = c.Write(t.Context(), method, "/", map[string]int{"a": 1}, new(struct{}))
				}
				var e *explain.CallError
				expect.That(t, (test.problem == "") == (err == nil) &&
					(err == nil || errors.As(err, &e) && e.Problem == test.problem && e.Outcome == explain.CallFailed),
					"%v, want %q", err, test.problem)
				expect.Is(t, p.ended == "two", test.problem == explain.ProblemUnauthorized, p.ended)
				expect.That(t, calls.Load() == test.calls && p.renewed == test.renewed && p.asked == 1,
					"%d calls, renewed %v, asked %d times", calls.Load(), p.renewed, p.asked)
			})
		}
	}
}

func TestRateHeaders(t *testing.T) {
	now := time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC)
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	const remaining, reset = "X-Ratelimit-Remaining", "X-Ratelimit-Reset"
	for name, test := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"none":            {header(), 0},
		"Retry-After":     {header("Retry-After", "7"), 7 * time.Second},
		"nothing remains": {header(remaining, "0", reset, "2026-04-20T09:10:00Z"), 10*time.Minute + time.Second},
		"nothing remains in Japan": {header(remaining, "0", reset, "2026-04-20T18:10:00+09:00"),
			10*time.Minute + time.Second},
		"some remain":           {header(remaining, "3", reset, "2026-04-20T09:10:00Z"), 0},
		"Retry-After is nearer": {header("Retry-After", "7", remaining, "0", reset, "2026-04-20T09:10:00Z"), 7 * time.Second},
	} {
		expect.Is(t, wire.RetryAfter(test.header, now), test.want, "%s", name)
	}
	throttled := header(remaining, "0", reset, time.Now().Add(10*time.Minute).Format(time.RFC3339))
	e := wire.Refused(explain.Freee, 403, throttled, "")
	expect.That(t, e.Problem == explain.ProblemRateLimited && e.RetryAfter >= 9*time.Minute,
		"a throttle's 403: %v after %s", e, e.RetryAfter)
	e = wire.Refused(explain.Freee, 403, header(remaining, "9000"), "")
	expect.That(t, e.Problem == explain.ProblemForbidden, "an ambiguous 403: %v", e)
}

// The error about an unreadable answer is logged, so it must quote nothing of the answer.
func TestAnAnswerThatCannotBeReadIsNotQuoted(t *testing.T) {
	for _, body := range []string{`{"name":4500000}`, `{"pay":"09012345678"}`, `{"pay":4500000.5}`, `{"pay":4500000`,
		`4500000円`} {
		c, _ := answering(t, status(200, body))
		var out struct {
			Name string `json:"name"`
			Pay  int    `json:"pay"`
		}
		e := failure(t, c.Write(t.Context(), http.MethodPut, "/", map[string]int{}, &out))
		expect.That(t, e.Problem == explain.ProblemBadAnswer && !strings.Contains(e.Error(), "45000") &&
			!strings.Contains(e.Error(), "0901"), "%s: %v", body, e)
	}
}
