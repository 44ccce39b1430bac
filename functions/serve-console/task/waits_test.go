package task_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	taskpages "ringi/functions/serve-console/task"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestWhatAPersonOwes(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"stands by its end among what others of the place may decide, once": testOwedByEnd,
		"that is late is not listed":                                        testOwedLate,
		"is found page by page, and the rest after it":                      testManyOwed,
		"is counted to the end of the list":                                 testOwedCounted,
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

// owing makes a request that waits along a route.
func owing(w *consoletest.World, title string, stages ...circulation.Stage) {
	w.T.Helper()
	waits(w, webapi.HR, title)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p, h := *a.Prompt(), a.Head
		w.Routed(stages...)(&p.Gate)
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&p}, Now: w.Now()}, nil
	})
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
	w.Owe(1, webapi.Suzuki, webapi.Alex)
	owing(w, "別の人の件", consoletest.Desk("課長", 1, webapi.Tanaka))
	w.Owe(1, webapi.Tanaka)
	for path, of := range map[string]map[string][]string{
		"?for=me": {webapi.Suzuki: {"人事の件", "全社の件", "登録前の件", "回覧の件"},
			webapi.Alex: {"全社の件", "登録前の件", "回覧の件"}, webapi.Tanaka: {"人事の件", "全社の件", "別の人の件"}, webapi.Guest: {}},
		"": {webapi.Suzuki: {"人事の件", "全社の件", "登録前の件", "回覧の件"}},
		"?for=all": {webapi.Suzuki: {"人事の件", "全社の件", "登録前の件", "回覧の件", "別の人の件"},
			webapi.Alex: {"全社の件", "登録前の件", "回覧の件"}},
		"?few=1&for=me":             {webapi.Suzuki: {"人事の件", "回覧の件"}, webapi.Alex: {"全社の件", "回覧の件"}},
		"?for=me&sort=oldest":       {webapi.Alex: {"全社の件", "登録前の件", "回覧の件"}},
		"?for=me&act=unplanned":     {webapi.Alex: {"全社の件", "登録前の件", "回覧の件"}},
		"?for=me&person=U0SANDALEX": {webapi.Alex: {}},
	} {
		for user, titles := range of {
			b := w.As(user)
			page := b.Get("/console/approvals" + path)
			lists(t, page, titles...)
			for _, title := range []string{"人事の件", "全社の件", "登録前の件", "回覧の件", "別の人の件"} {
				listed := strings.Contains(page.Text(), title)
				expect.That(t, listed == strings.Contains(strings.Join(titles, " "), title) || strings.Contains(path, "few"),
					"%s of %s: %s: %v", path, user, title, listed)
			}
		}
	}
	w.As(webapi.Suzuki).Get("/console/approvals").Says(t, 200, "あなたの番 すべて 絞り込み")
	w.As(webapi.Alex).Get("/console/approvals?for=me").Says(t, 200, "課長(あと1人): 鈴木 一郎・Alex Kim")
	first := w.As(webapi.Alex).Get("/console/approvals?next=x")
	page := w.As(webapi.Alex).Get(first.To)
	page.Says(t, 200, "全社の件", "承認待ち ›")
	after := w.As(webapi.Alex).Get("/console/approvals?next=" + path.Base(first.To))
	w.As(webapi.Alex).Get(after.To).Says(t, 200, "登録前の件")
	w.As(webapi.Guest).Get("/console/approvals?next=x").Says(t, 200, "あなたの番のものはありません")
}

func testOwedLate(t *testing.T, w *consoletest.World) {
	onRoute(w, consoletest.Desk("課長", 1, webapi.Alex), consoletest.Desk("部長", 1, webapi.Tanaka, webapi.Suzuki))
	w.Owe(1, webapi.Alex)
	w.ChangeSteps(w.Acts(circulation.Stamp, 1, webapi.Alex))
	alex, suzuki := w.As(webapi.Alex), w.As(webapi.Suzuki)
	lists(t, suzuki.Get("/console/approvals?for=me"), "部長(あと1人)")
	w.Owe(2, webapi.Tanaka, webapi.Suzuki)
	lists(t, suzuki.Get("/console/approvals?for=me"), "部長(あと1人)")
	w.ChangeSteps(w.Acts(circulation.Stamp, 2, webapi.Tanaka))
	suzuki.Get("/console/approvals?for=me").Lacks(t, "部長")
	onRoute(w, consoletest.Desk("係長", 1, webapi.Alex))
	w.Owe(1, webapi.Alex)
	w.Cancel()
	alex.Get("/console/approvals?for=me").Lacks(t, "係長")
}

func testManyOwed(t *testing.T, w *consoletest.World) {
	waits(w, webapi.General, "全社の件")
	many := taskpages.OwedOfPage + 3
	for n := range many {
		owing(w, fmt.Sprintf("回覧 %02d 件", n), consoletest.Desk("課長", 1, webapi.Alex))
		w.Owe(1, webapi.Alex)
	}
	b := w.As(webapi.Alex)
	rows := func(p consoletest.Answer) int { return strings.Count(p.Body, "<tr data-row>") }
	for _, path := range []string{"/console/approvals", "/console/approvals?for=me"} {
		first := b.Get(path)
		lists(t, first, "回覧 00 件", fmt.Sprintf("回覧 %02d 件", taskpages.OwedOfPage-1))
		expect.That(t, rows(first) == taskpages.OwedOfPage && !strings.Contains(first.Text(), "全社の件"), "%d rows", rows(first))
		second := b.Get(first.Link("next"))
		lists(t, second, "全社の件", fmt.Sprintf("回覧 %02d 件", taskpages.OwedOfPage), fmt.Sprintf("回覧 %02d 件", many-1))
		expect.Is(t, rows(second), 4, "rows of the second page")
		b.Get(second.Link("next")).Says(t, 200, "このページにはありません。").Lacks(t, "あなたの番のものはありません")
		back := b.Get(second.Link("prev"))
		expect.That(t, rows(back) == rows(first) && strings.Contains(back.Text(), "回覧 00 件"), "%d rows", rows(back))
	}
	few := b.Get("/console/approvals?few=1&for=me")
	lists(t, few, "回覧 00 件")
	for _, cursor := range []string{"owed.x", "owed.owed.", "x", "owed. "} {
		b.Get("/console/approvals?cursor="+url.QueryEscape(cursor)).Says(t, http.StatusBadRequest)
	}
	first := b.Get("/console/approvals?for=all").Link("next")
	w.As(webapi.Suzuki).Get(first).Says(t, http.StatusBadRequest)
}

// What others of the workspace are asked fills the pages after the first.
func testOwedCounted(t *testing.T, w *consoletest.World) {
	owed := taskpages.OwedOfPage - 9
	for n := range owed {
		owing(w, fmt.Sprintf("回覧 %02d 件", n), consoletest.Desk("課長", 1, webapi.Alex))
		w.Owe(1, webapi.Alex)
	}
	b := w.As(webapi.Alex)
	expect.Is(t, len(b.Get("/console/approvals?for=me").Titles()), owed)
	waits(w, webapi.General, "全社の件")
	last := b.Get("/console/approvals?for=me")
	lists(t, last, "回覧 00 件", "全社の件")
	expect.Is(t, len(last.Titles()), owed+1)
}

func TestWhatWaitsForStandIns(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"comes after their own, each once, and they may read it": testStandInReads,
	})
}

// Alex is not in the channel where it was asked for.
func testStandInReads(t *testing.T, w *consoletest.World) {
	owing(w, "代理の一件", consoletest.Desk("課長", 1, webapi.Suzuki))
	w.Owe(1, webapi.Suzuki)
	page := "/console/tasks/" + w.Ref.ID
	alex := w.As(webapi.Alex)
	alex.Get("/console/approvals?for=all").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
	d := tenancy.Delegation{TenantID: w.Tenant.ID, Hand: webapi.Alex,
		Principal: webapi.Suzuki, From: tenancy.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}}
	d = expect.Value(w.Console.Store.SetDelegation(t.Context(), d, by, w.Now(), nil))(t)
	lists(t, alex.Get("/console/approvals?for=all"), "代理の一件")
	alex.Get("/console/approvals?for=me").Says(t, 200, "代理の一件", "鈴木 一郎 さんの代理")
	alex.Get(page).Says(t, 200, "代理の一件", "あなたの番です", "承認が必要です 鈴木 一郎 さんの代理", "終わりにする")
	w.As(webapi.Suzuki).Get(page).Says(t, 200, "あなたの番です").Lacks(t, "さんの代理")
	w.Later(d.StandIn().Ends.Sub(w.Now()))
	alex = w.As(webapi.Alex)
	alex.Get("/console/approvals?for=all").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
}
