package main

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
	"ringi/shared/store/websession"
)

// said are claims about a person.
func said(user, team string) map[string]string {
	return map[string]string{"https://slack.com/user_id": user, "https://slack.com/team_id": team}
}

// begin goes to Slack, and returns with what Slack would be asked.
func (b *browser) begin(path string) url.Values {
	b.w.T.Helper()
	return expect.Value(url.Parse(b.get(path).to))(b.w.T).Query()
}

// back comes back from Slack, which gives the nonce as the code.
func (b *browser) back(q url.Values) answer {
	return b.get("/console/signin/done?state=" + url.QueryEscape(q.Get("state")) + "&code=" + url.QueryEscape(q.Get("nonce")))
}

func TestSigningIn(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"through Slack, to where one wanted": signsIn, "only as a member of a workspace that is known": onlyMembers,
		"a state counts once, in its browser, for ten minutes": statesAreSingle, "not too often": notTooOften,
		"a cookie is replaced, and forged ones are nobody's": cookiesRotate, "a new cookie may be lost on its way": cookiesGetLost,
		"who comes with a cookie that another took the place of ends both": cookiesAreStolen, "who left is out within minutes": leavers,
		"administrators are asked anew": administrators, "forms carry their session's token": forms,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

func signsIn(t *testing.T, w *world) {
	b := w.browser()
	if a := b.get("/console?x=1"); a.status != http.StatusSeeOther || a.to != "/console/signin?next=%2Fconsole%3Fx%3D1" {
		t.Fatalf("nobody is led to %d %s", a.status, a.to)
	}
	page := b.get("/console/signin?next=%2Fconsole%3Fx%3D1")
	if !strings.Contains(page.body, `href="/console/signin/begin?next=%2Fconsole%3Fx%3D1"`) {
		t.Errorf("the page is %s", page.body)
	}
	q := b.begin("/console/signin/begin?next=%2Fconsole%3Fx%3D1")
	if q.Get("redirect_uri") != "https://"+host+"/console/signin/done" {
		t.Errorf("Slack is asked %v", q)
	}
	w.oidc.person = said(workspace.Suzuki, slacktest.Team)
	if a := b.back(q); a.to != "/console?x=1" {
		t.Fatalf("%d %s %s", a.status, a.to, a.text())
	}
	if a := b.get("/console"); a.status != 200 || !strings.Contains(a.body, "鈴木 一郎") {
		t.Errorf("%d %s", a.status, a.text())
	}
	before := w.browser()
	before.cookies["__Host-ringi"] = b.cookies["__Host-ringi"]
	if a := b.back(b.begin("/console/signin/begin")); a.to != "/console" {
		t.Fatalf("%d %s", a.status, a.text())
	}
	if a := before.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("who was signed in here before still is: %d", a.status)
	}
	b.form = expect.Value(websession.Of(w.Store.Table()).WebSession(t.Context(), b.cookies["__Host-ringi"], w.Now()))(t).Form
	cookie := b.cookies["__Host-ringi"]
	if a := b.post("/console/signout", nil); a.to != "/console/signin" || b.cookies["__Host-ringi"] != "" {
		t.Errorf("%d %s", a.status, a.to)
	}
	b.cookies["__Host-ringi"] = cookie
	if a := b.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("a cookie that was signed out shows %d", a.status)
	}
	log := logged(t)
	for i, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`} {
		other := w.browser()
		if a := other.back(other.begin("/console/signin/begin?next=" + url.QueryEscape(next))); a.to != "/console" {
			t.Errorf("%s leads to %s", next, a.to)
		}
		if n := strings.Count(log.String(), "msg=refused"); n != i+1 {
			t.Errorf("%s: %d refusals are logged", next, n)
		}
	}
}

func onlyMembers(t *testing.T, w *world) {
	w.found("T0OTHER", "U0OTHER")
	w.people.become(workspace.Tanaka, func(u *slackapi.User) error { u.Gone = true; return nil })
	log := logged(t)
	for name, person := range map[string]map[string]string{
		"a guest": said(workspace.Guest, slacktest.Team), "who left": said(workspace.Tanaka, slacktest.Team),
		"of a workspace that nobody knows": said(workspace.Suzuki, "T0NOBODY"), "of another workspace": said(workspace.Suzuki, "T0OTHER"),
		"whom Slack doesn't know": said("U0GHOST", slacktest.Team),
	} {
		b := w.browser()
		q := b.begin("/console/signin/begin")
		w.oidc.person = person
		if a := b.back(q); a.status != http.StatusForbidden || b.cookies["__Host-ringi"] != "" {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
	}
	if n := strings.Count(log.String(), "msg=refused"); n != 5 {
		t.Errorf("%d refusals are logged: %s", n, log)
	}
}

func statesAreSingle(t *testing.T, w *world) {
	w.oidc.person = said(workspace.Suzuki, slacktest.Team)
	b := w.browser()
	q := b.begin("/console/signin/begin")
	stolen := w.browser()
	if a := stolen.back(q); a.status != http.StatusBadRequest {
		t.Errorf("another browser: %d %s", a.status, a.text())
	}
	if a := b.back(q); a.status != http.StatusBadRequest {
		t.Errorf("a state that was tried elsewhere: %d", a.status)
	}
	q = b.begin("/console/signin/begin")
	cookie := b.cookies["__Host-ringi-signin"]
	if a := b.back(q); a.to != "/console" {
		t.Errorf("%d %s", a.status, a.text())
	}
	b.cookies["__Host-ringi-signin"] = cookie
	if a := b.back(q); a.status != http.StatusBadRequest {
		t.Errorf("a state twice: %d", a.status)
	}
	q = b.begin("/console/signin/begin")
	w.Later(websession.SignInLasts + time.Second)
	if a := b.back(q); a.status != http.StatusBadRequest {
		t.Errorf("too late: %d", a.status)
	}
	q = b.begin("/console/signin/begin")
	if a := b.get("/console/signin/done?error=access_denied&state=" + q.Get("state")); a.status != http.StatusForbidden {
		t.Errorf("who says no: %d", a.status)
	}
	q = b.begin("/console/signin/begin")
	if a := b.get("/console/signin/done?code=another-nonce&state=" + q.Get("state")); a.status != http.StatusForbidden {
		t.Errorf("a token of another sign-in: %d", a.status)
	}
}

func notTooOften(t *testing.T, w *world) {
	b := w.browser()
	for i := range websession.SignInsPerMinute {
		if a := b.get("/console/signin/begin"); a.status != http.StatusSeeOther {
			t.Fatalf("sign-in %d: %d", i, a.status)
		}
	}
	if a := b.get("/console/signin/begin"); a.status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", a.status)
	}
	w.Later(time.Minute)
	if a := b.get("/console/signin/begin"); a.status != http.StatusSeeOther {
		t.Errorf("a minute later: %d", a.status)
	}
}

func cookiesRotate(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	old := b.cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	a := b.get("/console")
	line := a.header.Get("Set-Cookie")
	if now := b.cookies["__Host-ringi"]; now == old || a.status != 200 {
		t.Fatalf("the cookie stays: %d", a.status)
	}
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(line, want) {
			t.Errorf("the cookie is %s", line)
		}
	}
	replay := w.browser()
	replay.cookies["__Host-ringi"] = old
	if a := replay.get("/console"); a.status != 200 {
		t.Errorf("what was under way: %d", a.status)
	}
	if a := b.get("/console"); a.status != 200 {
		t.Errorf("the new one: %d", a.status)
	}
	w.Later(websession.Grace + time.Second)
	log := logged(t)
	for name, cookie := range map[string]string{"replayed": old, "forged": "AAAA", "a hash": websession.Hash(b.cookies["__Host-ringi"])} {
		replay.cookies["__Host-ringi"] = cookie
		if a := replay.get("/console"); a.status != http.StatusSeeOther {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if n := strings.Count(log.String(), "msg=refused"); n != 3 {
		t.Errorf("%d refusals are logged: %s", n, log)
	}
	w.Later(websession.Lasts)
	if a := b.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("after eight hours: %d", a.status)
	}
}

func cookiesGetLost(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	old := b.cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	for range 3 { // each answer is lost: the browser keeps what it has
		b.get("/console")
		b.cookies["__Host-ringi"] = old
		w.Later(10 * time.Minute)
	}
	if a := b.get("/console"); a.status != 200 || b.cookies["__Host-ringi"] == old {
		t.Fatalf("a person whose browser got no new cookie: %d", a.status)
	}
	now := b.cookies["__Host-ringi"]
	if a := b.get("/console"); a.status != 200 {
		t.Errorf("with the new one: %d", a.status)
	}
	replay := w.browser()
	replay.cookies["__Host-ringi"] = old
	w.Later(websession.Grace + time.Second)
	if a := replay.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("the old one, since the new one was seen: %d", a.status)
	}
	w.Later(16 * time.Minute)
	b.get("/console")
	b.cookies["__Host-ringi"] = now
	w.Later(websession.Unseen + time.Second)
	if a := b.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("an old one of which nothing was heard for an hour: %d", a.status)
	}
}

func cookiesAreStolen(t *testing.T, w *world) {
	person, thief := w.as(workspace.Suzuki), w.browser()
	thief.cookies["__Host-ringi"] = person.cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	person.get("/console") // and looks away
	w.Later(2 * time.Minute)
	if a := thief.get("/console"); a.status != 200 {
		t.Fatalf("the new one may not have arrived: %d", a.status)
	}
	thief.get("/console")
	w.Later(16 * time.Minute)
	thief.get("/console")
	if a := person.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("nobody knows who of the two is the person: %d", a.status)
	}
	if a := thief.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("the thief stays: %d", a.status)
	}
}

func leavers(t *testing.T, w *world) {
	b := w.as(workspace.Sato)
	b.get("/console")
	if w.people.asked != 0 {
		t.Errorf("Slack is asked at once")
	}
	w.people.become(workspace.Sato, func(*slackapi.User) error { return errors.New("no answer") })
	w.Later(3 * time.Minute)
	if a := b.get("/console"); a.status != 200 {
		t.Errorf("a silent Slack signs out: %d", a.status)
	}
	w.Later(3 * time.Minute)
	if a := b.get("/console"); a.status != http.StatusInternalServerError {
		t.Errorf("it is believed for ever: %d", a.status)
	}
	w.people.become(workspace.Sato, func(u *slackapi.User) error { u.Gone = true; return nil })
	if a := b.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("who left sees %d", a.status)
	}
	w.people.become(workspace.Sato, func(u *slackapi.User) error { return nil })
	if a := b.get("/console"); a.status != http.StatusSeeOther {
		t.Errorf("the session is back: %d", a.status)
	}
}

// guarded serves one page for administrators and one act, as others are.
func guarded(w *world) http.Handler {
	mux := http.NewServeMux()
	for _, r := range []route{
		{"GET /console/guarded", administrator, w.c.home},
		{"POST /console/guarded", administrator, func(rw http.ResponseWriter, r *http.Request, _ *viewer) error {
			return w.c.done(rw, r, "/console", "saved")
		}},
	} {
		mux.HandleFunc(r.pattern, w.c.signedIn(r))
	}
	return mux
}

func administrators(t *testing.T, w *world) {
	admin, member := w.as(workspace.Suzuki), w.as(workspace.Sato)
	admin.over, member.over = guarded(w), guarded(w)
	log := logged(t)
	if a := member.get("/console/guarded"); a.status != http.StatusForbidden || !strings.Contains(log.String(), "for administrators") {
		t.Errorf("a member: %d, %s", a.status, log)
	}
	if a := member.post("/console/guarded", nil); a.status != http.StatusForbidden {
		t.Errorf("a member acts: %d", a.status)
	}
	if a := admin.post("/console/guarded", nil); a.to != "/console?done=saved" {
		t.Errorf("an administrator: %d %s", a.status, a.text())
	}
	now := expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t)
	now.Admins = []string{workspace.Sato}
	expect.NoError(t, w.Store.SaveTenant(t.Context(), now, w.By, w.Now()))
	if a := admin.post("/console/guarded", nil); a.status != http.StatusForbidden {
		t.Errorf("who was one until now: %d", a.status)
	}
}

func forms(t *testing.T, w *world) {
	b, other := w.as(workspace.Suzuki), w.as(workspace.Suzuki)
	b.over = guarded(w)
	for name, token := range map[string]string{"none": "", "forged": "AAAA", "another session's": other.form} {
		if a := b.post("/console/guarded", url.Values{"form": {token}}); a.status != http.StatusForbidden || !strings.Contains(a.text(), "このフォームは使えません") {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
	}
	nobody := w.browser()
	nobody.over = b.over
	if a := nobody.post("/console/guarded", nil); a.status != http.StatusUnauthorized {
		t.Errorf("nobody: %d", a.status)
	}
}

func TestALanguageIsTheBrowsersOrChosen(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	b := w.browser()
	for accept, want := range map[string]string{"ja,en;q=0.8": "ja", "en-GB,en;q=0.9,ja;q=0.8": "en", "fr-FR,fr;q=0.9,en;q=0.5": "en", "fr": "ja", "": "ja"} {
		b.locale = accept
		if a := b.get("/console/signin"); !strings.Contains(a.body, `<html lang="`+want+`">`) {
			t.Errorf("%q is not %s", accept, want)
		}
	}
	b.locale = "ja"
	if a := b.get("/console/language/en?next=%2Fconsole%2Fsignin"); a.to != "/console/signin" {
		t.Errorf("it leads to %s", a.to)
	}
	if a := b.get("/console/signin"); !strings.Contains(a.body, `<html lang="en">`) {
		t.Errorf("the choice is lost")
	}
	if a := b.get("/console/language/en?next=https://evil.example/"); a.to != "/console" {
		t.Errorf("it leads to %s", a.to)
	}
}

func TestAnAddressOfNothing(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	if a := w.browser().get("/console/nothing"); a.status != http.StatusNotFound || !strings.Contains(a.text(), "ページがありません") {
		t.Errorf("%d %s", a.status, a.text())
	}
	if a := w.browser().get("/console/assets/console.css"); a.status != 200 || !strings.Contains(a.body, "prefers-color-scheme: dark") {
		t.Errorf("%d", a.status)
	}
	if a := w.browser().get("/console/assets/..%2Fconsole.js"); a.status != http.StatusNotFound {
		t.Errorf("%d", a.status)
	}
}
