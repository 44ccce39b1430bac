package journeys

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func TestAFailingToolIsShownAndTriedAgain(t *testing.T) {
	s := start(t)
	s.Vendors.Fail("list_attendance", http.StatusBadRequest, true)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	failed := d.Card("CARD#execution", "❌ 実行失敗")
	for _, want := range []string{"✅ 1. *従業員一覧を取得*", "❌ 2. *勤怠データ取得*", "⬜ 3. *残業時間計算*", "*エラー*"} {
		if !strings.Contains(driver.Face(failed), want) {
			t.Errorf("the failed card lacks %q: %s", want, driver.Face(failed))
		}
	}
	calls := s.Vendors.Calls("list_employees")
	s.Vendors.Fail("list_attendance", 0, false)
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
	if n := s.Vendors.Calls("list_employees"); n != calls {
		t.Errorf("a done step was called again: %d calls, then %d", calls, n)
	}
	a := d.Load()
	if e := a.Execution(); e.Attempt != 2 || !a.StepOf(e, 1).Reused || len(d.Cards("CARD#execution")) != 1 {
		t.Errorf("attempt %d, first step reused: %v", e.Attempt, a.StepOf(e, 1).Reused)
	}
	want := []string{
		"task.created by system", "prompt.approved by " + webapi.Suzuki, "process.approved by " + webapi.Suzuki,
		"execution.started by system", "execution.failed by system", "execution.retried by " + webapi.Sato,
		"execution.started by system", "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
}

func TestACancelStopsBeforeTheNextCall(t *testing.T) {
	s := start(t)
	s.Vendors.Hang("list_employees", time.Minute)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "🔄 1. *従業員一覧を取得*")
	calls := s.Vendors.Calls("list_attendance")
	d.Click(webapi.Tanaka, "CARD#execution", "cancel_execution")
	card := d.Card("CARD#execution", "⏹️ <@"+webapi.Tanaka+"> により中止されました")
	if driver.Color(card) != "888888" {
		t.Errorf("the cancelled card is %s", driver.Color(card))
	}
	s.Vendors.Hang("list_employees", 0)
	d.RunsEnd()
	a := d.Until("the call in flight is settled", func(a *task.Aggregate) bool {
		for _, x := range a.Steps {
			if x.Status == task.StepRunning {
				return false
			}
		}
		return true
	})
	if n := s.Vendors.Calls("list_attendance"); n != calls || len(a.Steps) != 1 {
		t.Errorf("after the cancel %d calls began, %d steps have rows", n-calls, len(a.Steps))
	}
	if a.Task.Status != task.TaskCancelled || a.Execution().Status != task.ExecutionCancelled {
		t.Errorf("task %s, execution %s", a.Task.Status, a.Execution().Status)
	}
	audit := d.Audit()
	if last := audit[len(audit)-1]; last != "execution.cancelled by "+webapi.Tanaka {
		t.Errorf("the audit log ends with %s", last)
	}
}

func TestAStepThatAsksForAPersonShowsItsArguments(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて demo: human check")
	d.Approve(webapi.Suzuki)
	gate := "CARD#step#0001#001#04"
	card := d.Card(gate, "approve_step")
	if !strings.Contains(driver.Face(card), "🔍 実行前の確認") || !strings.Contains(driver.Face(card), "ringi-demo-sheet") {
		t.Errorf("the gate's card does not show what would be called: %s", driver.Face(card))
	}
	writes := s.Vendors.Calls("write_rows_to_google_sheet")
	d.Click(webapi.Tanaka, gate, "approve_step")
	const second = "CARD#step#0001#001#05"
	d.Card(second, "approve_step")
	if n := s.Vendors.Calls("write_rows_to_google_sheet"); n != writes+1 {
		t.Errorf("the approved write was called %d times", n-writes)
	}
	d.Reject(webapi.Suzuki, second, "reject_step", "宛先が違います")
	a := d.Until("the task is cancelled", func(a *task.Aggregate) bool { return a.Head.Ended != nil })
	if a.Execution().Status != task.ExecutionCancelled || a.StepOf(a.Execution(), 4).Status != task.StepCompleted {
		t.Errorf("execution %s", a.Execution().Status)
	}
	d.RunsEnd()
}

func TestAFunctionKilledDuringAReadChangesNothing(t *testing.T) {
	s := start(t)
	s.Vendors.Hang("list_employees", time.Minute)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "🔄 1.")
	s.Lambda.Kill("ExecuteProcessFunction")
	s.Vendors.Hang("list_employees", 0)
	d.ExpireLease("STEP#0001#001#01")
	d.Card("CARD#execution", "✅ 実行完了")
	if a := d.Load(); a.Execution().Attempt != 1 {
		t.Errorf("it took %d attempts", a.Execution().Attempt)
	}
}

func TestAFunctionKilledDuringAWriteSaysSo(t *testing.T) {
	s := start(t)
	s.Vendors.Hang("write_rows_to_google_sheet", time.Minute)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "🔄 4.")
	s.Lambda.Kill("ExecuteProcessFunction")
	s.Vendors.Hang("write_rows_to_google_sheet", 0)
	calls := s.Vendors.Calls("write_rows_to_google_sheet")
	d.ExpireLease("STEP#0001#001#04")
	card := d.Card("CARD#execution", "結果不明")
	if !strings.Contains(driver.Face(card), "retry_execution") {
		t.Errorf("nobody can decide what to do: %s", driver.Face(card))
	}
	if n := s.Vendors.Calls("write_rows_to_google_sheet"); n != calls {
		t.Fatalf("a write with unknown outcome was called again by itself")
	}
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
	if n := s.Vendors.Calls("write_rows_to_google_sheet"); n != calls+1 {
		t.Errorf("after the person asked again it was called %d times", n-calls)
	}
}

// Rows of a tab below the written table stay, and the finished card says so. tabOf returns the tab that the planned
// steps write to.
func tabOf(t *testing.T, d *driver.Request) string {
	t.Helper()
	var to struct {
		Tab string `json:"sheet"`
	}
	for _, step := range d.Load().Process().Steps {
		if step.Tool == "write_rows_to_google_sheet" {
			expect.NoError(t, json.Unmarshal([]byte(step.ToolInput), &to))
		}
	}
	return to.Tab
}

func TestAFinishedCardSaysWhatStandsBelowItsTable(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "2026年8月の勤怠をまとめて")
	d.Card("CARD#prompt#0001", "approve_prompt")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "A1 から上書き。表の下と右にあるものは残ります")
	tab := tabOf(t, d)
	expect.NoError(t, s.Vendors.Add(tab, 1000, 26))
	expect.NoError(t, s.Vendors.Put("'"+tab+"'!A60:B62", [][]any{{"鈴木", 1}, {"", ""}, {"確認済み"}}))
	d.Click(webapi.Suzuki, "CARD#process#0001", "approve_process")
	d.Card("CARD#execution", "書き込んだ表の下に、以前の行が 2 行残っています")
	if rows := s.Vendors.Rows(vendors.Sheet, tab); len(rows) != 62 || rows[61][0] != "確認済み" {
		t.Errorf("%d rows are left", len(rows))
	}
}
