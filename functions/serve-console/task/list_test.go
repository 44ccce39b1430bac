package task_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	taskpages "ringi/functions/serve-console/task"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// TestTheListOfRequests runs all tests of that list on one database, each with its own table.
func TestTheListOfRequests(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"an empty one says how to begin":                            testEmptyTasks,
		"people see their own requests and those of their channels": testWhoSeesWhat,
		"filters stay in the address, and a bad one is refused":     testTaskFilters,
		"titles are searched for a thousand at a time":              testTaskSearch,
		"a cursor that is forged or another's is refused and noted": testForeignCursors,
		"a refusal because of somebody names them":                  testWhoIsNamed,
		"while Slack is silent there is no half of it":              testSilentSlack,
	})
}

func testEmptyTasks(t *testing.T, w *consoletest.World) {
	w.As(webapi.Suzuki).Get("/console/tasks").Says(t, 200, "まだ依頼がありません", "@Ringi")
	w.As(webapi.Sato).Get("/console/tasks").Says(t, 200, "参加しているチャンネルの依頼")
	english := w.As(webapi.Sato).In("en")
	english.Get("/console/tasks").Says(t, 200, "No requests yet")
	w.As(webapi.Suzuki).Get("/console/tasks?status=failed").Says(t, 200, "条件に合う依頼はありません", "条件を外す")
	got := w.Browser().Get("/console/tasks")
	expect.That(t, got.Status == http.StatusSeeOther && strings.HasPrefix(got.To, "/console/signin"),
		"nobody is answered %d and led to %s", got.Status, got.To)
}

func testWhoSeesWhat(t *testing.T, w *consoletest.World) {
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "佐藤の人事"})
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.General, Kind: "channel", Title: "田中の全社"})
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.DirectMessage(webapi.Tanaka), Kind: "im",
		Title: "田中の内緒"})
	w.Made(consoletest.Requested{User: webapi.Alex, Channel: "C0ELSEWHERE", Kind: "channel", Title: "アレックスのよそ"})
	w.Found("T0OTHER", webapi.Suzuki)
	w.Made(consoletest.Requested{Team: "T0OTHER", User: webapi.Suzuki, Channel: webapi.HR, Kind: "channel", Title: "別の会社"})
	for user, want := range map[string][]string{
		webapi.Suzuki: {"アレックスのよそ", "田中の内緒", "田中の全社", "佐藤の人事"}, // the administrator
		webapi.Sato:   {"田中の全社", "佐藤の人事"},
		webapi.Tanaka: {"田中の内緒", "田中の全社", "佐藤の人事"},
		webapi.Alex:   {"アレックスのよそ", "田中の全社"},
	} {
		got := w.As(user).Get("/console/tasks")
		expect.Same(t, want, got.Titles())
		got.Lacks(t, "別の会社")
	}
	for path, want := range map[string][]string{
		"/console/tasks?q=" + url.QueryEscape("田中"): {"田中の全社"},
		"/console/tasks?status=drafting":            {"田中の全社", "佐藤の人事"},
		"/console/tasks?person=me":                  {"佐藤の人事"},
	} {
		expect.Same(t, want, w.As(webapi.Sato).Get(path).Titles())
	}
	w.As(webapi.Sato).Get("/console/tasks").Says(t, 200, "田中 恵", "#general", "#人事", "佐藤 花子")
	w.As(webapi.Suzuki).Get("/console/tasks").Says(t, 200, "ダイレクトメッセージ", "依頼のあったチャンネル").Lacks(t, "C0ELSEWHERE")
}

func testWhoIsNamed(t *testing.T, w *consoletest.World) {
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "佐藤の人事"})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RefuseByRule(a.Head.Run, aggregate.Refusal{Why: task.ReasonNoRowOther, Detail: webapi.Tanaka},
			w.SettingsNow(), w.Now())
	})
	w.As(webapi.Sato).Get("/console/tasks").Says(t, 200, "田中 恵").Lacks(t, webapi.Tanaka)
}

func testTaskFilters(t *testing.T, w *consoletest.World) {
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Title: "昨日", After: -24 * time.Hour})
	w.Made(consoletest.Requested{User: webapi.Suzuki, Channel: webapi.HR, Title: "取り下げた", Cancelled: true})
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Title: "今日"})
	b := w.As(webapi.Suzuki)
	for query, want := range map[string][]string{
		"":                        {"今日", "取り下げた", "昨日"},
		"status=cancelled":        {"取り下げた"},
		"person=me":               {"取り下げた"},
		"person=me&status=failed": nil,
		"status=&person=&q=":      {"今日", "取り下げた", "昨日"}, // as an empty form sends it
		"utm_source=mail":         {"今日", "取り下げた", "昨日"},
	} {
		expect.Same(t, want, b.Get("/console/tasks?"+query).Titles())
	}
	for _, query := range []string{"status=pending", "person=sato", "q=" + strings.Repeat("x", taskpages.MaxSearch+1)} {
		expect.Same(t, []string(nil), b.Get("/console/tasks?"+query).Says(t, 400, "入力に誤りがあります").Titles())
	}
	b.Get("/console/tasks?status=cancelled&person=me").Holds(t, `<option value="cancelled" selected>`,
		`<input type="hidden" name="person" value="me">`)
}

func testTaskSearch(t *testing.T, w *consoletest.World) {
	w.Filled(1105, func(n int) (user, channel, title string) {
		title = fmt.Sprintf("残業 %d", n)
		if n%300 == 5 { // 5, 305, 605, 905
			title = fmt.Sprintf("ＡＢＣ　Report %d", n)
		}
		return webapi.Sato, webapi.HR, title
	})
	b := w.As(webapi.Suzuki)
	for search, want := range map[string][]string{
		"abc":            {"ＡＢＣ　Report 905", "ＡＢＣ　Report 605", "ＡＢＣ　Report 305"}, // 5 is not among the latest thousand
		"ａｂｃ　ｒｅｐｏｒｔ　605": {"ＡＢＣ　Report 605"},
		"report":         nil,
	} {
		got := b.Get("/console/tasks?q=" + url.QueryEscape(search))
		expect.Same(t, want, got.Titles())
		got.Says(t, 200, map[bool]string{true: "次のページに続きがあります", false: "新しい順に 1,000 件を検索しました"}[want == nil])
	}
	got := b.Get("/console/tasks?q=" + url.QueryEscape("残業"))
	expect.That(t, len(got.Titles()) == taskpages.RowsOfPage && got.Link("next") != "", "%d are found", len(got.Titles()))
	if got := b.Get("/console/tasks"); len(got.Titles()) != taskpages.RowsOfPage || got.Titles()[0] != "残業 1104" ||
		!strings.Contains(got.Body, `id="requests" data-live="/console/tasks"`) {
		t.Errorf("the first page has %d, the newest is %q", len(got.Titles()), got.Titles()[:1])
	}
	// A member to whom no request belongs learns that there are older ones, and can page to the end.
	alex, pages := w.As(webapi.Alex), 0
	for next := "/console/tasks"; next != ""; pages++ {
		got := alex.Get(next)
		if next = got.Link("next"); next != "" {
			got.Says(t, 200, "次のページに続きがあります")
		}
		got.Lacks(t, "残業 ")
	}
	expect.That(t, pages == 2, "1,105 requests are looked at in %d pages", pages)
}

func testForeignCursors(t *testing.T, w *consoletest.World) {
	w.Filled(120, func(n int) (user, channel, title string) { return webapi.Sato, webapi.HR, fmt.Sprint(n) })
	other := w.Found("T0OTHER", webapi.Suzuki)
	log := consoletest.Logged(t)
	cursor := func(path string) string {
		u := expect.Value(url.Parse(w.As(webapi.Suzuki).Get(path).Link("next")))(t)
		return u.Query().Get("cursor")
	}
	mine := cursor("/console/tasks")
	inside := string(expect.Value(base64.RawURLEncoding.DecodeString(mine))(t))
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(inside, w.Tenant.ID, other.ID)))
	answers := map[string]consoletest.Answer{
		"another tenant's":  w.Of(other, webapi.Suzuki).Get("/console/tasks?cursor=" + mine),
		"forged":            w.As(webapi.Suzuki).Get("/console/tasks?cursor=" + forged),
		"of other filters":  w.As(webapi.Suzuki).Get("/console/tasks?status=done&cursor=" + mine),
		"nonsense":          w.As(webapi.Suzuki).Get("/console/tasks?cursor=nonsense"),
		"far too long":      w.As(webapi.Suzuki).Get("/console/tasks?cursor=" + strings.Repeat("A", 5000)),
		"a member's forged": w.As(webapi.Alex).Get("/console/tasks?cursor=" + forged),
	}
	for name, got := range answers {
		expect.That(t, got.Status == http.StatusBadRequest && len(got.Titles()) == 0 &&
			strings.Contains(got.Text(), "このページへのリンクは使えません"), "%s is answered %d: %v", name, got.Status, got)
	}
	n := strings.Count(log.String(), "msg=refused")
	expect.That(t, n == len(answers), "%d refusals are noted of %d", n, len(answers))
	expect.That(t, !strings.Contains(log.String(), inside), "the cursor is in the log")
	// A member who uses an administrator's cursor sees no more than before.
	got := w.As(webapi.Alex).Get("/console/tasks?cursor=" + mine)
	expect.That(t, len(got.Titles()) == 0, "others' requests are shown: %q", got.Titles())
}

// silent is a directory that lists no channels.
type silent struct{ *consoletest.Directory }

func (silent) Channels(context.Context, string, ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) { yield(slackapi.Channel{}, errors.New("timeout")) }
}

func testSilentSlack(t *testing.T, w *consoletest.World) {
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Title: "佐藤の依頼"})
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Title: "田中の依頼"})
	w.Console.People.Slack = silent{w.People}
	for _, path := range []string{"/console/tasks?status=", "/console"} {
		got := w.As(webapi.Sato).Get(path).Says(t, http.StatusServiceUnavailable, "もう一度開く").Lacks(t, "佐藤の依頼")
		got.Holds(t, `href="`+path+`">もう一度開く`)
	}
}

// What somebody types in the list's box leads to the request that it names, by number or id, if they may read it; else
// to those whose titles begin so.
func TestWhatIsTypedLeadsToWhatItNames(t *testing.T) {
	w := consoletest.Start(t)
	w.Made(consoletest.Requested{User: webapi.Suzuki, Channel: webapi.HR, Kind: "channel", Title: "紙の発注"})
	w.Ask()
	row := &task.Numbered{Year: 2026, N: 7, TaskID: w.Ref.ID}
	expect.NoError(t, w.Store.PutListed(t.Context(), w.Tenant.ID, task.NumbersList, "2026", []aggregate.Row{row}, nil))
	typed := func(text string) string { return "/console/tasks?" + url.Values{"q": {text}}.Encode() }
	admin, member, stranger := w.As(webapi.Suzuki), w.As(webapi.Sato), w.As(webapi.Alex)
	for _, text := range []string{"2026-000007", "２０２６－０００００７", w.Ref.ID} {
		admin.Get(typed(text)).Leads(t, w.TaskPage())
		member.Get(typed(text)).Leads(t, w.TaskPage())
		expect.Same(t, []string(nil), stranger.Get(typed(text)).Says(t, 200).Titles()) // who learns nothing of it
	}
	for text, want := range map[string][]string{"2026-000008": nil, " 紙\u202eの ": {"紙の発注"}, "発注": nil, "紙 の": nil} {
		expect.Same(t, want, admin.Get(typed(text)).Says(t, 200).Titles())
	}
}

// sentBack has a policy of Sato's sent back and drafted again.
func sentBack(w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	w.Later(time.Second)
	w.Redrafted("見積を付けてください")
}

func TestTitlesAreNotOfWhatWasAskedFirst(t *testing.T) {
	w := consoletest.Start(t)
	sentBack(w)
	const title = "勤怠集計 v2"
	b := w.As(webapi.Suzuki)
	b.Get("/console").Says(t, 200, title)
	for _, path := range []string{"/console/tasks", "/console/tasks?q=" + url.QueryEscape("勤怠"), w.TaskPage()} {
		b.Get(path).Says(t, 200, title)
	}
	w.As(webapi.Sato).Get("/console").Says(t, 200, title)
	w.As(webapi.Sato).In("en").Get("/console").Says(t, 200, "勤怠集計 v2")
	b.Get(w.TaskPage()).Holds(t, `<p class="notice warning">⚠️ 変更の理由があったのに、前のバージョンから何も変わっていません。</p>`)
	w.AskForSteps(ordering("298000"))
	b.Get("/console").Says(t, 200, "shop__order を実行します", "¥298,000")
	b.Get("/console/tasks").Says(t, 200, title, "¥298,000")
	w.Cancel()
	b.Get("/console/tasks").Says(t, 200, title)

	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	unmarked := ordering("1")
	unmarked.Mark = nil
	w.AskForSteps(unmarked)
	b.Get("/console").Says(t, 200, "shop__order", "勤怠集計").Lacks(t, "」の v")
}
