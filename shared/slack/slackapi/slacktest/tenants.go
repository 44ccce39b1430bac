package slacktest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// ByTenant returns a client whose tokens are named after the tenants of its calls. The second result returns the calls
// as "<method> <tenant>"; the tenant is empty for the deployment's own bot.
func (s *Slack) ByTenant(t testing.TB) (*slackapi.Client, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := expect.Value(io.ReadAll(r.Body))(t)
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if form, err := url.ParseQuery(string(body)); err == nil && form.Has("token") {
			token = form.Get("token")
			form.Set("token", "xoxb-test")
			body = []byte(form.Encode())
		}
		mu.Lock()
		calls = append(calls, path.Base(r.URL.Path)+" "+strings.TrimPrefix(token, "for-"))
		mu.Unlock()
		on := expect.Value(http.NewRequestWithContext(r.Context(), r.Method, s.URL+path.Base(r.URL.Path)+"?"+r.URL.RawQuery,
			bytes.NewReader(body)))(t)
		on.Header = r.Header.Clone()
		on.Header.Set("Authorization", "Bearer xoxb-test")
		res := expect.Value(http.DefaultClient.Do(on))(t)
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(server.Close)
	return slackapi.With(named{server.URL + "/api/"}, time.Minute), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, calls...)
	}
}

// named gives tokens that are named after their tenant.
type named struct{ address string }

func (n named) Bot(ctx context.Context) (token, address string, err error) {
	return "for-" + slackapi.Tenant(ctx), n.address, nil
}

func (named) Refused(context.Context) bool { return false }
