package task_test

import (
	"net/url"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
)

// TestAfterAReason runs all tests of later versions on one database, each with its own table.
func TestAfterAReason(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"titles are not of what was asked first":      testCorrectedTitles,
		"the requester is told what only they can do": testTurnOfTheRequester,
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

func testTurnOfTheRequester(t *testing.T, w *consoletest.World) {
	const edits = "✏️ 却下理由「見積を付けてください」: 元のメッセージを書き直す"
	sentBack(w)
	for _, path := range []string{"/console", "/console/tasks", w.TaskPage()} {
		w.As(webapi.Sato).Get(path).Says(t, 200, edits)
		w.As(webapi.Suzuki).Get(path).Lacks(t, edits)
	}
}
