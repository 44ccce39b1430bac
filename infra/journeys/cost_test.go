package journeys

import (
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestATaskThatCostWhatItMayIsCancelled(t *testing.T) {
	for _, tt := range []struct {
		name, text, card string
		shows            []string
		prompts          int
	}{
		{"by reading the request", "今月の勤怠をまとめて demo: cost 3.50", "CARD#task", []string{"月の勤怠集計", "費用 $3.50、上限 $3.00"}, 0},
		{"by drafting", "今月の勤怠をまとめて demo: cost 2.25", "CARD#prompt#0001", []string{"📝 実行方針(キャンセル)", "費用 $4.50、上限 $3.00"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			driver.Settings(t, s, func(x *tenancy.Settings) { x.MaxCostUSD = 3 })
			d := driver.Ask(t, s, webapi.Sato, tt.text)
			card := d.Card(tt.card, "費用が上限に達したため")
			for _, want := range tt.shows {
				if !strings.Contains(driver.Face(card), want) {
					t.Errorf("the card lacks %q: %s", want, driver.Face(card))
				}
			}
			if driver.Color(card) != "888888" || strings.Contains(driver.Face(card), "approve_") {
				t.Errorf("the card is %s: %s", driver.Color(card), driver.Face(card))
			}
			d.RunsEnd()
			a := d.Load()
			if a.Task.Status != task.TaskCancelled || len(a.Prompts) != tt.prompts || len(a.Processes) != 0 {
				t.Errorf("the task is %s, %d prompts, %d processes", a.Task.Status, len(a.Prompts), len(a.Processes))
			}
			expect.Same(t, []string{"task.created by system", "task.cancelled by system"}, d.Audit())
		})
	}
}

func TestAnExecutionStopsAtWhatItsTaskMayCost(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.MaxCostUSD = 10 })
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて demo: cost 3.50 plan")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	driver.Settings(t, s, func(x *tenancy.Settings) { x.MaxCostUSD = 3 })
	calls := s.Vendors.Calls("list_employees")
	d.Click(webapi.Suzuki, "CARD#process#0001", "approve_process")
	card := d.Card("CARD#execution", "❌ 実行失敗")
	if !strings.Contains(driver.Face(card), "費用 $3.50、上限 $3.00") || s.Vendors.Calls("list_employees") != calls {
		t.Errorf("%d calls were made: %s", s.Vendors.Calls("list_employees")-calls, driver.Face(card))
	}
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Until("a second attempt ends as the first", func(a *task.Aggregate) bool { return a.Execution().Attempt == 2 && a.Head.Ended != nil })

	driver.Settings(t, s, func(x *tenancy.Settings) { x.MaxCostUSD = 0 })
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
	a := d.Load()
	var sum aggregate.Usage
	for name, u := range map[string]*aggregate.Usage{
		"extract.ja.": a.Task.Usage, "draft.ja.": a.Prompt().Usage, "plan.ja.": a.Process().Usage, "summarize.ja.": a.Execution().Usage,
	} {
		if u == nil || !strings.HasPrefix(u.Prompt, name) || u.Calls != 1 || u.Input == 0 || u.Output == 0 || u.Model != "demo" {
			t.Fatalf("%s: %+v", name, u)
		}
		sum = sum.Plus(*u)
	}
	if got := a.Used(); got.Calls != 4 || got.Input != sum.Input || got.Output != sum.Output || got.Cached != sum.Cached || got.Cost != aggregate.USD(3.5) {
		t.Errorf("the task's sum is %+v, its rows' %+v", got, sum)
	}
	want := []string{
		"task.created by system", "prompt.approved by " + webapi.Suzuki, "process.approved by " + webapi.Suzuki,
		"execution.started by system", "execution.failed by system", "execution.retried by " + webapi.Sato,
		"execution.started by system", "execution.failed by system", "execution.retried by " + webapi.Sato,
		"execution.started by system", "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
}
