package subject_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/subject"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

func TestTheHome(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"what waits is listed, the oldest first, with what it would do": testApprovals,
		"a step's check tells what its plan became":                     testResolvedApproval,
		"what waits for me is what my click would decide":               testForMe,
		"many stand on pages, what is due first before all":             testManyWait,
		"nothing that people or models write runs in the lists":         testListsAreEscaped,
		"what a person owes stands by its end, once":                    testOwedByEnd,
		"what they owe for others comes after, and they may read it":    testStandInReads,
	})
}

func testApprovals(t *testing.T, w *consoletest.World) {
	b, s := w.As(webapi.Suzuki), tenancy.DefaultSettings()
	b.Get("/console").Says(t, 200, "承認するものはありません")
	waits(w, webapi.HR, "先の依頼")
	w.Later(90 * time.Second)
	later := w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "後の依頼",
		Priority: task.High})
	w.Draft(s)
	w.AskForSteps(consoletest.Message(1, "締切は金曜です"), consoletest.Message(2, "二通目"))
	got := b.Get("/console").Says(t, 200, "先の依頼", "方針", "連絡", "田中 恵", "⚠️", "「締切は金曜です」", "ほか 1 ステップ", "#人事",
		"田中 恵 #人事 1 分前", "佐藤 花子", "期限", "あなたの番")
	before, after, _ := strings.Cut(got.Text(), "DM を送ります")
	expect.That(t, strings.Contains(before, "先の依頼") && !strings.Contains(before, "High") &&
		strings.Contains(after, "🔴 High"), "the older one is not first, or which one is urgent is not said: %v", got)
	for _, path := range []string{"/console/tasks/" + later, "/console/tasks"} {
		b.Get(path).Says(t, 200, "🔴 High")
	}
	got.Holds(t, `href="/console/tasks/`+later+`"`).Lacks(t, `<input type="checkbox"`) // one is decided at a time
	w.Cancel()
	b.Get("/console").Says(t, 200, "先の依頼").Lacks(t, "DM を送ります", `class="late"`)
	w.Later(time.Duration(s.ApprovalTimeoutHours) * time.Hour)
	w.As(webapi.Suzuki).Get("/console").Says(t, 200, "先の依頼").Holds(t, `<span class="late"><time`) // it is overdue
}

// paying is a step whose own check moves money.
func paying(order int, arguments string) task.Step {
	s := ringitest.Step(order, "bank.pay", aggregate.Write, arguments)
	s.RequiresHumanCheck, s.ToolTitle = true, "Pay"
	s.Mark = &rules.Mark{Version: s.ToolVersion, How: rules.HowProduct, Currency: "USD",
		Pointers: []string{"/price", "/count"}}
	return s
}

// What a step's check asks about is in the list if it is stored there; if not, the row says that it has the plan's.
func testResolvedApproval(t *testing.T, w *consoletest.World) {
	planned := paying(2, `{"to":{"$ref":"step-1.result.to"},"price":{"$ref":"step-1.result.price"},"count":30}`)
	for _, tt := range []struct {
		is   aggregate.Blob
		says []string
	}{
		{consoletest.Inline(`{"to":"Mallory","price":149000,"count":30}`), []string{"to Mallory", "4,470,000 USD"}},
		{consoletest.Inline(`{"to":{"$ref":"step-1.result.to"},"price":149000,"count":30}`), []string{"pay"}},
		{aggregate.Blob{S3Key: "arguments/x", Bytes: 15000},
			[]string{"step-1.result", "金額不明", "計画時の内容です"}},
	} {
		w.Ask()
		w.Planned(tenancy.DefaultSettings(), ringitest.Step(1, "bank.quote", aggregate.Read, `{}`), planned)
		w.Approve()
		w.Begin()
		w.Ran(consoletest.Inline(`{}`), consoletest.Inline(`{"to":"Mallory","price":149000}`))
		w.Checks(2, tt.is)
		got := w.As(webapi.Suzuki).Get("/console").Says(t, 200, tt.says...).Holds(t, `Pay</bdi>」</bdi></a>`)
		unpriced := `<td class="money"><span class="sub">金額不明`
		if tt.is.JSON == "" {
			got.Holds(t, unpriced)
		} else {
			got.Lacks(t, "ステップ1の結果", unpriced)
		}
	}
}

func testListsAreEscaped(t *testing.T, w *consoletest.World) {
	for n, x := range consoletest.Payloads {
		w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: x})
		if w.Draft(tenancy.DefaultSettings()); n == 0 {
			w.AskForSteps(consoletest.Message(1, strings.Join(consoletest.Payloads, " ")))
		}
	}
	w.People.Called[webapi.Sato], w.People.Channel = consoletest.Payloads[1], consoletest.Payloads[2]
	for _, path := range []string{"/console/tasks", "/console"} {
		consoletest.Harmless(t, path, w.As(webapi.Suzuki).Get(path).Says(t, 200).
			Holds(t, "&lt;img src=x onerror=alert(1)&gt;", "&lt;svg/onload=alert(1)&gt;"))
		for _, x := range consoletest.Payloads {
			q := url.Values{}
			for _, field := range []string{"q", "status", "person", "cursor", "done"} {
				q.Set(field, x)
			}
			consoletest.Harmless(t, path, w.As(webapi.Sato).Get(path+"?"+q.Encode()))
		}
	}
}

// ordering is a step that orders a laptop from Acme for an amount of yen.
func ordering(amount string) task.Step {
	s := consoletest.Message(1, "")
	s.Tool, s.ToolInput = "shop__order", aggregate.JSON(`{"supplier":"Acme","item":"Laptop","total":`+amount+`}`)
	s.Mark = &rules.Mark{Version: s.ToolVersion, How: rules.HowSum, Pointers: []string{"/total"}, Currency: "JPY"}
	return s
}

func testForMe(t *testing.T, w *consoletest.World) {
	s := w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Alex},
			Usergroups: []string{webapi.Approvers}}
		s.AllowSelfApproval = false
	})
	for title, r := range map[string]consoletest.Requested{"人事の件": {User: webapi.Sato, Channel: webapi.HR},
		"営業の件": {User: webapi.Alex, Channel: "C0ELSEWHERE"}} {
		r.Title, r.Kind = title, "channel"
		w.Made(r)
		w.Draft(s)
	}
	for user, want := range map[string][]string{
		webapi.Suzuki: {"人事の件", "営業の件"}, // of the group
		webapi.Alex:   {"人事の件"},         // not his own
		webapi.Sato:   nil,
	} {
		got := w.As(user).Get("/console").Says(t, 200, []string{"承認するものはありません", "あなたの番 (1 件)",
			"あなたの番 (2 件)"}[len(want)])
		expect.Same(t, want, slices.Sorted(slices.Values(turn(got).Titles())))
		got.Lacks(t, webapi.Approvers) // groups have names
	}
	const may = "あなたも承認できます"
	s = w.Settings(func(s *tenancy.Settings) { s.Approvers.Users, s.AllowSelfApproval = []string{}, true })
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel"})
	w.Draft(s)
	w.As(webapi.Suzuki).Get(w.TaskPage()).Says(t, 200, may)
	w.As(webapi.Sato).Get(w.TaskPage()).Says(t, 200, "承認").Lacks(t, may) // of no group
	w.Settings(func(s *tenancy.Settings) { s.Approvers.Users, s.Approvers.Usergroups = []string{webapi.Suzuki}, nil })
	w.As(webapi.Suzuki).Get(w.TaskPage()).Says(t, 200, "👉 あなたの番です").Lacks(t, may) // nobody else may
}

// turn is the part of the home page that says what waits for the viewer, without their own requests.
func turn(a consoletest.Answer) consoletest.Answer {
	a.Body, _, _ = strings.Cut(a.Body, `id="own"`)
	return a
}

func testManyWait(t *testing.T, w *consoletest.World) {
	const n = subject.WaitingOfPage + 2
	for i := range n - 1 {
		waits(w, webapi.HR, fmt.Sprintf("人事 %02d", i))
	}
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Kind: "channel", Title: "すぐに終わる"})
	soon := tenancy.DefaultSettings()
	soon.ApprovalTimeoutHours = 1
	w.Draft(soon)
	titles := turn(w.As(webapi.Suzuki).Get("/console").Says(t, 200, fmt.Sprintf("あなたの番 (%d 件)", n))).Titles()
	expect.Is(t, len(titles), subject.WaitingOfPage)
	expect.Same(t, []string{"すぐに終わる", "人事 00"}, titles[:2])
}

// waits makes a request whose policy waits for a member of its channel.
func waits(w *consoletest.World, channel, title string) {
	w.T.Helper()
	w.Later(time.Second)
	asker := []string{webapi.Tanaka, webapi.Sato}[w.Said%2] // one person's open requests are limited
	w.Made(consoletest.Requested{User: asker, Channel: channel, Kind: "channel", Title: title})
	w.Draft(tenancy.DefaultSettings())
}

// owing makes a request whose steps wait along a route.
func owing(w *consoletest.World, title string, stages ...circulation.Stage) {
	w.T.Helper()
	waits(w, webapi.HR, title)
	w.Approve()
	along := ringitest.Along([]string{w.Load().Head.Requester}, stages...)
	w.FinishedOnRoute(tenancy.DefaultSettings(), along, []task.Step{consoletest.Message(1, title)}, "")
}

func testOwedByEnd(t *testing.T, w *consoletest.World) {
	waits(w, webapi.HR, "人事の件")
	waits(w, webapi.General, "全社の件")
	owing(w, "別の人の件", consoletest.Desk("課長", 1, webapi.Sato))
	owing(w, "回覧の件", consoletest.Desk("課長", 1, webapi.Suzuki, webapi.Alex))
	for user, titles := range map[string][]string{webapi.Suzuki: {"人事の件", "全社の件", "回覧の件"},
		webapi.Alex: {"全社の件", "回覧の件"}, webapi.Tanaka: {"人事の件", "全社の件"}, webapi.Guest: nil} {
		home := w.As(user).Get("/console")
		text := turn(home).Text()
		var listed []string
		for _, title := range []string{"人事の件", "全社の件", "回覧の件", "別の人の件"} {
			if n := strings.Count(text, title); n > 0 {
				expect.Is(t, n, 1, "%s: %s", user, title)
				listed = append(listed, title)
			}
		}
		slices.SortStableFunc(listed, func(a, b string) int { return strings.Index(text, a) - strings.Index(text, b) })
		expect.Same(t, titles, listed)
		expect.Is(t, strings.Contains(home.Body, "person=me"), user == webapi.Tanaka || user == webapi.Sato, user)
	}
	w.As(webapi.Guest).Get("/console").Says(t, 200, "承認するものはありません")
	owing(w, "無名の件", consoletest.Desk("承認 1", 2, webapi.Suzuki, webapi.Alex))
	w.As(webapi.Suzuki).Get("/console/tasks").Says(t, 200, "ステップ · 回覧中 0/2 (")
}

// Alex is not in the channel where it was asked for.
func testStandInReads(t *testing.T, w *consoletest.World) {
	owing(w, "代理の一件", consoletest.Desk("課長", 1, webapi.Suzuki))
	page := "/console/tasks/" + w.Ref.ID
	alex := w.As(webapi.Alex)
	alex.Get("/console").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
	d := tenancy.Delegation{TenantID: w.Tenant.ID, Hand: webapi.Alex,
		Principal: webapi.Suzuki, From: tenancy.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}}
	d = expect.Value(w.Console.Store.SetDelegation(t.Context(), d, by, w.Now(), nil))(t)
	alex.Get("/console").Says(t, 200, "代理の一件", "鈴木 一郎 さんの代理")
	alex.Get(page).Says(t, 200, "代理の一件", "あなたの番です", "承認が必要です 鈴木 一郎 さんの代理", "却下して終了")
	w.As(webapi.Suzuki).Get(page).Says(t, 200, "あなたの番です").Lacks(t, "さんの代理")
	w.Later(d.StandIn().Ends.Sub(w.Now()))
	alex = w.As(webapi.Alex)
	alex.Get("/console").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
}

// TestTheListOfRequests runs all tests of that list on one database, each with its own table.
func TestTheListOfRequests(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"an empty one says how to begin":                            testEmptyTasks,
		"people see their own requests and those of their channels": testWhoSeesWhat,
		"filters stay in the address, and a bad one is refused":     testTaskFilters,
		"titles are searched for a thousand at a time":              testTaskSearch,
		"a cursor that is forged or another's is refused and noted": testForeignCursors,
		"what is typed leads to what it names":                      testNamed,
		"titles are not of what was asked first":                    testTitles,
		"one's own requests say what happens next":                  testOwnRequests,
		"a refusal because of somebody names them":                  testWhoIsNamed,
		"while Slack is silent there is no half of it":              testSilentSlack,
	})
}

func testEmptyTasks(t *testing.T, w *consoletest.World) {
	w.As(webapi.Suzuki).Get("/console/tasks").Says(t, 200, "まだ依頼がありません", "@Ringi")
	w.As(webapi.Sato).Get("/console/tasks").Says(t, 200, "参加しているチャンネルの依頼")
	w.As(webapi.Suzuki).Get("/console/tasks?status=failed").Says(t, 200, "条件に合う依頼はありません", "条件を外す")
}

func testWhoSeesWhat(t *testing.T, w *consoletest.World) {
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "佐藤の人事"})
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.General, Kind: "channel", Title: "田中の全社"})
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.DirectMessage(webapi.Tanaka), Kind: "im",
		Title: "田中の内緒"})
	w.Made(consoletest.Requested{User: webapi.Alex, Channel: "C0ELSEWHERE", Kind: "channel", Title: "アレックスのよそ"})
	for user, want := range map[string][]string{
		webapi.Suzuki: {"アレックスのよそ", "田中の内緒", "田中の全社", "佐藤の人事"}, // the administrator
		webapi.Sato:   {"田中の全社", "佐藤の人事"},
		webapi.Tanaka: {"田中の内緒", "田中の全社", "佐藤の人事"},
		webapi.Alex:   {"アレックスのよそ", "田中の全社"},
	} {
		expect.Same(t, want, w.As(user).Get("/console/tasks").Titles())
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
	w.Made(consoletest.Requested{User: webapi.Suzuki, Channel: webapi.HR, Title: "取り下げた", Cancelled: true})
	w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Title: "今日"})
	b := w.As(webapi.Suzuki)
	for query, want := range map[string][]string{
		"status=cancelled": {"取り下げた"}, "person=me": {"取り下げた"}, "person=me&status=failed": nil,
		"status=&person=&q=&utm_source=mail": {"今日", "取り下げた"}, // as an empty form sends it
	} {
		expect.Same(t, want, b.Get("/console/tasks?"+query).Titles())
	}
	for _, query := range []string{"status=pending", "person=sato", "q=" + strings.Repeat("x", subject.MaxSearch+1)} {
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
	search := func(text string) consoletest.Answer {
		return b.Get("/console/tasks?q="+url.QueryEscape(text)).Says(t, 200)
	}
	abc := search("abc")
	expect.Same(t, []string{"ＡＢＣ　Report 905", "ＡＢＣ　Report 605", "ＡＢＣ　Report 305"}, abc.Titles())
	abc.Says(t, 200, "新しい順に 1,000 件を検索しました") // 5 is not among the latest thousand
	expect.Same(t, []string{"ＡＢＣ　Report 605"}, search("ａｂｃ　ｒｅｐｏｒｔ　605").Titles())
	search("report").Says(t, 200, "次のページに続きがあります")
	many := search("残業")
	expect.That(t, len(many.Titles()) == subject.RowsOfPage && many.Link("next") != "", "%d are found",
		len(many.Titles()))
	first := b.Get("/console/tasks").Holds(t, `id="requests" data-live="/console/tasks"`).Titles()
	expect.That(t, len(first) == subject.RowsOfPage && first[0] == "残業 1104", "%d, the newest is %q", len(first),
		first[:1])
	// A member to whom no request belongs learns that there are older ones, and can page to the end.
	alex, pages := w.As(webapi.Alex), 0
	for next := "/console/tasks"; next != ""; pages++ {
		next = alex.Get(next).Lacks(t, "残業 ").Link("next")
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
	w.Console.People.Slack = silent{w.People}
	for _, path := range []string{"/console/tasks?status=", "/console"} {
		w.As(webapi.Sato).Get(path).Says(t, http.StatusServiceUnavailable, "もう一度開く").Lacks(t, "佐藤の依頼").
			Holds(t, `href="`+path+`">もう一度開く`)
	}
}

// testNamed: what somebody types in the list's box leads to the request that it names, by number or id, if they may
// read it; else
// to those whose titles begin so.
func testNamed(t *testing.T, w *consoletest.World) {
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

// testTitles: of what was sent back and drafted again the title says so.
func testTitles(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	w.Later(time.Second)
	w.Redrafted("見積を付けてください")
	const title = "勤怠集計 v2"
	b := w.As(webapi.Suzuki)
	for _, path := range []string{"/console", "/console/tasks", "/console/tasks?q=" + url.QueryEscape("勤怠"),
		w.TaskPage()} {
		b.Get(path).Says(t, 200, title)
		b.In("en").Get(path).Says(t, 200, title)
		b.In("ja")
	}
	b.Get(w.TaskPage()).Holds(t, `<p class="notice warning">⚠️ 却下理由を反映できず、前のバージョンと同じ内容です。</p>`)
	unmarked := ordering("298000")
	unmarked.Mark = nil
	w.AskForSteps(unmarked)
	b.Get("/console").Says(t, 200, "shop__order を実行します").Lacks(t, "¥", "」の v")
	w.Cancel()
	b.Get("/console/tasks").Says(t, 200, title)
}

// testOwnRequests: the list of one's own requests says of each what happens next. What was given back is its
// requester's
// turn: it stands on their home, with why and where, once, and beside no "nothing".
func testOwnRequests(t *testing.T, w *consoletest.World) {
	for _, r := range []consoletest.Requested{{User: webapi.Sato, Title: "発注"}, {User: webapi.Tanaka, Title: "他の人"},
		{User: webapi.Sato, Title: "方針を却下"}} {
		r.Channel, r.Kind = webapi.HR, "channel"
		w.Made(r)
		if w.Draft(tenancy.DefaultSettings()); r.Title == "発注" {
			w.AskForSteps(ordering("298000"))
		}
	}
	w.As(webapi.Suzuki).Acts(aggregate.ActReject, "９月も入れて")
	w.Asked(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "天気は"})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Kind: task.KindUnsupported, Sentence: "月ごとの勤怠をまとめられます。"}, w.Now())
	})
	sato := w.As(webapi.Sato)
	sato.Get("/console").Holds(t, `href="/console/tasks?person=me"`)
	sato.Get("/console/tasks?person=me").Says(t, 200, "方針を却下", "作成中 差し戻されました: 「９月も入れて」— v2 を作っています",
		"月ごとの勤怠をまとめられます。", "¥298,000").Lacks(t, "他の人")
	w.As(webapi.Tanaka).In("en").Get("/console/tasks?person=me").Says(t, 200, "他の人",
		"Waiting Policy · the members of #人事")
	w.MatterAsked()
	w.As(webapi.Suzuki).Acts(aggregate.ActReject, "部長ではなく、課長に送ってください")
	home := sato.Get("/console").Says(t, 200, "差し戻し 倉庫の賃貸 差し戻し理由: 「部長ではなく、課長に送ってください」 ¥3,600,000").
		Lacks(t, "承認するものはありません")
	expect.Is(t, strings.Count(home.Body, w.TaskPage()+`#decide"`), 1, home.Body)
	w.As(webapi.Suzuki).Get("/console").Lacks(t, "倉庫の賃貸")
}
