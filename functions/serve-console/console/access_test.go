package console_test

import (
	"ringi/shared/domain/conversation"

	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// forMembers are the pages that each member may open: they say themselves what of them the viewer sees. All others are
// for administrators.
var forMembers = strings.Fields(`
GET/console GET/console/{$} POST/console/signout GET/console/stand-ins POST/console/stand-ins
GET/console/tasks
GET/console/tasks/{id} POST/console/tasks/{id}/act
GET/console/tasks/{id}/message GET/console/tasks/{id}/files/{sum}
GET/console/tasks/{id}/results/{step}/{file} GET/console/tasks/{id}/sent
GET/console/tasks/{id}/drafts/{version}/{team} POST/console/tasks/{id}/drafts/{version}/{team}
GET/console/contests/{id}
GET/console/agents GET/console/sessions/{id} POST/console/sessions/{id}/act
GET/console/sessions/{id}/files GET/console/sessions/{id}/files/raw
GET/console/sessions/{id}/message
GET/console/calls GET/console/calls/{id} POST/console/calls/{id}/act GET/console/calls/{id}/message`)

// Members open the pages of that list, and no other; the menu offers them none that they may not open. No page is for
// nobody, and no form of another site is taken, be it an administrator's.
func TestWhoMayOpenAPage(t *testing.T) {
	w := consoletest.Start(t)
	says := web.TextsOf("fault", "ja")
	for _, r := range w.Console.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(strings.TrimSuffix(path, "{$}"), "x")
		w.Later(time.Second) // one of them signs out
		forged, member, nobody := w.As(webapi.Suzuki), w.As(webapi.Sato), w.Browser()
		forged.Site = "cross-site"
		if method == http.MethodGet {
			nobody.Get(path).Leads(t, "/console/signin?next="+url.QueryEscape(path))
		} else {
			nobody.Post(path, nil).Says(t, http.StatusUnauthorized)
			expect.Is(t, forged.Post(path, nil).Status, http.StatusForbidden, path)
			expect.Is(t, forged.Upload(path, nil, nil).Status, http.StatusForbidden, path)
		}
		a := member.Send(method, path, url.Values{})
		refused := a.Status == http.StatusForbidden && strings.Contains(a.Text(), says.In("title", "admins_only"))
		open := slices.Contains(forMembers, strings.ReplaceAll(r.Pattern, " ", ""))
		expect.That(t, refused != open, "%s: refused %t, of the list %t", r.Pattern, refused, open)
	}
	for user, most := range map[string]int{webapi.Sato: 3, webapi.Suzuki: 7} {
		menu, _, _ := strings.Cut(w.As(user).Get("/console").Body, "</nav>")
		links := regexp.MustCompile(`class="to" href="(/console/[a-z-]+)">`).FindAllStringSubmatch(menu, -1)
		expect.Is(t, len(links), most, "links of the menu")
		for _, link := range links {
			w.As(user).Get(link[1]).Says(t, http.StatusOK)
		}
	}
}

// Whatever address a request, a conversation, a call, a contest or a key has, nobody of another workspace gets or does
// anything there, nor does a member who may not read it; and no list or file of theirs has it.
func TestNobodyElseReadsAnything(t *testing.T) {
	w := consoletest.Start(t)
	const secret = "他社に見せない"
	id := w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: secret + "依頼"})
	w.Draft(tenancy.DefaultSettings())
	request := w.Ref
	talk := w.Talked(webapi.Sato, webapi.HR, "channel", secret+"会話")
	talk.Proposes(conversation.ShellCommand, `{"script":"echo `+secret+`","timeout_seconds":60,"base":""}`, "")
	contest := w.Compete(secret+"方針", &request)
	contest.Plays(1, 1, 0.8, secret+"案")
	key := w.KeyOf(webapi.Sato, "post_message")
	call := key.Asks("post_message", `{"text":"`+secret+`件"}`, secret+"理由", nil)
	ids := map[string]string{"tasks": id, "sessions": talk.Ref.ID, "contests": contest.ID, "calls": call.Call.CallID}
	theirs, stranger := w.Of(w.Found("T0OTHER", "U0OTHER"), "U0OTHER"), w.As(webapi.Alex) // who is not in #人事
	logs, asked := consoletest.Logged(t), 0
	for _, r := range w.Console.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		_, of, about := strings.Cut(path, "/{id}")
		path = strings.ReplaceAll(path, "{id}", ids[strings.Split(path+"/", "/")[2]])
		path = strings.NewReplacer("{$}", "", "{step}", "1-1-1", "{file}", "1.csv", "{name}", "send_slack_dm").Replace(path)
		switch {
		case about:
			for _, b := range []*consoletest.Browser{theirs, stranger} {
				a := b.Send(method, path, url.Values{"act": {"approve"}, "id": {id}})
				expect.That(t, a.Status == http.StatusNotFound || a.Status == http.StatusForbidden, "%v", a)
				a.Lacks(t, secret)
			}
			if asked++; of == "" {
				w.As(webapi.Suzuki).Get(path).Says(t, http.StatusOK, secret) // who may
			}
		case method == http.MethodGet:
			theirs.Get(path).Lacks(t, secret, key.Name, id)
		}
	}
	n := strings.Count(logs.String(), "msg=refused")
	expect.That(t, asked >= 19 && n >= 2*asked, "%d addresses, %d refusals are logged", asked, n)
	_, waits := w.Load().OpenGate()
	expect.That(t, waits && talk.Load().Current().Status == conversation.ActionPending, "something was decided")
	theirs.Get("/console/keys?key="+key.ID).Says(t, http.StatusNotFound)
	theirs.Post("/console/keys", url.Values{"act": {"revoke"}, "id": {key.ID}}).Says(t, http.StatusNotFound)
}

// Who is signed in keeps the menu on a page that isn't there, and is led on; to others it says as much.
func TestAPageThatIsNotThereLeadsOn(t *testing.T) {
	w, words := consoletest.Start(t), web.TextsOf("fault", "ja")
	const menu, search = `<nav class="nav"`, `class="button" href="/console/tasks"`
	for path, key := range map[string]string{"/console/nowhere": "no_page", "/nowhere": "no_page",
		"/console/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV": "not_found"} {
		w.As(webapi.Sato).Get(path).Says(t, http.StatusNotFound, words.In("text", key)).Holds(t, menu, search)
	}
	w.Browser().Get("/console/nowhere").Says(t, http.StatusNotFound, words.In("text", "no_page")).Lacks(t, menu, search)
}
