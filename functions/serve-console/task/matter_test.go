package task_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func TestTheFormThatAsksForADecision(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"makes one request, however often it is sent":      testMatterOnce,
		"says what is wrong, and nothing typed is lost":    testMatterWrong,
		"leads to the register and the sheet, by a number": testMatterRegistered,
	})
}

// matterForm is the page's form, filled in.
func matterForm(b *consoletest.Browser, channel string) url.Values {
	_, key, _ := strings.Cut(b.Get("/console/decisions/new").Body, `name="key" value="`)
	key, _, _ = strings.Cut(key, `"`)
	return url.Values{"key": {key}, "matter": {"契約"}, "title": {"倉庫の賃貸"}, "amount": {"３６０万円"}, "currency": {"JPY"},
		"description": {"在庫が\r\n増えたため。"}, "channel": {channel}}
}

// asked sends the form, and returns the id of the request that it made.
func asked(t *testing.T, b *consoletest.Browser, form url.Values) string {
	t.Helper()
	a := b.Post("/console/decisions", form)
	id, done := strings.CutSuffix(strings.TrimPrefix(a.To, "/console/tasks/"), "?done=matter_asked")
	expect.Must(t, a.Status == http.StatusSeeOther && done && aggregate.ValidID(id), "%d %s: %s", a.Status, a.To, a.Body)
	return id
}

func testMatterOnce(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Sato)
	b.Get("/console/tasks").Holds(t, `href="/console/decisions/new"`)
	b.Get("/console/decisions/new").Says(t, 200, "決裁を求める", "支出", "その他", "内容と理由")
	form := matterForm(b, webapi.HR)
	id := asked(t, b, form)
	expect.Is(t, asked(t, b, form), id)
	r := expect.Value(w.Store.Load(t.Context(), task.RefOf(w.Tenant.ID, id)))(t).Request
	expect.Same(t, &task.Matter{Kind: "契約", Title: "倉庫の賃貸", Amount: "3600000", Currency: "JPY",
		Description: "在庫が\n増えたため。"}, r.Matter)
	expect.That(t, r.User == webapi.Sato && r.Channel == webapi.HR, "%+v", r)
	b.In("en").Get("/console/decisions/new").Says(t, 200, "Ask for a decision", "Details and reasons")
}

func testMatterWrong(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Sato)
	for field, says := range map[string][2]string{"matter": {"宇宙", "一覧から"}, "title": {" ", "150 文字"},
		"amount": {"0", "0 より大きい"}, "currency": {"XAU", "JPY, USD, EUR"}, "description": {"", "3000 文字"},
		"channel": {"C0OTHERS", "招待"}} {
		form := matterForm(b, "")
		form.Set(field, says[0])
		page := b.Post("/console/decisions", form)
		page.Says(t, http.StatusUnprocessableEntity, "入力内容を確認してください。", says[1])
		if field != "title" {
			page.Holds(t, "倉庫の賃貸")
		}
	}
	form := matterForm(b, "")
	form.Set("key", "x")
	expect.That(t, b.Post("/console/decisions", form).Status >= 400, "a form without its key is read")
}

func testMatterRegistered(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	w.Ref = task.RefOf(w.Tenant.ID, asked(t, w.As(webapi.Sato), matterForm(w.As(webapi.Sato), webapi.HR)))
	s := w.SettingsNow()
	do := func(decide func(a *task.Aggregate, m *task.Matter) (aggregate.Change, error)) {
		w.Later(time.Second)
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return decide(a, a.Matter()) })
	}
	do(func(a *task.Aggregate, m *task.Matter) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: m.Title, Description: m.Description, Priority: task.Medium,
			TaskType: task.TypeStandard}, w.Now())
	})
	do(func(a *task.Aggregate, _ *task.Matter) (aggregate.Change, error) {
		return a.FinishPrompt(1, a.Request.Text, s, w.Now())
	})
	do(func(a *task.Aggregate, _ *task.Matter) (aggregate.Change, error) {
		return a.ApproveUnasked(a.Prompt().ID, w.Now())
	})
	do(func(a *task.Aggregate, m *task.Matter) (aggregate.Change, error) {
		return a.FinishProcess(1, m.Steps("ja", "v1"), "", s, w.Now())
	})
	b.Get(w.TaskPage()).Says(t, 200, "契約 の決裁を求めます", "¥3,600,000", "もう一度フォームから")
	expect.Is(t, b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Status, http.StatusSeeOther)
	year := 0
	do(func(a *task.Aggregate, _ *task.Matter) (aggregate.Change, error) {
		settled, _ := a.Unnumbered()
		year = s.FiscalYear(settled)
		first, err := a.StartNumbered(1, task.Series{Year: year}, w.Now())
		if err != nil {
			return first, err
		}
		step := a.Process().Steps[0]
		return a.ClaimAfter(first, 1, task.Call{Order: 1, Arguments: aggregate.Blob{JSON: step.ToolInput},
			ArgumentsHash: aggregate.HashOf(string(step.ToolInput)), Tool: task.ToolRef{Name: step.Tool}})
	})
	do(func(a *task.Aggregate, _ *task.Matter) (aggregate.Change, error) {
		return a.CompleteExecution(1, "決裁を記録しました。", w.Now())
	})
	number := fmt.Sprintf("%d-000001", year)
	b.Get("/console/tools").Lacks(t, "/console/tools/marks/record_decision")
	b.Get("/console/tools/marks/record_decision").Says(t, http.StatusNotFound)
	b.Get(w.TaskPage()).Says(t, 200, number)
	b.Get("/console/register?by=decisions").Says(t, 200, number, "決裁 倉庫の賃貸", "¥3,600,000", "鈴木")
	b.Get("/console/register/file.csv?by=decisions").Holds(t, number, `"決裁","倉庫の賃貸"`, `"3600000","JPY"`)
	b.Get("/console/register/"+number).Says(t, 200, number, "倉庫の賃貸", "契約 の決裁", "¥3,600,000", "鈴木", "在庫が")
}
