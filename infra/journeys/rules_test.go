package journeys

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func TestAStepOutsideOfAConstraintIsNotCalled(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	const sheet = "write_rows_to_google_sheet"
	expect.NoError(t, driver.Rule(t, s, sheet, `{"spreadsheet_ids":["another"],"max_rows":41}`))
	calls := s.Vendors.Calls(sheet)
	d.Click(webapi.Suzuki, "CARD#process#0001", "approve_process")
	d.Card("CARD#execution", sheet+" の制限 max_rows により、一度に扱えるのは 41 行までです (今回は 42 行)。")
	expect.NoError(t, driver.Rule(t, s, sheet, `{"spreadsheet_ids":["another"]}`))
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", sheet+" の制限 spreadsheet_ids により、ringi-demo-sheet は利用できません。")
	if n := s.Vendors.Calls(sheet) - calls; n != 0 {
		t.Errorf("%d calls wrote", n)
	}
	expect.NoError(t, driver.Rule(t, s, sheet, `{}`))
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
}

func TestStepsArePlannedWithinConstraints(t *testing.T) {
	s := start(t)
	expect.NoError(t, driver.Rule(t, s, "list_employees", `{"departments":["人事部"]}`))
	d := driver.Ask(t, s, webapi.Sato, "人事部の今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "従業員 11 名を確認しました。")
	if a := d.Load(); !strings.Contains(string(a.Process().Steps[0].ToolInput), "人事部") || a.Execution().Status != task.ExecutionCompleted {
		t.Errorf("planned %s", a.Process().Steps[0].ToolInput)
	}
	other := driver.Ask(t, s, webapi.Sato, "営業部の今月の勤怠をまとめて")
	other.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	other.Card("CARD#process#0001", "list_employees の制限 departments (人事部) の範囲外です")
	if a := other.Load(); len(a.Process().Steps) != 0 {
		t.Errorf("another department was planned: %s", a.Process().Steps[0].ToolInput)
	}
	err := driver.Rule(t, s, "send_slack_dm", `{"recipients":["#general"]}`)
	if field := (aggregate.ErrField{}); !errors.As(err, &field) || field.Field != "constraints.recipients[0]" || !strings.Contains(field.Limit, "Slack user id") {
		t.Errorf("a wrong constraint: %v", err)
	}
}

// Administrators get one direct message when the workspace's open requests come near their limit.
func TestAdministratorsAreToldThatTheWorkspaceIsNearlyFull(t *testing.T) {
	s := start(t)
	first := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	first.Card("CARD#prompt#0001", "approve_prompt") // it counts
	tenant := first.Ref.Tenant
	open := expect.Value(store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName).Quota(t.Context(), tenant,
		task.OpenOfTenant()))(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.MaxOpenTasks.Tenant = open + 2 })
	told := func() (n int) {
		for _, m := range s.Sandbox.Messages(webapi.DirectMessage(webapi.Suzuki), "") {
			if strings.Contains(m.Text, "上限の 80% に達しました") && strings.Contains(m.Text, fmt.Sprintf("上限 %d 件", open+2)) {
				n++
			}
		}
		return n
	}
	for range 2 {
		driver.Ask(t, s, webapi.Tanaka, "従業員一覧を取得して").Card("CARD#prompt#0001", "approve_prompt")
	}
	first.Eventually("the first administrator is told once", func() bool { return told() == 1 })
	full := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	full.Card(driver.TaskCard, "進行中のタスクが上限に達しています")
	expect.Same(t, 1, told())
}
