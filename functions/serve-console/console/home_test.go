package console_test

import (
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
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// The list of one's own requests says of each what happens next; the home leads there.
func TestOnesOwnRequestsSayWhatHappensNext(t *testing.T) {
	w := consoletest.Start(t)
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "発注"})
	w.Draft(tenancy.DefaultSettings())
	order := consoletest.Message(1, "x")
	order.Tool, order.ToolVersion, order.ToolInput = "rooms.place_order", "v1", `{"supplier":"アクメ","total":298000}`
	order.Mark = &rules.Mark{Version: "v1", How: rules.HowSum, Pointers: []string{"/total"}, Currency: "JPY"}
	w.AskForSteps(order)
	standing(w)
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Kind: "channel", Title: "他の人"})
	w.Draft(tenancy.DefaultSettings())
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "方針を却下"})
	w.Draft(tenancy.DefaultSettings())
	page := w.TaskPage()
	form := w.As(webapi.Suzuki).Get(page).FormOf(t, aggregate.ActReject, "")
	form.Set("reason", "９月も入れて")
	w.As(webapi.Suzuki).Post(page+"/act", form)
	w.Asked(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "天気は"})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Kind: task.KindUnsupported, Sentence: "月ごとの勤怠をまとめられます。"}, w.Now())
	})
	b := w.As(webapi.Sato)
	b.Get("/console").Holds(t, `href="/console/tasks?person=me"`)
	b.Get("/console/tasks?person=me").Says(t, http.StatusOK, "方針を却下", "作成中 差し戻されました: 「９月も入れて」— v2 を作っています",
		"月ごとの勤怠をまとめられます。", "¥298,000").Lacks(t, "他の人")
	w.As(webapi.Tanaka).In("en").Get("/console/tasks?person=me").Says(t, http.StatusOK, "他の人",
		"Waiting Policy: the members of #人事")
}

// What was given back is its requester's turn until they edited it: with why and where, once, and beside no "nothing".
func TestWhatWasReturnedIsItsRequestersTurn(t *testing.T) {
	w := consoletest.Start(t)
	w.MatterAsked()
	giveBack(w, webapi.Suzuki)
	home := w.As(webapi.Sato).Get("/console")
	home.Says(t, http.StatusOK, "差し戻し 倉庫の賃貸 差し戻し理由: 「部長ではなく、課長に送ってください」 ¥3,600,000").Lacks(t, "あなたの番のものはありません")
	expect.Is(t, strings.Count(home.Body, w.TaskPage()+`#decide"`), 1, home.Body)
	w.As(webapi.Sato).In("en").Get("/console").Says(t, http.StatusOK, "Sent back 倉庫の賃貸 Reason: “部長ではなく")
	w.As(webapi.Suzuki).Get("/console").Lacks(t, "倉庫の賃貸")
}

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

// Who is signed in keeps the menu on a page that isn't there, and is led on; to others it says as much.
func TestAPageThatIsNotThereLeadsOn(t *testing.T) {
	w := consoletest.Start(t)
	const menu, search = `<nav class="nav"`, `class="button" href="/console/tasks"`
	for path, says := range map[string]string{"/console/nowhere": "ホームから探して", "/nowhere": "ホームから探して",
		"/console/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV": "送った人に確認してください"} {
		w.As(webapi.Sato).Get(path).Says(t, http.StatusNotFound, says).Holds(t, menu, search)
	}
	w.Browser().Get("/console/nowhere").Says(t, http.StatusNotFound, "ホームから探して").Lacks(t, menu, search)
}

// standing makes a request of Sato's for each status, and returns their ids.
func standing(w *consoletest.World) map[task.Status]string {
	w.T.Helper()
	ids := map[task.Status]string{}
	for _, s := range task.Statuses {
		r := consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "営業部の今月の勤怠をまとめて、部長に送って"}
		if kind, plain := map[task.Status]task.ExtractKind{
			task.StatusRefused: task.KindUnsupported, task.StatusAnswered: task.KindHelp,
		}[s]; plain {
			w.Asked(r)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Extracted(a.Head.Run, task.Extract{Kind: kind, Sentence: "月ごとの勤怠をまとめられます。"}, w.Now())
			})
		} else if s == task.StatusReturned {
			w.MatterAsked()
			giveBack(w, webapi.Suzuki)
		} else {
			w.Made(r)
			comes(w, s)
		}
		ids[s] = w.Ref.ID
		now := w.Load().Head.Noted
		expect.Must(w.T, now == s, "a request that should be %s is %s", s, now)
	}
	return ids
}

// giveBack gives the steps that wait back to whoever asked.
func giveBack(w *consoletest.World, user string) {
	w.T.Helper()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: w.By.Team, Member: true}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("部長ではなく、課長に送ってください")(a, a.Process().ID, by, w.AnyMember(), w.Now())
	})
}

// comes brings a new task to a status.
func comes(w *consoletest.World, to task.Status) {
	w.T.Helper()
	settings := tenancy.DefaultSettings()
	switch to {
	case task.StatusDrafting, task.StatusNotDrafted:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	default:
		w.Draft(settings)
	}
	switch to {
	case task.StatusNotDrafted:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", w.Now())
		})
	case task.StatusCancelled:
		w.Cancel()
	case task.StatusExpired:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.Expire(w.Now().Add(1000 * time.Hour)) })
	case task.StatusRunning, task.StatusDone, task.StatusFailed, task.StatusToRetry:
		w.AskForSteps(consoletest.Message(1, "営業部の勤怠をお送りします。"))
		w.Approve()
		w.Begin()
	}
	switch to {
	case task.StatusDone:
		w.Ran(consoletest.Inline(string(consoletest.Message(1, "営業部の勤怠をお送りします。").ToolInput)),
			consoletest.Inline(`{"ok":true}`))
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.CompleteExecution(a.Head.Run, "営業部の勤怠を送りました。", w.Now())
		})
	case task.StatusFailed, task.StatusToRetry:
		why := map[task.Status]aggregate.Reason{
			task.StatusFailed: task.ReasonToolValue, task.StatusToRetry: task.ReasonToolFailed,
		}[to]
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FailExecution(a.Head.Run, why, "", w.Now())
		})
	}
}
