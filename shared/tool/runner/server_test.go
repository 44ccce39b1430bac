package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/failedcall"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
)

// staticToken has one token, or an error.
type staticToken struct {
	token string
	err   error
}

func (d staticToken) Token(context.Context, string, string) (string, error) { return d.token, d.err }
func (d staticToken) ServerToken(context.Context, string, tenancy.MCPServer) (string, error) {
	return d.token, d.err
}
func (d staticToken) Renew(context.Context, string, string, string) (string, error) { return "", d.err }
func (d staticToken) Refused(context.Context, string, string, string) error         { return nil }

func TestTheDoorOfAServer(t *testing.T) {
	never := fmt.Errorf("find it: %w", aggregate.ErrNotFound)
	ended := fmt.Errorf("open it: %w", tenancy.ErrNotConnected{Provider: "mcp:rooms", Status: tenancy.Disconnected})
	for name, test := range map[string]struct {
		door    staticToken
		problem failedcall.Problem
		header  string
		asked   bool
	}{
		"with a token":         {staticToken{token: "himitsu"}, failedcall.ProblemUnauthorized, "Bearer himitsu", true},
		"never connected":      {staticToken{err: never}, failedcall.ProblemNotConnected, "", true},
		"for another address":  {staticToken{err: fmt.Errorf("open it: %w", tenancy.ErrNotConnected{Provider: "mcp:rooms", Status: tenancy.Connected, Reason: tenancy.CredentialElsewhere})}, failedcall.ProblemElsewhere, "", false},
		"disconnected":         {staticToken{err: ended}, failedcall.ProblemNotConnected, "", false},
		"that can't be opened": {staticToken{err: errors.New("no key")}, failedcall.ProblemLocked, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				expect.Is(t, r.Header.Get("Authorization"), test.header, "the header")
				w.WriteHeader(http.StatusUnauthorized)
			}))
			t.Cleanup(s.Close)
			catalog := expect.Value(tool.NewCatalog())(t)
			r, err := runner.New(catalog, runner.Config{
				Credentials: test.door, Outbound: outbound.Dialer{Allow: []string{s.Listener.Addr().String()}}.Client(),
				Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			})
			expect.NoError(t, err)
			_, err = r.Run(t.Context(), tool.Call{
				Tenant: "T", Tool: "rooms.book", Arguments: given(`{}`), Locale: "en", Pin: &tenancy.Pin{URL: s.URL, Access: aggregate.Write, Hash: "h"},
			})
			var e *failedcall.Error
			if !errors.As(err, &e) || e.Outcome != failedcall.Failed || e.Problem != test.problem || e.Detail == "" {
				t.Errorf("%+v", e)
			}
			expect.Is(t, asked.Load() > 0, test.asked, "asked (times)")
		})
	}
}
