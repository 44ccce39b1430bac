package integrations_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/records"
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
		"a state counts once, in its browser, for ten minutes": statesAreSingle, "not too often": notTooOften,
		"a cookie is replaced, and forged ones are nobody's":               cookiesRotate,
		"a new cookie may be lost on its way":                              cookiesGetLost,
		"who comes with a cookie that another took the place of ends both": cookiesAreStolen,
		"who left is out within minutes":                                   leavers,
		"administrators are asked anew":                                    administrators, "forms carry their session's " +
			"token": forms,
	})
}

func signsIn(t *testing.T, w *consoletest.World) {
	b := w.Browser()
	b.Get("/console?x=1").Says(t, http.StatusSeeOther).Leads(t, "/console/signin?next=%2Fconsole%3Fx%3D1")
	b.Get("/console/signin?next=%2Fconsole%3Fx%3D1").Holds(t,
		`href="/console/signin/begin?next=%2Fconsole%3Fx%3D1"`)
	q := begin(b, "/console/signin/begin?next=%2Fconsole%3Fx%3D1")
	expect.That(t, q.Get("redirect_uri") == "https://"+consoletest.Host+"/console/signin/done", "Slack is asked %v", q)
	w.OIDC.Person = said(webapi.Suzuki, slacktest.Team)
	back(b, q).Leads(t, "/console?x=1")
	b.Get("/console").Says(t, 200).Holds(t, "鈴木 一郎")
	before := w.Browser()
	before.Cookies["__Host-ringi"] = b.Cookies["__Host-ringi"]
	back(b, begin(b, "/console/signin/begin")).Leads(t, "/console")
	before.Get("/console").Says(t, http.StatusSeeOther) // who was signed in here before is not any more
	b.Form = expect.Value(records.SessionsOf(w.Store.Table()).Session(t.Context(), b.Cookies["__Host-ringi"],
		w.Now()))(t).Form
	cookie := b.Cookies["__Host-ringi"]
	b.Post("/console/signout", nil).Leads(t, "/console/signin")
	expect.That(t, b.Cookies["__Host-ringi"] == "", "the cookie stays")
	b.Cookies["__Host-ringi"] = cookie
	b.Get("/console").Says(t, http.StatusSeeOther) // a cookie that was signed out
	log := consoletest.Logged(t)
	for i, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`} {
		other := w.Browser()
		back(other, begin(other, "/console/signin/begin?next="+url.QueryEscape(next))).Leads(t, "/console")
		n := strings.Count(log.String(), "msg=refused")
		expect.That(t, n == i+1, "%s: %d refusals are logged", next, n)
	}
}

func onlyMembers(t *testing.T, w *consoletest.World) {
	w.Found("T0OTHER", "U0OTHER")
	w.People.Become(webapi.Tanaka, func(u *slackapi.User) error { u.Gone = true; return nil })
	log := consoletest.Logged(t)
	for name, person := range map[string]map[string]string{
		"a guest": said(webapi.Guest, slacktest.Team), "who left": said(webapi.Tanaka, slacktest.Team),
		"of a workspace that nobody knows": said(webapi.Suzuki, "T0NOBODY"), "of another workspace": said(webapi.Suzuki,
			"T0OTHER"),
		"whom Slack doesn't know": said("U0GHOST", slacktest.Team),
	} {
		b := w.Browser()
		q := begin(b, "/console/signin/begin")
		w.OIDC.Person = person
		a := back(b, q)
		expect.That(t, a.Status == http.StatusForbidden && b.Cookies["__Host-ringi"] == "", "%s: %v", name, a)
	}
	n := strings.Count(log.String(), "msg=refused")
	expect.That(t, n == 5, "%d refusals are logged: %s", n, log)
}

func statesAreSingle(t *testing.T, w *consoletest.World) {
	w.OIDC.Person = said(webapi.Suzuki, slacktest.Team)
	b := w.Browser()
	q := begin(b, "/console/signin/begin")
	stolen := w.Browser()
	back(stolen, q).Says(t, http.StatusBadRequest) // another browser
	back(b, q).Says(t, http.StatusBadRequest)      // a state that another browser began
	q = begin(b, "/console/signin/begin")
	cookie := b.Cookies["__Host-ringi-signin"]
	back(b, q).Leads(t, "/console")
	b.Cookies["__Host-ringi-signin"] = cookie
	back(b, q).Says(t, http.StatusBadRequest) // a state twice
	q = begin(b, "/console/signin/begin")
	w.Later(records.SignInLasts + time.Second)
	back(b, q).Says(t, http.StatusBadRequest) // too late
	q = begin(b, "/console/signin/begin")
	b.Get("/console/signin/done?error=access_denied&state="+q.Get("state")).Says(t, http.StatusForbidden) // who says no
	q = begin(b, "/console/signin/begin")
	b.Get("/console/signin/done?code=another-nonce&state="+q.Get("state")).Says(t, http.StatusForbidden)
}

func notTooOften(t *testing.T, w *consoletest.World) {
	b := w.Browser()
	for range records.SignInsPerMinute {
		b.Get("/console/signin/begin").Says(t, http.StatusSeeOther)
	}
	b.Get("/console/signin/begin").Says(t, http.StatusTooManyRequests) // one more
	w.Later(time.Minute)
	b.Get("/console/signin/begin").Says(t, http.StatusSeeOther) // a minute later
}

func cookiesRotate(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	old := b.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	a := b.Get("/console")
	line := a.Header.Get("Set-Cookie")
	expect.Must(t, b.Cookies["__Host-ringi"] != old && a.Status == 200, "the cookie stays: %d", a.Status)
	for _, want := range []string{"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} {
		expect.That(t, strings.Contains(line, want), "the cookie is %s", line)
	}
	replay := w.Browser()
	replay.Cookies["__Host-ringi"] = old
	replay.Get("/console").Says(t, 200) // what was under way
	b.Get("/console").Says(t, 200)      // the new one
	w.Later(records.Grace + time.Second)
	log := consoletest.Logged(t)
	for name, cookie := range map[string]string{"replayed": old, "forged": "AAAA",
		"a hash": records.HashOf(b.Cookies["__Host-ringi"])} {
		replay.Cookies["__Host-ringi"] = cookie
		expect.Is(t, replay.Get("/console").Status, http.StatusSeeOther, name)
	}
	n := strings.Count(log.String(), "msg=refused")
	expect.That(t, n == 3, "%d refusals are logged: %s", n, log)
	w.Later(records.SessionLasts)
	b.Get("/console").Says(t, http.StatusSeeOther) // after eight hours
}

func cookiesGetLost(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	old := b.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	for range 3 { // each answer is lost: the browser sends the old cookie again
		b.Get("/console")
		b.Cookies["__Host-ringi"] = old
		w.Later(10 * time.Minute)
	}
	b.Get("/console").Says(t, 200)
	expect.That(t, b.Cookies["__Host-ringi"] != old, "a person whose browser got no new cookie")
	now := b.Cookies["__Host-ringi"]
	b.Get("/console").Says(t, 200) // with the new one
	replay := w.Browser()
	replay.Cookies["__Host-ringi"] = old
	w.Later(records.Grace + time.Second)
	replay.Get("/console").Says(t, http.StatusSeeOther) // the old one, since the new one was seen
	w.Later(16 * time.Minute)
	b.Get("/console")
	b.Cookies["__Host-ringi"] = now
	w.Later(records.Unseen + time.Second)
	b.Get("/console").Says(t, http.StatusSeeOther) // an old one of which nothing was heard for an hour
}

func cookiesAreStolen(t *testing.T, w *consoletest.World) {
	person, thief := w.As(webapi.Suzuki), w.Browser()
	thief.Cookies["__Host-ringi"] = person.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	person.Get("/console") // and looks away
	w.Later(2 * time.Minute)
	thief.Get("/console").Says(t, 200) // the new one may not have arrived
	thief.Get("/console")
	w.Later(16 * time.Minute)
	thief.Get("/console")
	person.Get("/console").Says(t, http.StatusSeeOther) // nobody knows who of the two is the person
	thief.Get("/console").Says(t, http.StatusSeeOther)  // nor does the thief stay
}

func leavers(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Sato)
	b.Get("/console")
	expect.That(t, w.People.Asked == 0, "Slack is asked at once")
	w.People.Become(webapi.Sato, func(*slackapi.User) error { return errors.New("no answer") })
	w.Later(3 * time.Minute)
	b.Get("/console").Says(t, 200) // a silent Slack signs nobody out
	w.Later(3 * time.Minute)
	b.Get("/console").Says(t, http.StatusInternalServerError) // nor is it believed for ever
	w.People.Become(webapi.Sato, func(u *slackapi.User) error { u.Gone = true; return nil })
	b.Get("/console").Says(t, http.StatusSeeOther) // who left
	w.People.Become(webapi.Sato, func(u *slackapi.User) error { return nil })
	b.Get("/console").Says(t, http.StatusSeeOther) // the session is not back
}

// guarded serves one page for administrators and one act, through the usual checks.
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
	admin, member := w.As(webapi.Suzuki), w.As(webapi.Sato)
	admin.Over, member.Over = guarded(w), guarded(w)
	log := consoletest.Logged(t)
	member.Get("/console/guarded").Says(t, http.StatusForbidden)
	expect.That(t, strings.Contains(log.String(), "for administrators"), "a member")
	member.Post("/console/guarded", nil).Says(t, http.StatusForbidden)  // a member acts
	admin.Post("/console/guarded", nil).Leads(t, "/console?done=saved") // an administrator
	w.Administered(webapi.Sato)
	admin.Post("/console/guarded", nil).Says(t, http.StatusForbidden) // who was one until now
}

func forms(t *testing.T, w *consoletest.World) {
	b, other := w.As(webapi.Suzuki), w.As(webapi.Suzuki)
	b.Over = guarded(w)
	for _, token := range []string{"", "AAAA", other.Form} { // none, a forged one, another session's
		b.Post("/console/guarded", url.Values{"form": {token}}).Says(t, http.StatusForbidden, "フォームの有効期限が切れました")
	}
	nobody := w.Browser()
	nobody.Over = b.Over
	nobody.Post("/console/guarded", nil).Says(t, http.StatusUnauthorized)
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

func TestAnAddressOfNothing(t *testing.T) {
	w := consoletest.Start(t)
	w.Browser().Get("/console/nothing").Says(t, http.StatusNotFound, "ページがありません")
	w.Browser().Get("/console/assets/console.css").Says(t, 200).Holds(t, "prefers-color-scheme: dark")
	w.Browser().Get("/console/assets/..%2Fconsole.js").Says(t, http.StatusNotFound)
}

// The request that signs out may be the one that renews the cookie.
func TestSigningOutLeavesNoSessionBehind(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	w.Later(16 * time.Minute)
	a := b.Post("/console/signout", nil)
	for _, line := range a.Header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		if err != nil || c.Value == "" {
			continue
		}
		other := w.Browser()
		other.Cookies["__Host-ringi"] = c.Value
		expect.That(t, other.Get("/console/audit").Status != http.StatusOK,
			"the answer to signing out carries a cookie that is signed in: the audit log is shown to it")
	}
}

// A replaced cookie stays valid for a minute, unless the person signs out.
func TestSigningOutEndsTheCookieBefore(t *testing.T) {
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	old := b.Cookies["__Host-ringi"]
	w.Later(16 * time.Minute)
	b.Get("/console") // replaces it
	b.Get("/console") // comes with the new one
	other := w.Browser()
	other.Cookies["__Host-ringi"] = old
	other.Get("/console/settings").Says(t, http.StatusOK)
	w.Later(5 * time.Second)
	b.Post("/console/signout", nil)
	other.Cookies["__Host-ringi"] = old
	other.Get("/console/settings").Says(t, http.StatusSeeOther)
}
