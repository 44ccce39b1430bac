package integrations_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// slackInstalls plays Slack's part of an installation.
type slackInstalls struct {
	mu      sync.Mutex
	answer  map[string]any // of oauth.v2.access
	status  int
	revoked []string
	codes   map[string]bool // that were used
}

func (s *slackInstalls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.answer
	switch {
	case r.URL.Path == "/api/auth.revoke":
		s.revoked = append(s.revoked, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+r.PostFormValue("token"))
		answer = map[string]any{"ok": true, "revoked": true}
	case s.status != 0:
		w.WriteHeader(s.status)
		return
	case r.PostFormValue("client_id") != "1.2" || r.PostFormValue("client_secret") != "s" ||
		!strings.HasSuffix(r.PostFormValue("redirect_uri"), "/console/slack/installed"):
		answer = map[string]any{"ok": false, "error": "bad_client_secret"}
	case s.codes[r.PostFormValue("code")]:
		answer = map[string]any{"ok": false, "error": "invalid_code"}
	}
	s.codes[r.PostFormValue("code")] = true
	json.NewEncoder(w).Encode(answer)
}

// of sets Slack's answer to an installation.
func (s *slackInstalls) of(team, name, user, token string, organization bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = map[string]any{
		"ok": true, "access_token": token, "token_type": "bot", "scope": "chat:write", "bot_user_id": "U0BOT",
		"app_id": "A0RINGI",
		"team": map[string]any{"id": team,
			"name": name}, "authed_user": map[string]any{"id": user}, "is_enterprise_install": organization,
	}
	if organization {
		s.answer["team"], s.answer["enterprise"] = nil, map[string]any{"id": "E1", "name": name}
	}
}

// installing has Slack's part of an installation, and the person who begins it.
type installing struct {
	*connecting
	slack *slackInstalls
	codes int // that Slack gave so far
}

func newInstalling(t *testing.T) *installing {
	w := &installing{connecting: newConnecting(t, storetest.Start(t)), slack: &slackInstalls{codes: map[string]bool{}}}
	server := httptest.NewServer(w.slack)
	t.Cleanup(server.Close)
	w.OIDC.API = server.URL + "/api/"
	return w
}

// begins returns what Slack is asked when b begins.
func (w *installing) begins(b *consoletest.Browser) url.Values {
	w.T.Helper()
	return expect.Value(url.Parse(b.Get("/slack/install").To))(w.T).Query()
}

// returns redirects b back from Slack with a code.
func (w *installing) returns(b *consoletest.Browser, q url.Values) consoletest.Answer {
	w.codes++
	return b.Get("/console/slack/installed?" + url.Values{"code": {strings.Repeat("c", w.codes)},
		"state": {q.Get("state")}}.Encode())
}

// holding returns a team's tenant. It fails the test unless the saved token is the one wanted.
func (w *installing) holding(team, want string) tenancy.Tenant {
	w.T.Helper()
	token, err := w.Console.Connect.Vault.Bot(w.T.Context(), aggregate.TenantID(team))
	expect.That(w.T, err == nil && token == want, "%s: %q, %v", team, token, err)
	owner, _ := w.Store.Tenant(w.T.Context(), aggregate.TenantID(team))
	return owner
}

// If an administrator disconnected Slack, nobody else can connect it again by installing the app; if Slack ended it,
// anyone can.
func TestOnlyAnAdministratorUndoesADisconnect(t *testing.T) {
	w := newInstalling(t)
	w.Own.Team = "T0SECOND"
	w.Found("T0SECOND", "U0SECOND")
	installs := func(user, token string) consoletest.Answer {
		w.slack.of("T0SECOND", "二号店", user, token, false)
		b := w.Browser()
		return w.returns(b, w.begins(b))
	}
	installs("U0SECOND", "xoxb-second")
	owner := w.holding("T0SECOND", "xoxb-second")
	w.Of(owner, "U0SECOND").Post("/console/integrations/disconnect", url.Values{"provider": {"slack"}})
	installs("U0ELSE", "xoxb-else").Says(t, http.StatusForbidden, "管理者だけ")
	expect.That(t, slices.Contains(w.slack.revoked, "xoxb-else"), "%+v", w.slack.revoked)
	row := expect.Value(w.Store.Integration(t.Context(), owner.ID, tenancy.SlackProvider))(t)
	expect.That(t, row.Status == tenancy.Disconnected, "it is %s again", row.Status)
	installs("U0SECOND", "xoxb-again")
	w.holding("T0SECOND", "xoxb-again")
	expect.Value(w.Store.EndIntegrations(t.Context(), owner.ID, tenancy.AppUninstalled, w.Console.Now().Add(time.Minute),
		w.Console.Now()))(t)
	installs("U0ELSE", "xoxb-third")
	w.holding("T0SECOND", "xoxb-third")
}

// The app is installed in the deployment's own workspace, by anybody, who doesn't become an administrator; in no other.
func TestInstallingInTheOwnWorkspace(t *testing.T) {
	w := newInstalling(t)
	q := w.begins(w.Browser())
	expect.That(t, strings.Contains(q.Get("scope"), "chat:write,") &&
		q.Get("redirect_uri") == "https://"+consoletest.Host+"/console/slack/installed" &&
		q.Get("client_id") == "1.2", "Slack is asked %v", q)
	w.Found("T0OWN")
	installs := func(team, token string, organization bool) consoletest.Answer {
		w.slack.of(team, `本店 <script>alert(1)</script>`, "U0ANYBODY", token, organization)
		b := w.Browser()
		return w.returns(b, w.begins(b))
	}
	for _, team := range []string{"T0OWN", "T0BARE"} {
		w.Own.Team = team
		installs(team, "xoxb-own", false).Says(t, 200).Lacks(t, "<script>alert", "xoxb")
		owner := w.holding(team, "xoxb-own")
		expect.That(t, len(owner.Admins) == 0, "%s is administered by %v", team, owner.Admins)
	}
	installs("T0SECOND", "xoxb-other", false).Says(t, http.StatusForbidden, "許可されていません")
	installs("", "xoxb-org", true).Says(t, http.StatusConflict, "Enterprise Grid")
	for _, token := range []string{"xoxb-other", "xoxb-org"} {
		expect.That(t, slices.Contains(w.slack.revoked, token), "%+v", w.slack.revoked)
	}
	_, err := w.Store.Tenant(t.Context(), aggregate.TenantID("T0SECOND"))
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "it is a tenant: %v", err)
}

func TestInstallationsThatAreRefused(t *testing.T) {
	w := newInstalling(t)
	w.slack.of("T0EVIL", "x", "U0EVIL", "xoxb-evil", false)
	refused := func(what string, a consoletest.Answer, status int) {
		t.Helper()
		a.Says(t, status)
	}
	one := w.Browser()
	q := w.begins(one)
	refused("another browser", w.returns(w.Browser(), q), http.StatusBadRequest)
	refused("the state of a sign-in", w.returns(one, begin(one, "/console/signin/begin")), http.StatusBadRequest)
	q = w.begins(one)
	refused("where people sign in", one.Get("/console/signin/done?code=x&state="+q.Get("state")), http.StatusBadRequest)
	admin := w.As(webapi.Suzuki)
	w.register(admin, "freee")
	of := expect.Value(url.Parse(w.begin(admin, "freee")))(t).Query()
	refused("the state of another vendor", w.returns(admin, of), http.StatusBadRequest)
	q = w.begins(admin)
	refused("the state of an installation", admin.Get("/console/integrations/return?code=x&state="+q.Get("state")),
		http.StatusBadRequest)
	q = w.begins(one)
	refused("denied", one.Get("/console/slack/installed?error=access_denied&state="+q.Get("state")), http.StatusForbidden)
	w.slack.codes[strings.Repeat("c", w.codes+1)] = true
	refused("a code twice", w.returns(one, w.begins(one)), http.StatusBadGateway)
	w.slack.status = http.StatusInternalServerError
	refused("Slack fails", w.returns(one, w.begins(one)), http.StatusBadGateway)
	expect.That(t, expect.Err(w.Store.Tenant(t.Context(), aggregate.TenantID("T0EVIL"))) != nil, "a tenant was made")
}

// Disconnecting Slack revokes the bot's token.
func TestDisconnectingSlack(t *testing.T) {
	w := newConnecting(t, storetest.Start(t))
	slack := &slackInstalls{codes: map[string]bool{}}
	server := httptest.NewServer(slack)
	t.Cleanup(server.Close)
	w.OIDC.API = server.URL + "/api/"
	b := w.As(webapi.Suzuki)
	b.Get("/console/integrations").Holds(t, "すべてが止まり")
	b.Post("/console/integrations/disconnect", url.Values{"provider": {"slack"}}).Leads(t,
		"/console/integrations?done=disconnected")
	expect.That(t, slices.Equal(slack.revoked, []string{"xoxb-first"}), "revoked %v", slack.revoked)
	expect.Is(t, w.row("slack").Status, tenancy.Disconnected)
	expect.That(t, strings.Contains(b.Get("/console/integrations").Body, `href="/slack/install"`), "there is no way back")
}

// fresh is the deployment's own workspace before its first request.
const fresh = "T0FRESH"

func TestTheFirstAdministratorEntersBeforeAnybodyAsked(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *consoletest.World){
		"whom the secret names, and decides first who approves their own requests": firstAdministrator,
		"after a colleague who is none":                                            colleagueFirst,
		"not without a name in the secret":                                         nobodyNamed,
		"and nobody of another workspace does":                                     strangersFirst,
	} {
		t.Run(name, func(t *testing.T) {
			w := consoletest.New(t, db)
			w.Own.Team, w.Own.Admin = fresh, webapi.Suzuki
			for _, id := range []string{webapi.Suzuki, webapi.Sato, webapi.Guest} {
				w.People.Become(id, func(u *slackapi.User) error { u.Team = fresh; return nil })
			}
			run(t, w)
		})
	}
}

// enters signs a person in and returns the page that they get.
func enters(w *consoletest.World, user, team string) (*consoletest.Browser, consoletest.Answer) {
	b := w.Browser()
	q := begin(b, "/console/signin/begin")
	w.OIDC.Person = said(user, team)
	w.OIDC.Person["https://slack.com/team_name"] = "新しい会社"
	return b, back(b, q)
}

func firstAdministrator(t *testing.T, w *consoletest.World) {
	b, a := enters(w, webapi.Suzuki, fresh)
	a.Leads(t, "/console")
	// which leads to who may approve their own requests
	b.Get("/console").Says(t, 200).Holds(t, `href="/console/settings"`)
	is := expect.Value(w.Store.Tenant(t.Context(), aggregate.TenantID(fresh)))(t)
	expect.That(t, is.Name == "新しい会社" && len(is.Admins) == 1 && is.Admins[0] == webapi.Suzuki, "the workspace is %+v", is)
}

func colleagueFirst(t *testing.T, w *consoletest.World) {
	_, a := enters(w, webapi.Guest, fresh)
	a.Says(t, http.StatusForbidden) // a guest
	_, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh))
	expect.That(t, err != nil, "a guest makes the workspace known")
	b, _ := enters(w, webapi.Sato, fresh)
	b.Get("/console/settings/admins").Says(t, http.StatusForbidden) // a colleague
	b, _ = enters(w, webapi.Suzuki, fresh)
	b.Get("/console/settings/admins").Says(t, 200) // the administrator
}

func nobodyNamed(t *testing.T, w *consoletest.World) {
	for _, admin := range []string{"", "suzuki@example.com"} {
		w.Own.Admin = admin
		_, a := enters(w, webapi.Suzuki, fresh)
		a.Says(t, http.StatusServiceUnavailable, web.TextsOf("fault", "ja").In("title", "no_admin"))
	}
	_, err := w.Store.Tenant(t.Context(), aggregate.TenantID(fresh))
	expect.That(t, err != nil, "a workspace that nobody administers is known")
}

func strangersFirst(t *testing.T, w *consoletest.World) {
	w.Own.Team = "T0ANOTHER"
	log := consoletest.Logged(t)
	_, a := enters(w, webapi.Suzuki, fresh)
	expect.That(t, a.Status == http.StatusForbidden && strings.Contains(log.String(), "msg=refused"), "%v", a)
	expect.That(t, expect.Err(w.Store.Tenant(t.Context(), aggregate.TenantID(fresh))) != nil, "the workspace is known")
}
