package ringitest

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// Slack is a workspace with its Web API and a client.
type Slack struct {
	*webapi.Workspace
	Faults webapi.Faults
	Client *slackapi.Client
	URL    string           // of the Web API, with a slash at the end
	Now    func() time.Time // clock of the rate limits

	mu    sync.Mutex
	calls []webapi.Call
}

// BotToken is the token of the workspace's bot.
const BotToken = "xoxb-test"

// StartSlack starts a workspace that ends with the test.
func StartSlack(t testing.TB) *Slack {
	t.Helper()
	s := &Slack{Now: time.Now,
		Workspace: webapi.NewWorkspace(webapi.Config{TeamID: Team, AppID: "A0RINGI", Now: time.Now})}
	server := expect.Server(t, s.api(func(token string) string {
		switch token {
		case BotToken:
			return ""
		case "":
			return "not_authed"
		}
		return "invalid_auth"
	}))
	server.Config.SetKeepAlivesEnabled(false) // no connection outlives a call in a bubble of testing/synctest
	s.URL = server.URL + "/api/"
	s.Client = slackapi.With(Keys{Token: BotToken, Address: s.URL}, time.Minute)
	return s
}

// api is the workspace's Web API, which takes the tokens that check takes.
func (s *Slack) api(check func(token string) string) http.Handler {
	return &webapi.API{
		Workspace: s.Workspace, Check: check, Faults: &s.Faults, Now: func() time.Time { return s.Now() },
		Logger: slog.New(slog.DiscardHandler), Self: "https://ringi-sandbox.slack.com", Heard: s.hear,
	}
}

func (s *Slack) hear(c webapi.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// Calls returns the methods that were called since the last call of Calls, or only the requested ones of them.
func (s *Slack) Calls(of ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.calls {
		if len(of) == 0 || slices.Contains(of, c.Method) {
			out = append(out, c.Method)
		}
	}
	s.calls = nil
	return out
}

// Say posts a person's message and returns its timestamp.
func (s *Slack) Say(t testing.TB, user, channel, text string) string {
	t.Helper()
	m := expect.Value(s.Post(webapi.Message{Channel: channel, User: user, Text: text}))(t)
	return m.TS
}

// Thread returns the bot's messages in a thread, in order.
func (s *Slack) Thread(t testing.TB, channel, ts string) []webapi.Message {
	t.Helper()
	all := expect.Value(s.Replies(channel, ts, webapi.Range{}))(t)
	return slices.DeleteFunc(all, func(m webapi.Message) bool { return m.User != webapi.Bot })
}

// Keys are constant secrets of Slack's: the signing secret, and a bot's token with the address of its Web API.
type Keys struct{ Secret, App, Token, Address string }

// SigningSecret returns the signing secret.
func (k Keys) SigningSecret(context.Context) (string, error) { return k.Secret, nil }

// AppID returns the app's id.
func (k Keys) AppID() string { return k.App }

// Bot returns the bot's token and the Web API's address.
func (k Keys) Bot(context.Context) (token, address string, err error) { return k.Token, k.Address, nil }

// Refused reports that there is no newer token.
func (Keys) Refused(context.Context) bool { return false }

// ByTenant returns a client whose tokens are named after the tenants of its calls. only checks that a method was called
// for a tenant, and that nothing else was called than for it, but for auth.test by the deployment's own bot.
func (s *Slack) ByTenant(t testing.TB) (client *slackapi.Client, only func(tenant, method string)) {
	t.Helper()
	var mu sync.Mutex
	var calls []string
	api := s.api(func(string) string { return "" })
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := cmp.Or(r.FormValue("token"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		mu.Lock()
		calls = append(calls, path.Base(r.URL.Path)+" "+strings.TrimPrefix(token, "for-"))
		mu.Unlock()
		api.ServeHTTP(w, r)
	}))
	return slackapi.With(named{server.URL + "/api/"}, time.Minute), func(tenant, method string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		expect.That(t, slices.Contains(calls, method+" "+tenant), "%s was not called for %s: %q", method, tenant, calls)
		for _, c := range calls {
			expect.That(t, strings.HasSuffix(c, " "+tenant) || c == "auth.test ", "called %q, for %s", c, tenant)
		}
	}
}

// named gives tokens that are named after their tenant.
type named struct{ address string }

func (n named) Bot(ctx context.Context) (token, address string, err error) {
	return "for-" + slackapi.Tenant(ctx), n.address, nil
}

func (named) Refused(context.Context) bool { return false }

// Workspace is a Slack in which everybody is a full member of one workspace, whose user groups have these people.
type Workspace struct {
	ID    string
	Group []string
}

func (w Workspace) User(_ context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: w.ID}, nil
}

func (Workspace) Members(context.Context, string, int) ([]string, bool, error) { return nil, true, nil }

func (w Workspace) UsergroupMembers(context.Context, string) ([]string, error) { return w.Group, nil }

func (Workspace) UserByMail(context.Context, string) (slackapi.User, error) {
	return slackapi.User{}, slackapi.Refused{Code: slackapi.CodeNobody}
}

func (Workspace) Usergroups(context.Context) ([]slackapi.Group, error) { return nil, nil }
