package task_test

import (
	"cmp"
	"net/url"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// TestAfterACorrection runs all tests of corrected requests on one database, each with its own table.
func TestAfterACorrection(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"titles are not of what was asked first":      testCorrectedTitles,
		"the requester is told what only they can do": testTurnOfTheRequester,
		"what an edit led to says so":                 testDraftedOfAnEdit,
	})
}

// sentBack has a policy of Sato's sent back and drafted again.
func sentBack(w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	w.Later(time.Second)
	w.Redrafted("見積を付けてください")
}

func testCorrectedTitles(t *testing.T, w *consoletest.World) {
	sentBack(w)
	const title = "勤怠集計 v2"
	b := w.As(webapi.Suzuki)
	b.Get("/console/approvals?for=all").Says(t, 200, title)
	for _, path := range []string{"/console/tasks", "/console/tasks?q=" + url.QueryEscape("勤怠"), w.TaskPage()} {
		b.Get(path).Says(t, 200, title)
	}
	w.As(webapi.Sato).Get("/console").Says(t, 200, title)
	w.As(webapi.Sato).In("en").Get("/console").Says(t, 200, "勤怠集計 v2")
	b.Get(w.TaskPage()).Holds(t,
		`<p class="notice warning">⚠️ 変更の理由があったのに、前のバージョンから何も変わっていません。</p>`)
	w.AskForSteps(ordering(1, "298000"))
	b.Get("/console/approvals?for=all").Says(t, 200, "発注 「 Acme 」に「 Laptop 」を発注します", "¥298,000").Lacks(t,
		"勤怠集計")
	b.Get("/console/tasks").Says(t, 200, "発注 "+title, "¥298,000")
	w.Cancel()
	b.Get("/console/tasks").Says(t, 200, title)

	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	unmarked := ordering(1, "1")
	unmarked.Mark = nil
	w.AskForSteps(unmarked)
	b.Get("/console/approvals?for=all").Says(t, 200, "shop__order", "勤怠集計").Lacks(t, "」の v")
}

// edit has the message of Sato's request say something else, and that drafted anew.
func edit(t *testing.T, w *consoletest.World, text string) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: w.By.Team}
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		is := *a.Request
		is.Text = text
		return a.Correct(is, "1776675700.000000", false, by, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Redraft(a.Correction.Saying(), by, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "部の勤怠集計", Description: text, Priority: task.Medium,
			TaskType: task.TypeStandard}, w.Now())
	})
	set := expect.Value(w.Store.Settings(t.Context(), w.Tenant.ID))(t)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, "方針\n- 対象: 人事部だけ", set, w.Now())
	})
}

func testDraftedOfAnEdit(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	was := cmp.Or(w.Load().Request.Text, "(なし)")
	edit(t, w, "人事部の勤怠だけをまとめて")
	const said, opened = "さんが依頼を変更: 「", `<details id="back" open>`
	b := w.As(webapi.Suzuki)
	b.Get(w.TaskPage()).Holds(t, opened).Says(t, 200, "v2 は、編集された依頼で作り直したものです", said+was+"」→「人事部の勤怠だけをまとめて」",
		"前のバージョンとの違い").Lacks(t, "は却下されました")

	w.As(webapi.Suzuki).In("en").Get(w.TaskPage()).Says(t, 200, "v2 is drafted from the edited request")

	sentBack(w)
	edit(t, w, "見積を付けました。今月の勤怠をまとめて")
	b.Get(w.TaskPage()).Holds(t, opened).Says(t, 200, "v1 は却下されました", "見積を付けてください", said,
		"」→「見積を付けました。今月の勤怠をまとめて」", "前のバージョンとの違い")
}

func testTurnOfTheRequester(t *testing.T, w *consoletest.World) {
	const edits = "✏️ 却下理由「見積を付けてください」: 元のメッセージを書き直す"
	const redrafts = "✏️ 編集した文はまだ反映されていません"
	sentBack(w)
	everywhere := func(has, hasNot string) {
		t.Helper()
		for _, path := range []string{"/console", "/console/tasks", w.TaskPage()} {
			w.As(webapi.Sato).Get(path).Says(t, 200, has).Lacks(t, hasNot)
			w.As(webapi.Suzuki).Get(path).Lacks(t, has)
		}
	}
	everywhere(edits, redrafts)
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		is := *a.Request
		is.Text = "見積を付けました。今月の勤怠をまとめて"
		return a.Correct(is, "1776675700.000000", false, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato,
			Team: w.By.Team}, w.Now())
	})
	everywhere(redrafts, edits)
	w.As(webapi.Sato).Get("/console").Holds(t, `#decide">🔁 変更後の文で作り直す`)
	w.As(webapi.Sato).In("en").Get("/console").Says(t, 200, "Your edited message isn’t used yet")
}
