package task_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	taskpages "ringi/functions/serve-console/task"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestTheHome(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"what waits is listed, the oldest first, with what it would do": testApprovals,
		"a step's check tells what its plan became":                     testResolvedApproval,
		"what waits for me is what my click would decide":               testForMe,
		"many stand on pages, what is due first before all":             testManyWait,
		"nothing that people or models write runs in the lists":         testListsAreEscaped,
		"another workspace's approvals are not there":                   testForeignApprovals,
	})
}

func testApprovals(t *testing.T, w *consoletest.World) {
	s := tenancy.DefaultSettings()
	w.As(webapi.Suzuki).Get("/console").Says(t, 200, "あなたの番のものはありません")
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "先の依頼"})
	w.Draft(s)
	w.Later(time.Minute)
	later := w.Made(consoletest.Requested{User: webapi.Tanaka, Channel: webapi.HR, Kind: "channel", Title: "後の依頼",
		Priority: task.High})
	w.Draft(s)
	w.AskForSteps(consoletest.Message(1, "締切は金曜です"), consoletest.Message(2, "二通目"))
	got := w.As(webapi.Suzuki).Get("/console").Says(t, 200, "先の依頼", "方針", "連絡",
		"田中 恵", "DM を送ります", "⚠️", "「締切は金曜です」", "ほか 1 ステップ", "#人事", "佐藤 花子", "期限", "あなたの番")
	text := got.Text()
	expect.That(t, strings.Index(text, "先の依頼") <= strings.Index(text, "DM を送ります"), "the older one is not first")
	before, after, _ := strings.Cut(text, "DM を送ります")
	urgent := !strings.Contains(before, "High") && strings.Contains(after, "🔴 High")
	expect.That(t, urgent, "which one is urgent is not said")
	w.As(webapi.Suzuki).Get("/console/tasks/"+later).Says(t, 200, "優先度", "🔴 High")
	w.As(webapi.Suzuki).Get("/console/tasks").Says(t, 200, "🔴 High")
	got.Holds(t, `href="/console/tasks/`+later+`"`).Lacks(t, "<input type=\"checkbox\"") // one is decided at a time
	w.As(webapi.Suzuki).In("en").Get("/console").Says(t, 200, "Message", "Sends", "DM", "Policy",
		"Your turn", "佐藤 花子")
	w.Cancel()
	w.As(webapi.Suzuki).Get("/console").Says(t, 200, "先の依頼").Lacks(t, "DM を送ります")
}

// paying is a step whose own check moves money.
func paying(order int, arguments string) task.Step {
	s := ringitest.Step(order, "bank.pay", aggregate.Write, arguments)
	s.RequiresHumanCheck = true
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
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.OpenStepGate(a.Head.Run, 2, tt.is, "hash", nil, w.Now())
		})
		got := w.As(webapi.Suzuki).Get("/console")
		if got.Says(t, 200, tt.says...); tt.is.JSON != "" {
			got.Lacks(t, "ステップ1の結果")
		}
	}
}

func testListsAreEscaped(t *testing.T, w *consoletest.World) {
	s := tenancy.DefaultSettings()
	for n, x := range consoletest.Payloads {
		w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: x})
		w.Draft(s)
		if n == 0 {
			w.AskForSteps(consoletest.Message(1, strings.Join(consoletest.Payloads, " ")))
		}
	}
	w.People.Called[webapi.Sato] = consoletest.Payloads[1]
	w.People.Channel = consoletest.Payloads[2]
	for _, path := range []string{"/console/tasks", "/console"} {
		got := w.As(webapi.Suzuki).Get(path).Says(t, 200).Holds(t, "&lt;img src=x onerror=alert(1)&gt;",
			"&lt;svg/onload=alert(1)&gt;")
		consoletest.Harmless(t, path, got)
	}
	for _, x := range consoletest.Payloads {
		q := url.Values{}
		for _, field := range []string{"q", "status", "person", "from", "to", "cursor", "of", "page", "done"} {
			q.Set(field, x)
		}
		for _, path := range []string{"/console/tasks?", "/console?"} {
			consoletest.Harmless(t, path, w.As(webapi.Sato).Get(path+q.Encode()))
		}
	}
}

func testForeignApprovals(t *testing.T, w *consoletest.World) {
	other := w.Found("T0OTHER", webapi.Suzuki)
	s := tenancy.DefaultSettings()
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "うちの件"})
	w.Draft(s)
	w.Of(other, webapi.Suzuki).Get("/console").Says(t, 200, "あなたの番のものはありません").Lacks(t, "うちの件")
}

// ordering is a step that orders a laptop from Acme for an amount of yen.
func ordering(amount string) task.Step {
	s := consoletest.Message(1, "")
	s.Tool, s.ToolInput = "shop__order", aggregate.JSON(`{"supplier":"Acme","item":"Laptop","total":`+amount+`}`)
	s.Mark = &rules.Mark{Version: s.ToolVersion, How: rules.HowSum, Pointers: []string{"/total"}, Currency: "JPY"}
	return s
}

func testForMe(t *testing.T, w *consoletest.World) {
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "人事の件"})
	s := w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Alex},
			Usergroups: []string{webapi.Approvers}}
		s.AllowSelfApproval = false
	})
	w.Draft(s)
	w.Made(consoletest.Requested{User: webapi.Alex, Channel: "C0ELSEWHERE", Kind: "channel", Title: "営業の件"})
	w.Draft(s)
	for user, want := range map[string][]string{
		webapi.Suzuki: {"人事の件", "営業の件"}, // of the group
		webapi.Alex:   {"人事の件"},         // not his own
		webapi.Sato:   nil,
	} {
		got := w.As(user).Get("/console").Says(t, 200, fmt.Sprintf("あなたの番 %d", len(want)))
		for _, title := range []string{"人事の件", "営業の件"} {
			expect.Is(t, strings.Contains(got.Text(), title), slices.Contains(want, title), "%s: %s is listed", user, title)
		}
	}
}

func testManyWait(t *testing.T, w *consoletest.World) {
	const n = taskpages.WaitingOfPage + 2
	for i := range n {
		r := consoletest.Requested{User: []string{webapi.Tanaka, webapi.Sato}[i%2], Channel: webapi.HR, Kind: "channel",
			Title: fmt.Sprintf("人事 %02d", i)}
		s := tenancy.DefaultSettings()
		if i == n-1 {
			s.ApprovalTimeoutHours = 1
		}
		w.Made(r)
		w.Draft(s)
		w.Later(time.Second)
	}
	b := w.As(webapi.Suzuki)
	first := b.Get("/console").Says(t, 200, fmt.Sprintf("あなたの番 %d", n))
	titles := first.Titles()
	expect.That(t, len(titles) == taskpages.WaitingOfPage && titles[0] == fmt.Sprintf("人事 %02d", n-1) &&
		titles[1] == "人事 00", "%d, the first is %v", len(titles), titles[:1])
}

func TestWhatAPersonOwes(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"stands by its end among what others of the place may decide, once": testOwedByEnd,
	})
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

// lists checks which of these titles a page has, in this order, each once.
func lists(t *testing.T, page consoletest.Answer, titles ...string) {
	t.Helper()
	at, text := -1, page.Text()
	for _, title := range titles {
		i := strings.Index(text, title)
		expect.That(t, i > at && strings.Count(text, title) == 1, "%s at %d of %s", title, i, text)
		at = i
	}
}

func testOwedByEnd(t *testing.T, w *consoletest.World) {
	waits(w, webapi.HR, "人事の件")
	waits(w, webapi.General, "全社の件")
	owing(w, "登録前の件", consoletest.Desk("課長", 1, webapi.Suzuki, webapi.Alex))
	owing(w, "回覧の件", consoletest.Desk("課長", 1, webapi.Suzuki, webapi.Alex))
	owing(w, "別の人の件", consoletest.Desk("課長", 1, webapi.Sato))
	for user, titles := range map[string][]string{webapi.Suzuki: {"人事の件", "全社の件", "登録前の件", "回覧の件"},
		webapi.Alex: {"全社の件", "登録前の件", "回覧の件"}, webapi.Tanaka: {"人事の件", "全社の件"}, webapi.Guest: nil} {
		page := w.As(user).Get("/console")
		lists(t, page, titles...)
		for _, title := range []string{"人事の件", "全社の件", "登録前の件", "回覧の件", "別の人の件"} {
			expect.Is(t, strings.Contains(page.Text(), title), slices.Contains(titles, title), "%s: %s", user, title)
		}
	}
	w.As(webapi.Alex).Get("/console").Says(t, 200, "課長(あと1人): 鈴木 一郎・Alex Kim")
	w.As(webapi.Guest).Get("/console").Says(t, 200, "あなたの番のものはありません")
}

func TestWhatWaitsForStandIns(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{"comes after their own, each once, and they may read it": testStandInReads})
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
