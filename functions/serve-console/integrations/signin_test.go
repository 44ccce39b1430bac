package integrations_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
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
	b.Post("/console/signout", nil).Leads(t, "/console/signin")
	expect.That(t, b.Cookies["__Host-ringi"] == "", "the cookie stays")
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
	for name, person := range map[string]map[string]string{
		"a guest": said(webapi.Guest, ringitest.Team), "who left": said(webapi.Tanaka, ringitest.Team),
		"of a workspace that nobody knows": said(webapi.Suzuki, "T0NOBODY"), "of another workspace": said(webapi.Suzuki,
			"T0OTHER"),
		"whom Slack doesn't know": said("U0GHOST", ringitest.Team),
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

func signsOut(t *testing.T, w *consoletest.World) {
	b, other, thief, colleague := w.As(webapi.Suzuki), w.As(webapi.Suzuki), w.Browser(), w.As(webapi.Sato)
	thief.Cookies["__Host-ringi"] = b.Cookies["__Host-ringi"]
	b.Post("/console/signout", nil)
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
