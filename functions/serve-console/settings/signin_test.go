package settings_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// said returns the claims about a person.
func said(user, team string) map[string]string {
	return map[string]string{"https://slack.com/user_id": user, "https://slack.com/team_id": team}
}

// begin starts a sign-in and returns what Slack is asked.
func begin(b *consoletest.Browser, path string) url.Values {
	b.World.T.Helper()
	return expect.Value(url.Parse(b.Get(path).To))(b.World.T).Query()
}

// back returns from Slack, which uses the nonce as the code.
func back(b *consoletest.Browser, q url.Values) consoletest.Answer {
	return b.Get("/console/signin/done?state=" + url.QueryEscape(q.Get("state")) + "&code=" +
		url.QueryEscape(q.Get("nonce")))
}

func TestSigningIn(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"through Slack, to where one wanted": signsIn, "only as a member of a workspace that is known": onlyMembers,
		"a state counts once, in its browser": statesAreSingle, "not too often": notTooOften,
		"forged cookies are nobody's, and each is over after eight hours": cookies,
		"who signs out does so in all browsers, also for a copied cookie": signsOut,
		"who left is out within minutes":                                  leavers,
	})
}

func signsIn(t *testing.T, w *consoletest.World) {
	b := w.Browser()
	b.Get("/console?x=1").Says(t, http.StatusSeeOther).Leads(t, "/console/signin?next=%2Fconsole%3Fx%3D1")
	b.Get("/console/signin?next=%2Fconsole%3Fx%3D1").Holds(t, `href="/console/signin/begin?next=%2Fconsole%3Fx%3D1"`)
	q := begin(b, "/console/signin/begin?next=%2Fconsole%3Fx%3D1")
	expect.That(t, q.Get("redirect_uri") == "https://"+consoletest.Host+"/console/signin/done", "Slack is asked %v", q)
	w.OIDC.Person = said(webapi.Suzuki, ringitest.Team)
	back(b, q).Leads(t, "/console?x=1")
	b.Get("/console").Says(t, 200).Holds(t, "鈴木 一郎")
	log := consoletest.Logged(t)
	for i, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`} {
		other := w.Browser()
		back(other, begin(other, "/console/signin/begin?next="+url.QueryEscape(next))).Leads(t, "/console")
		expect.Is(t, strings.Count(log.String(), "msg=refused"), i+1, "%s: refusals are logged", next)
	}
}

func onlyMembers(t *testing.T, w *consoletest.World) {
	w.Found("T0OTHER", "U0OTHER")
	w.People.Become(webapi.Tanaka, func(u *slackapi.User) error { u.Gone = true; return nil })
	log := consoletest.Logged(t)
	for n, person := range []map[string]string{
		said(webapi.Guest, ringitest.Team), said(webapi.Tanaka, ringitest.Team), // who left
		said(webapi.Suzuki, "T0NOBODY"), said(webapi.Suzuki, "T0OTHER"), said("U0GHOST", ringitest.Team),
	} {
		b := w.Browser()
		q := begin(b, "/console/signin/begin")
		w.OIDC.Person = person
		back(b, q).Says(t, http.StatusForbidden)
		expect.That(t, b.Cookies["__Host-ringi"] == "", "%v is signed in", person)
		expect.Is(t, strings.Count(log.String(), "msg=refused"), n+1, "refusals are logged")
	}
}

func statesAreSingle(t *testing.T, w *consoletest.World) {
	w.OIDC.Person = said(webapi.Suzuki, ringitest.Team)
	b := w.Browser()
	q := begin(b, "/console/signin/begin")
	stolen := w.Browser()
	back(stolen, q).Says(t, http.StatusBadRequest) // another browser
	back(b, q).Says(t, http.StatusBadRequest)      // after another browser
	q = begin(b, "/console/signin/begin")
	cookie := b.Cookies["__Host-ringi-consent"]
	back(b, q).Leads(t, "/console")
	b.Cookies["__Host-ringi-consent"] = cookie
	back(b, q).Says(t, http.StatusBadRequest) // a state twice
	q = begin(b, "/console/signin/begin")
	b.Get("/console/signin/done?error=access_denied&state="+q.Get("state")).Says(t, http.StatusForbidden) // who says no
	q = begin(b, "/console/signin/begin")
	b.Get("/console/signin/done?code=another-nonce&state="+q.Get("state")).Says(t, http.StatusForbidden)
}

func notTooOften(t *testing.T, w *consoletest.World) {
	b := w.Browser()
	for range store.SignInsPerMinute {
		b.Get("/console/signin/begin").Says(t, http.StatusSeeOther)
	}
	b.Get("/console/signin/begin").Says(t, http.StatusTooManyRequests) // one more
	w.Later(time.Minute)
	b.Get("/console/signin/begin").Says(t, http.StatusSeeOther) // a minute later
}

func cookies(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	own := b.Cookies["__Host-ringi"]
	w.Later(3 * time.Minute)
	line := b.Get("/console").Says(t, 200).Header.Get("Set-Cookie") // as Slack was asked
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} {
		expect.That(t, strings.Contains(line, want), "the cookie is %s", line)
	}
	says, signed, _ := strings.Cut(own, ".")
	others, _, _ := strings.Cut(w.As(webapi.Sato).Cookies["__Host-ringi"], ".")
	log := consoletest.Logged(t)
	forged := []string{"AAAA", "AAAA.AAAA", says, says + ".", "." + signed, others + "." + signed,
		expect.Value(store.NewSession(w.Tenant.ID, w.Tenant.TeamID, webapi.Suzuki, "", w.Now()).Signed("another"))(t)}
	for _, cookie := range forged {
		b.Cookies["__Host-ringi"] = cookie
		expect.Is(t, b.Get("/console").Status, http.StatusSeeOther, cookie)
		expect.Is(t, b.Post("/console/signout", nil).Status, http.StatusUnauthorized, cookie)
	}
	n := strings.Count(log.String(), "msg=refused")
	expect.That(t, n == 2*len(forged), "%d refusals are logged: %s", n, log)
	b.Cookies["__Host-ringi"] = own
	w.Later(store.SessionLasts - 4*time.Minute)
	b.Get("/console").Says(t, 200)
	w.Later(time.Minute)
	b.Get("/console").Says(t, http.StatusSeeOther) // after eight hours, however often it was renewed
}

// signsOut: also a copied cookie is over, and the request that signs out leaves none behind, though it may renew it.
func signsOut(t *testing.T, w *consoletest.World) {
	b, other, thief, colleague := w.As(webapi.Suzuki), w.As(webapi.Suzuki), w.Browser(), w.As(webapi.Sato)
	w.Later(16 * time.Minute)
	thief.Cookies["__Host-ringi"] = b.Cookies["__Host-ringi"]
	a := b.Post("/console/signout", nil).Leads(t, "/console/signin")
	expect.That(t, b.Cookies["__Host-ringi"] == "", "the cookie stays")
	for _, line := range a.Header.Values("Set-Cookie") {
		if c, err := http.ParseSetCookie(line); err == nil && c.Value != "" {
			left := w.Browser()
			left.Cookies["__Host-ringi"] = c.Value
			left.Get("/console/audit").Says(t, http.StatusSeeOther)
		}
	}
	thief.Post("/console/stand-ins", nil).Says(t, http.StatusUnauthorized) // changes nothing from now on
	w.Later(2 * time.Minute)
	for _, ended := range []*consoletest.Browser{thief, other} {
		ended.Get("/console").Says(t, http.StatusSeeOther)
	}
	colleague.Get("/console").Says(t, 200)
	w.As(webapi.Suzuki).Get("/console").Says(t, 200) // who signs in again
}

func leavers(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Sato)
	b.Get("/console/calls")
	expect.That(t, w.People.Asked == 0, "Slack is asked at once")
	w.People.Become(webapi.Sato, func(*slackapi.User) error { return errors.New("no answer") })
	w.Later(3 * time.Minute)
	b.Get("/console/calls").Says(t, 200) // a silent Slack signs nobody out
	w.Later(3 * time.Minute)
	b.Get("/console/calls").Says(t, http.StatusInternalServerError) // nor is it believed for ever
	w.People.Become(webapi.Sato, func(u *slackapi.User) error { u.Gone = true; return nil })
	b.Get("/console/calls").Says(t, http.StatusSeeOther) // who left
	w.People.Become(webapi.Sato, func(u *slackapi.User) error { return nil })
	b.Get("/console/calls").Says(t, http.StatusSeeOther) // the session is not back
}

func TestALanguageIsTheBrowsersOrChosen(t *testing.T) {
	w := consoletest.Start(t)
	b := w.Browser()
	for accept, want := range map[string]string{"ja,en;q=0.8": "ja", "en-GB,en;q=0.9,ja;q=0.8": "en",
		"fr-FR,fr;q=0.9,en;q=0.5": "en", "fr": "ja", "": "ja"} {
		b.Locale = accept
		expect.That(t, strings.Contains(b.Get("/console/signin").Body, `<html lang="`+want+`">`),
			"%q is not %s", accept, want)
	}
	b.In("ja").Get("/console/language/en?next=%2Fconsole%2Fsignin").Leads(t, "/console/signin")
	expect.That(t, strings.Contains(b.Get("/console/signin").Body, `<html lang="en">`), "the choice is lost")
	b.Get("/console/language/en?next=https://evil.example/").Leads(t, "/console")
}

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
	server := expect.Server(t, w.slack)
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

// A state counts where it began, for its purpose and its browser; Slack may say no, fail, or know the code.
func TestInstallationsThatAreRefused(t *testing.T) {
	w := newInstalling(t)
	w.slack.of("T0EVIL", "x", "U0EVIL", "xoxb-evil", false)
	one, admin := w.Browser(), w.As(webapi.Suzuki)
	const done, signed = "/console/slack/installed?", "/console/signin/done?code=x&"
	w.returns(w.Browser(), w.begins(one)).Says(t, http.StatusBadRequest)
	w.returns(one, begin(one, "/console/signin/begin")).Says(t, http.StatusBadRequest)
	one.Get(signed+"state="+w.begins(one).Get("state")).Says(t, http.StatusBadRequest)
	w.register(admin, "freee")
	w.returns(admin, expect.Value(url.Parse(w.begin(admin, "freee")))(t).Query()).Says(t, http.StatusBadRequest)
	admin.Get("/console/integrations/return?code=x&state="+w.begins(admin).Get("state")).Says(t, http.StatusBadRequest)
	one.Get(done+"error=access_denied&state="+w.begins(one).Get("state")).Says(t, http.StatusForbidden)
	w.slack.codes[strings.Repeat("c", w.codes+1)] = true // is used
	w.returns(one, w.begins(one)).Says(t, http.StatusBadGateway)
	w.slack.status = http.StatusInternalServerError
	w.returns(one, w.begins(one)).Says(t, http.StatusBadGateway)
	expect.That(t, expect.Err(w.Store.Tenant(t.Context(), aggregate.TenantID("T0EVIL"))) != nil, "a tenant was made")
}

// Disconnecting Slack revokes the bot's token.
func TestDisconnectingSlack(t *testing.T) {
	w := newInstalling(t)
	b := w.As(webapi.Suzuki)
	b.Get("/console/integrations").Holds(t, "すべてが止まり")
	b.Post("/console/integrations/disconnect", url.Values{"provider": {"slack"}}).Leads(t,
		"/console/integrations?done=disconnected")
	expect.Same(t, w.slack.revoked, []string{"xoxb-first"})
	expect.Is(t, w.row("slack").Status, tenancy.Disconnected)
	b.Get("/console/integrations").Holds(t, `href="/slack/install"`) // the way back
}

// The deployment's own workspace before its first request is entered by the administrator whom the secret names, after
// whom its members may; by nobody without a name there, and by nobody of another workspace.
func TestTheFirstAdministratorEntersBeforeAnybodyAsked(t *testing.T) {
	const fresh = "T0FRESH"
	w, owner := consoletest.Start(t), aggregate.TenantID("T0FRESH")
	w.Own.Team = "T0ANOTHER"
	for _, id := range []string{webapi.Suzuki, webapi.Sato, webapi.Guest} {
		w.People.Become(id, func(u *slackapi.User) error { u.Team = fresh; return nil })
	}
	enters := func(user string) (*consoletest.Browser, consoletest.Answer) {
		b := w.Browser()
		q := begin(b, "/console/signin/begin")
		w.OIDC.Person = said(user, fresh)
		w.OIDC.Person["https://slack.com/team_name"] = "新しい会社"
		return b, back(b, q)
	}
	refused := func(user string, status int, key string) {
		t.Helper()
		_, a := enters(user)
		a.Says(t, status, web.TextsOf("fault", "ja").In("title", key))
		expect.That(t, expect.Err(w.Store.Tenant(t.Context(), owner)) != nil, "the workspace is known")
	}
	log := consoletest.Logged(t)
	refused(webapi.Suzuki, http.StatusForbidden, "other_workspace")
	expect.Has(t, log.String(), "msg=refused")
	w.Own.Team = fresh
	for _, w.Own.Admin = range []string{"", "suzuki@example.com"} {
		refused(webapi.Suzuki, http.StatusServiceUnavailable, "no_admin")
	}
	w.Own.Admin = webapi.Suzuki
	refused(webapi.Guest, http.StatusForbidden, "not_of_us")
	b, _ := enters(webapi.Sato)
	b.Get("/console/settings/admins").Says(t, http.StatusForbidden) // a colleague
	b, a := enters(webapi.Suzuki)
	a.Leads(t, "/console")
	b.Get("/console/settings/admins").Says(t, 200)
	b.Get("/console").Says(t, 200).Holds(t, `href="/console/settings"`) // to who may approve their own requests
	is := expect.Value(w.Store.Tenant(t.Context(), owner))(t)
	expect.That(t, is.Name == "新しい会社" && len(is.Admins) == 1 && is.Admins[0] == webapi.Suzuki, "the workspace is %+v", is)
}
