package journeys

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/expect"
	"ringi/shared/task"
)

// rule saves a tool's constraints in the sandbox's panel, and takes them away when the test ends.
func rule(t *testing.T, s *stack.Stack, tool, constraints string) (status int, answer string) {
	t.Helper()
	put := func(constraints string) (int, string) {
		body := expect.Value(json.Marshal(map[string]any{"user": workspace.Suzuki, "tool": tool, "allowed": true, "constraints": json.RawMessage(constraints)}))(t)
		r := expect.Value(http.NewRequest(http.MethodPut, s.URL+"/sandbox/permissions", bytes.NewReader(body)))(t)
		r.Header.Set("Content-Type", "application/json")
		res := expect.Value(http.DefaultClient.Do(r))(t)
		defer res.Body.Close()
		b := expect.Value(io.ReadAll(res.Body))(t)
		return res.StatusCode, string(b)
	}
	t.Cleanup(func() { put(`{}`) })
	return put(constraints)
}

func TestAStepOutsideOfAConstraintIsNotCalled(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, workspace.Sato, "従業員一覧を取得して")
	d.Click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	const sheet = "write_rows_to_google_sheet"
	if status, said := rule(t, s, sheet, `{"spreadsheet_ids":["another"],"max_rows":41}`); status != http.StatusOK {
		t.Fatal(said)
	}
	calls := s.Vendors.Calls(sheet)
	d.Click(workspace.Suzuki, "CARD#process#0001", "approve_process")
	d.Card("CARD#execution", sheet+" の制約 max_rows により、一度に扱えるのは 41 行までです(今回は 42 行)。")
	rule(t, s, sheet, `{"spreadsheet_ids":["another"]}`)
	d.Click(workspace.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", sheet+" の制約 spreadsheet_ids により、ringi-demo-sheet は利用できません。")
	if n := s.Vendors.Calls(sheet) - calls; n != 0 {
		t.Errorf("%d calls wrote", n)
	}
	rule(t, s, sheet, `{}`)
	d.Click(workspace.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
}

func TestStepsArePlannedWithinConstraints(t *testing.T) {
	s := start(t)
	if status, said := rule(t, s, "list_employees", `{"departments":["人事部"]}`); status != http.StatusOK || !strings.Contains(said, `"人事部"`) {
		t.Fatal(said)
	}
	d := driver.Ask(t, s, workspace.Sato, "人事部の今月の勤怠をまとめて")
	d.Approve(workspace.Suzuki)
	d.Card("CARD#execution", "従業員 11 名を確認しました。")
	if a := d.Load(); !strings.Contains(string(a.Process().Steps[0].ToolInput), "人事部") || a.Execution().Status != task.ExecutionCompleted {
		t.Errorf("planned %s", a.Process().Steps[0].ToolInput)
	}
	other := driver.Ask(t, s, workspace.Sato, "営業部の今月の勤怠をまとめて")
	other.Click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
	other.Card("CARD#process#0001", "list_employees の制約 departments (人事部) の外です")
	if a := other.Load(); len(a.Process().Steps) != 0 {
		t.Errorf("another department was planned: %s", a.Process().Steps[0].ToolInput)
	}
	status, said := rule(t, s, "send_slack_dm", `{"recipients":["#general"]}`)
	if status != http.StatusUnprocessableEntity || !strings.Contains(said, "constraints.recipients[0]") || !strings.Contains(said, "Slack user id") {
		t.Errorf("a wrong constraint: %d %s", status, said)
	}
}
