package signin_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/websession"
)

// said are claims about a person.
func said(user, team string) map[string]string {
	return map[string]string{"https://slack.com/user_id": user, "https://slack.com/team_id": team}
}

// begin goes to Slack, and returns with what Slack would be asked.
func begin(b *consoletest.Browser, path string) url.Values {
	b.World.T.Helper()
	return expect.Value(url.Parse(b.Get(path).To))(b.World.T).Query()
}

// back comes back from Slack, which gives the nonce as the code.
func back(b *consoletest.Browser, q url.Values) consoletest.Answer {
	return b.Get("/console/signin/done?state=" + url.QueryEscape(q.Get("state")) + "&code=" + url.QueryEscape(q.Get("nonce")))
}

func TestSigningIn(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"through Slack, to where one wanted": signsIn, "only as a member of a workspace that is known": onlyMembers,
		"a state counts once, in its browser, for ten minutes": statesAreSingle, "not too often": notTooOften,
		"a cookie is replaced, and forged ones are nobody's": cookiesRotate, "a new cookie may be lost on its way": cookiesGetLost,
		"who comes with a cookie that another took the place of ends both": cookiesAreStolen, "who left is out within minutes": leavers,
		"administrators are asked anew": administrators, "forms carry their session's token": forms,
	})
}

func signsIn(t *testing.T, w *consoletest.World) {
	b := w.Browser()
	if a := b.Get("/console?x=1"); a.Status != http.StatusSeeOther || a.To != "/console/signin?next=%2Fconsole%3Fx%3D1" {
		t.Fatalf("nobody is led to %d %s", a.Status, a.To)
	}
	page := b.Get("/console/signin?next=%2Fconsole%3Fx%3D1")
	if !strings.Contains(page.Body, `href="/console/signin/begin?next=%2Fconsole%3Fx%3D1"`) {
		t.Errorf("the page is %s", page.Body)
	}
	q := begin(b, "/console/signin/begin?next=%2Fconsole%3Fx%3D1")
	if q.Get("redirect_uri") != "https://"+consoletest.Host+"/console/signin/done" {
		t.Errorf("Slack is asked %v", q)
	}
	w.OIDC.Person = said(workspace.Suzuki, slacktest.Team)
	if a := back(b, q); a.To != "/console?x=1" {
		t.Fatalf("%d %s %s", a.Status, a.To, a.Text())
	}
	if a := b.Get("/console"); a.Status != 200 || !strings.Contains(a.Body, "鈴木 一郎") {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	before := w.Browser()
	before.Cookies["__Host-ringi"] = b.Cookies["__Host-ringi"]
	if a := back(b, begin(b, "/console/signin/begin")); a.To != "/console" {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	if a := before.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("who was signed in here before still is: %d", a.Status)
	}
	b.Form = expect.Value(websession.Of(w.Store.Table()).WebSession(t.Context(), b.Cookies["__Host-ringi"], w.Now()))(t).Form
	cookie := b.Cookies["__Host-ringi"]
	if a := b.Post("/console/signout", nil); a.To != "/console/signin" || b.Cookies["__Host-ringi"] != "" {
		t.Errorf("%d %s", a.Status, a.To)
	}
	b.Cookies["__Host-ringi"] = cookie
	if a := b.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("a cookie that was signed out shows %d", a.Status)
	}
	log := consoletest.Logged(t)
	for i, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`} {
		other := w.Browser()
		if a := back(other, begin(other, "/console/signin/begin?next="+url.QueryEscape(next))); a.To != "/console" {
			t.Errorf("%s leads to %s", next, a.To)
		}
		if n := strings.Count(log.String(), "msg=refused"); n != i+1 {
			t.Errorf("%s: %d refusals are logged", next, n)
		}
	}
}

func onlyMembers(t *testing.T, w *consoletest.World) {
	w.Found("T0OTHER", "U0OTHER")
	w.People.Become(workspace.Tanaka, func(u *slackapi.User) error { u.Gone = true; return nil })
	log := consoletest.Logged(t)
	for name, person := range map[string]map[string]string{
		"a guest": said(workspace.Guest, slacktest.Team), "who left": said(workspace.Tanaka, slacktest.Team),
		"of a workspace that nobody knows": said(workspace.Suzuki, "T0NOBODY"), "of another workspace": said(workspace.Suzuki, "T0OTHER"),
		"whom Slack doesn't know": said("U0GHOST", slacktest.Team),
	} {
		b := w.Browser()
		q := begin(b, "/console/signin/begin")
		w.OIDC.Person = person
		if a := back(b, q); a.Status != http.StatusForbidden || b.Cookies["__Host-ringi"] != "" {
			t.Errorf("%s: %d %s", name, a.Status, a.Text())
		}
	}
	if n := strings.Count(log.String(), "msg=refused"); n != 5 {
		t.Errorf("%d refusals are logged: %s", n, log)
	}
}

func statesAreSingle(t *testing.T, w *consoletest.World) {
	w.OIDC.Person = said(workspace.Suzuki, slacktest.Team)
	b := w.Browser()
	q := begin(b, "/console/signin/begin")
	stolen := w.Browser()
	if a := back(stolen, q); a.Status != http.StatusBadRequest {
		t.Errorf("another browser: %d %s", a.Status, a.Text())
	}
	if a := back(b, q); a.Status != http.StatusBadRequest {
		t.Errorf("a state that was tried elsewhere: %d", a.Status)
	}
	q = begin(b, "/console/signin/begin")
	cookie := b.Cookies["__Host-ringi-signin"]
	if a := back(b, q); a.To != "/console" {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	b.Cookies["__Host-ringi-signin"] = cookie
	if a := back(b, q); a.Status != http.StatusBadRequest {
		t.Errorf("a state twice: %d", a.Status)
	}
	q = begin(b, "/console/signin/begin")
	w.Later(websession.SignInLasts + time.Second)
	if a := back(b, q); a.Status != http.StatusBadRequest {
		t.Errorf("too late: %d", a.Status)
	}
	q = begin(b, "/console/signin/begin")
	if a := b.Get("/console/signin/done?error=access_denied&state=" + q.Get("state")); a.Status != http.StatusForbidden {
		t.Errorf("who says no: %d", a.Status)
	}
	q = begin(b, "/console/signin/begin")
	if a := b.Get("/console/signin/done?code=another-nonce&state=" + q.Get("state")); a.Status != http.StatusForbidden {
		t.Errorf("a token of another sign-in: %d", a.Status)
	}
}

func notTooOften(t *testing.T, w *consoletest.World) {
	b := w.Browser()
	for i := range websession.SignInsPerMinute {
		if a := b.Get("/console/signin/begin"); a.Status != http.StatusSeeOther {
			t.Fatalf("sign-in %d: %d", i, a.Status)
		}
	}
	if a := b.Get("/console/signin/begin"); a.Status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", a.Status)
	}
	w.Later(time.Minute)
	if a := b.Get("/console/signin/begin"); a.Status != http.StatusSeeOther {
		t.Errorf("a minute later: %d", a.Status)
	}
}

func cookiesRotate(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
	old := b.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	a := b.Get("/console")
	line := a.Header.Get("Set-Cookie")
	if now := b.Cookies["__Host-ringi"]; now == old || a.Status != 200 {
		t.Fatalf("the cookie stays: %d", a.Status)
	}
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(line, want) {
			t.Errorf("the cookie is %s", line)
		}
	}
	replay := w.Browser()
	replay.Cookies["__Host-ringi"] = old
	if a := replay.Get("/console"); a.Status != 200 {
		t.Errorf("what was under way: %d", a.Status)
	}
	if a := b.Get("/console"); a.Status != 200 {
		t.Errorf("the new one: %d", a.Status)
	}
	w.Later(websession.Grace + time.Second)
	log := consoletest.Logged(t)
	for name, cookie := range map[string]string{"replayed": old, "forged": "AAAA", "a hash": websession.Hash(b.Cookies["__Host-ringi"])} {
		replay.Cookies["__Host-ringi"] = cookie
		if a := replay.Get("/console"); a.Status != http.StatusSeeOther {
			t.Errorf("%s: %d", name, a.Status)
		}
	}
	if n := strings.Count(log.String(), "msg=refused"); n != 3 {
		t.Errorf("%d refusals are logged: %s", n, log)
	}
	w.Later(websession.Lasts)
	if a := b.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("after eight hours: %d", a.Status)
	}
}

func cookiesGetLost(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
	old := b.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	for range 3 { // each answer is lost: the browser keeps what it has
		b.Get("/console")
		b.Cookies["__Host-ringi"] = old
		w.Later(10 * time.Minute)
	}
	if a := b.Get("/console"); a.Status != 200 || b.Cookies["__Host-ringi"] == old {
		t.Fatalf("a person whose browser got no new cookie: %d", a.Status)
	}
	now := b.Cookies["__Host-ringi"]
	if a := b.Get("/console"); a.Status != 200 {
		t.Errorf("with the new one: %d", a.Status)
	}
	replay := w.Browser()
	replay.Cookies["__Host-ringi"] = old
	w.Later(websession.Grace + time.Second)
	if a := replay.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("the old one, since the new one was seen: %d", a.Status)
	}
	w.Later(16 * time.Minute)
	b.Get("/console")
	b.Cookies["__Host-ringi"] = now
	w.Later(websession.Unseen + time.Second)
	if a := b.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("an old one of which nothing was heard for an hour: %d", a.Status)
	}
}

func cookiesAreStolen(t *testing.T, w *consoletest.World) {
	person, thief := w.As(workspace.Suzuki), w.Browser()
	thief.Cookies["__Host-ringi"] = person.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	person.Get("/console") // and looks away
	w.Later(2 * time.Minute)
	if a := thief.Get("/console"); a.Status != 200 {
		t.Fatalf("the new one may not have arrived: %d", a.Status)
	}
	thief.Get("/console")
	w.Later(16 * time.Minute)
	thief.Get("/console")
	if a := person.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("nobody knows who of the two is the person: %d", a.Status)
	}
	if a := thief.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("the thief stays: %d", a.Status)
	}
}

func leavers(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Sato)
	b.Get("/console")
	if w.People.Asked != 0 {
		t.Errorf("Slack is asked at once")
	}
	w.People.Become(workspace.Sato, func(*slackapi.User) error { return errors.New("no answer") })
	w.Later(3 * time.Minute)
	if a := b.Get("/console"); a.Status != 200 {
		t.Errorf("a silent Slack signs out: %d", a.Status)
	}
	w.Later(3 * time.Minute)
	if a := b.Get("/console"); a.Status != http.StatusInternalServerError {
		t.Errorf("it is believed for ever: %d", a.Status)
	}
	w.People.Become(workspace.Sato, func(u *slackapi.User) error { u.Gone = true; return nil })
	if a := b.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("who left sees %d", a.Status)
	}
	w.People.Become(workspace.Sato, func(u *slackapi.User) error { return nil })
	if a := b.Get("/console"); a.Status != http.StatusSeeOther {
		t.Errorf("the session is back: %d", a.Status)
	}
}

// guarded serves one page for administrators and one act, as others are.
func guarded(w *consoletest.World) http.Handler {
	mux := http.NewServeMux()
	saved := func(rw http.ResponseWriter, r *http.Request, _ *web.Viewer) error {
		return w.Console.Done(rw, r, "/console", "saved")
	}
	for _, r := range []web.Route{
		web.ForAdministrators("GET /console/guarded", saved), web.ForAdministrators("POST /console/guarded", saved),
	} {
		mux.HandleFunc(r.Pattern, w.Console.SignedIn(r))
	}
	return mux
}

func administrators(t *testing.T, w *consoletest.World) {
	admin, member := w.As(workspace.Suzuki), w.As(workspace.Sato)
	admin.Over, member.Over = guarded(w), guarded(w)
	log := consoletest.Logged(t)
	if a := member.Get("/console/guarded"); a.Status != http.StatusForbidden || !strings.Contains(log.String(), "for administrators") {
		t.Errorf("a member: %d, %s", a.Status, log)
	}
	if a := member.Post("/console/guarded", nil); a.Status != http.StatusForbidden {
		t.Errorf("a member acts: %d", a.Status)
	}
	if a := admin.Post("/console/guarded", nil); a.To != "/console?done=saved" {
		t.Errorf("an administrator: %d %s", a.Status, a.Text())
	}
	now := expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t)
	now.Admins = []string{workspace.Sato}
	expect.NoError(t, w.Store.SaveTenant(t.Context(), now, w.By, w.Now()))
	if a := admin.Post("/console/guarded", nil); a.Status != http.StatusForbidden {
		t.Errorf("who was one until now: %d", a.Status)
	}
}

func forms(t *testing.T, w *consoletest.World) {
	b, other := w.As(workspace.Suzuki), w.As(workspace.Suzuki)
	b.Over = guarded(w)
	for name, token := range map[string]string{"none": "", "forged": "AAAA", "another session's": other.Form} {
		if a := b.Post("/console/guarded", url.Values{"form": {token}}); a.Status != http.StatusForbidden || !strings.Contains(a.Text(), "このフォームは使えません") {
			t.Errorf("%s: %d %s", name, a.Status, a.Text())
		}
	}
	nobody := w.Browser()
	nobody.Over = b.Over
	if a := nobody.Post("/console/guarded", nil); a.Status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", a.Status)
	}
}

func TestALanguageIsTheBrowsersOrChosen(t *testing.T) {
	w := consoletest.Start(t)
	b := w.Browser()
	for accept, want := range map[string]string{"ja,en;q=0.8": "ja", "en-GB,en;q=0.9,ja;q=0.8": "en", "fr-FR,fr;q=0.9,en;q=0.5": "en", "fr": "ja", "": "ja"} {
		b.Locale = accept
		if a := b.Get("/console/signin"); !strings.Contains(a.Body, `<html lang="`+want+`">`) {
			t.Errorf("%q is not %s", accept, want)
		}
	}
	b.Locale = "ja"
	if a := b.Get("/console/language/en?next=%2Fconsole%2Fsignin"); a.To != "/console/signin" {
		t.Errorf("it leads to %s", a.To)
	}
	if a := b.Get("/console/signin"); !strings.Contains(a.Body, `<html lang="en">`) {
		t.Errorf("the choice is lost")
	}
	if a := b.Get("/console/language/en?next=https://evil.example/"); a.To != "/console" {
		t.Errorf("it leads to %s", a.To)
	}
}

func TestAnAddressOfNothing(t *testing.T) {
	w := consoletest.Start(t)
	if a := w.Browser().Get("/console/nothing"); a.Status != http.StatusNotFound || !strings.Contains(a.Text(), "ページがありません") {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	if a := w.Browser().Get("/console/assets/console.css"); a.Status != 200 || !strings.Contains(a.Body, "prefers-color-scheme: dark") {
		t.Errorf("%d", a.Status)
	}
	if a := w.Browser().Get("/console/assets/..%2Fconsole.js"); a.Status != http.StatusNotFound {
		t.Errorf("%d", a.Status)
	}
}
