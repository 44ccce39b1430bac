package consoletest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"ringi/functions/serve-console/settings"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/github"
)

// GitHub stands in for GitHub, with the repository acme/shop.
type GitHub struct {
	*vendors.GitHubServer
	Disconnected bool
	Down         atomic.Bool
	Asked        atomic.Int32
}

// newGitHub starts GitHub, and returns it with the console's connection, as if each workspace had connected the App.
func newGitHub(t *testing.T) (*GitHub, settings.GitHub) {
	t.Helper()
	g := &GitHub{GitHubServer: expect.Value(vendors.NewGitHub())(t)}
	files := map[string]vendors.File{"main.py": {Content: "print(1)\n"}}
	g.Add("acme", "shop").Commit("main", "first", files, time.Unix(0, 0))
	g.Fault = func(_ string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc) {
		g.Asked.Add(1)
		if g.Down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		do(w, r)
	}
	s := httptest.NewServer(g.Handler())
	t.Cleanup(s.Close)
	return g, settings.GitHub{Config: github.At(s.URL), App: func(context.Context, string) (github.App, error) {
		if g.Disconnected {
			return github.App{}, aggregate.ErrNotFound
		}
		return github.NewApp(vendors.AppID, vendors.Installation, g.Key())
	}}
}
