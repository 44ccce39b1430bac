package vault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/slackapi"
)

var first, second = aggregate.TenantID("T0FIRST"), aggregate.TenantID("T0SECOND")

// workspaces are a Slack with bots of several workspaces, and the places where their tokens are stored.
type workspaces struct {
	mu    sync.Mutex
	teams map[string]string // by token
	calls []string          // method and token
	down  bool

	secret string            // the deployment's token
	rows   map[string]string // tenants' own
	reads  []string          // tenants whose row was read
	now    time.Time
	*slackapi.Client
}

func (w *workspaces) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	method, token := strings.TrimPrefix(r.URL.Path, "/api/"), r.FormValue("token")
	if token == "" {
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	w.calls = append(w.calls, method+" "+token)
	out.Header().Set("Content-Type", "application/json")
	switch team, ok := w.teams[token]; {
	case w.down && method == "auth.test":
		out.WriteHeader(http.StatusServiceUnavailable)
	case !ok:
		fmt.Fprint(out, `{"ok":false,"error":"invalid_auth"}`)
	case method == "auth.test":
		fmt.Fprintf(out, `{"ok":true,"team_id":%q}`, team)
	default:
		fmt.Fprintf(out, `{"ok":true,"user":{"id":"U1","team_id":%q}}`, team)
	}
}

type deployments struct {
	*workspaces
	address string
}

func (d deployments) Bot(context.Context) (string, string, error) {
	if d.secret == "" {
		return "", d.address, secret.ErrMissing
	}
	return d.secret, d.address, nil
}
func (d deployments) Refused(context.Context) bool { return false }

func start(t *testing.T) *workspaces {
	w := &workspaces{teams: map[string]string{"xoxb-1": "T0FIRST", "xoxb-2": "T0SECOND"}, secret: "xoxb-1",
		rows: map[string]string{second: "xoxb-2"}, now: time.Now()}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	keys := &vault.BotKeys{Deployment: deployments{w, server.URL + "/api/"}, Now: func() time.Time { return w.now },
		Sealed: func(_ context.Context, tenant string) (string, error) {
			w.reads = append(w.reads, tenant)
			if token, ok := w.rows[tenant]; ok {
				return token, nil
			}
			return "", tenancy.ErrNotConnected{Provider: tenancy.SlackProvider, Status: tenancy.Disconnected}
		}}
	w.Client = slackapi.With(keys, time.Minute)
	keys.Own = slackapi.HomeWorkspace{Slack: w.Client}.Own
	return w
}

// ask calls Slack for a tenant, and returns which calls were made with which token.
func (w *workspaces) ask(t *testing.T, tenant string) ([]string, error) {
	t.Helper()
	w.calls = nil
	_, err := w.Client.User(slackapi.For(t.Context(), tenant), "U1")
	return w.calls, err
}

func (w *workspaces) called(t *testing.T, tenant string, want ...string) {
	t.Helper()
	got, err := w.ask(t, tenant)
	expect.That(t, err == nil && slices.Equal(got, want), "called %q, %v; want %q", got, err, want)
}

func TestEachWorkspaceIsCalledWithItsOwnToken(t *testing.T) {
	w := start(t)
	w.called(t, first, "auth.test xoxb-1", "users.info xoxb-1")
	w.called(t, second, "users.info xoxb-2")
	w.called(t, first, "users.info xoxb-1")
	w.called(t, second, "users.info xoxb-2")
	w.called(t, "", "users.info xoxb-1")
	expect.That(t, slices.Equal(w.reads, []string{second}),
		"rows were read of %q: one workspace's calls need none, and another's one a minute", w.reads)
	expect.Is(t, expect.Value(w.Team(slackapi.For(t.Context(), second)))(t), "T0SECOND")
	if own, err := (slackapi.HomeWorkspace{Slack: w}).Own(slackapi.For(t.Context(), second), second); own || err != nil {
		t.Errorf("asked under another workspace's context, it says that one is the deployment's own: %v", err)
	}
}

func TestAWorkspaceWithoutATokenIsNeverCalledWithAnothers(t *testing.T) {
	w := start(t)
	stranger := aggregate.TenantID("T0STRANGER")
	for range 2 {
		calls, err := w.ask(t, stranger)
		expect.That(t, slackapi.Code(err) == slackapi.CodeNoToken &&
			!slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "users.info") }), "%q, %v", calls, err)
	}
	w.called(t, second, "users.info xoxb-2")
	delete(w.rows, second) // disconnected; the cached token serves for a minute
	w.now = w.now.Add(time.Minute)
	calls, err := w.ask(t, second)
	expect.That(t, len(calls) == 0 && slackapi.Code(err) == slackapi.CodeNoToken, "%q, %v", calls, err)
}

func TestATokenThatWasReplacedIsReadOnceMore(t *testing.T) {
	w := start(t)
	w.called(t, second, "auth.test xoxb-1", "users.info xoxb-2")
	w.teams = map[string]string{"xoxb-1": "T0FIRST", "xoxb-3": "T0SECOND"}
	w.rows[second] = "xoxb-3"
	w.now = w.now.Add(10 * time.Second)
	w.called(t, second, "users.info xoxb-2", "users.info xoxb-3")
	delete(w.teams, "xoxb-3")
	w.now = w.now.Add(10 * time.Second)
	w.reads = nil
	for range 3 { // there is no new token: each call is made once, and the row is read once in five seconds
		calls, err := w.ask(t, second)
		expect.That(t, slackapi.Code(err) == "invalid_auth" && len(calls) == 1, "%q, %v", calls, err)
	}
	expect.Is(t, len(w.reads), 1, "the row was read (times)")
}

// While Slack doesn't say which workspace the deployment's token belongs to, workspaces with their own token use that.
// Other calls are not made and can be retried.
func TestWhoseTheTokenIsMayNotBeKnown(t *testing.T) {
	w := start(t)
	w.down = true
	w.called(t, second, "auth.test xoxb-1", "users.info xoxb-2")
	calls, err := w.ask(t, first)
	var refused slackapi.Refused
	expect.That(t, errors.As(err, &refused) && !refused.App && !refused.Permanent && len(calls) == 1, "%q, %v", calls, err)
	w.down = false
	w.called(t, first, "auth.test xoxb-1", "users.info xoxb-1")
	delete(w.teams, "xoxb-1") // our own workspace removed the app, and installed it again from the console
	w2 := start(t)
	w2.teams, w2.rows[first] = map[string]string{"xoxb-4": "T0FIRST"}, "xoxb-4"
	w2.called(t, first, "auth.test xoxb-1", "users.info xoxb-4")
	w2.secret = ""
	w2.called(t, first, "users.info xoxb-4")
}
