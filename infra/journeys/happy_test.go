package journeys

import (
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestARequestBecomesDoneWork(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")

	d.Card("CARD#task", "*優先度*")
	d.Card("CARD#prompt#0001", "approve_prompt")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	steps := d.Card("CARD#process#0001", "approve_process")
	for _, want := range []string{
		"1. *従業員一覧を取得* — `list_employees`", "2. *勤怠データ取得* — `list_attendance`", "3. *残業時間計算* — `calculate_overtime`",
		"4. *Sheet 書き込み* — `write_rows_to_google_sheet`", "5. *完了通知* — `send_slack_dm`",
	} {
		if !strings.Contains(driver.Face(steps), want) {
			t.Errorf("the steps' card lacks %s", want)
		}
	}
	d.Click(webapi.Tanaka, "CARD#process#0001", "approve_process")
	done := d.Card("CARD#execution", "✅ 実行完了")
	if !strings.Contains(driver.Face(done), "✅ 5. *完了通知*") || driver.Color(done) != "36a64f" {
		t.Errorf("the execution's card is not the finished one: %s", driver.Face(done))
	}
	d.Card("CARD#prompt#0001", "✅ 承認: <@"+webapi.Suzuki+">")
	d.Card("CARD#process#0001", "✅ 承認: <@"+webapi.Tanaka+">")
	a := d.Until("the task is completed and shown", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })

	want := []string{
		"task.created by system", "prompt.approved by " + webapi.Suzuki, "process.approved by " + webapi.Tanaka,
		"execution.started by system", "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
	if rows := s.Vendors.Rows(vendors.Sheet, tabOf(t, d)); len(rows) != 43 {
		t.Errorf("the sheet has %d rows, not a header and 42 employees", len(rows))
	}
	if n := d.Notified(a, webapi.Sato); n != 1 {
		t.Errorf("the requester got %d direct messages, not one", n)
	}
	d.RanOnce()
}

func TestADirectMessageInEnglish(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = "en" })
	d := driver.AskIn(t, s, webapi.Alex, webapi.DirectMessage(webapi.Alex), "Please give me a list of all employees")
	d.Card("CARD#prompt#0001", "Approve")
	d.Approve(webapi.Alex)
	d.Card("CARD#execution", "Completed")
	a := d.Until("completed", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	if a.Task.Source != task.SourceAgentContainer {
		t.Errorf("the source is %s", a.Task.Source)
	}
}

func TestApprovalsSwitchedOffGoStraightThrough(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.PromptApprovalRequired, x.ProcessApprovalRequired = false, false })
	d := driver.Ask(t, s, webapi.Sato,
		"先月の残業時間を確認して。シートには書かないで") // a sheet that the request doesn't name would be asked about
	d.Card("CARD#execution", "✅ 実行完了")
	d.Card("CARD#prompt#0001", "✅ 自動承認")
	d.Card("CARD#process#0001", "✅ 自動承認")
	want := []string{
		"task.created by system", "prompt.approved by system", "process.approved by system",
		"execution.started by system", "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
	d.RanOnce()
}

func TestTheSecondEventOfAMessageAndARetryAreOneTask(t *testing.T) {
	s := start(t)
	toggles := s.Sandbox.Toggles()
	toggles.Twice = true
	expect.NoError(t, s.Sandbox.SetToggles(toggles))
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "✅ 実行完了")
	d.RanOnce()
	if n := len(s.Sandbox.Messages(d.Channel, d.Root)); n != 5 {
		t.Errorf("the thread has %d messages, not the request and four cards", n)
	}
	before := time.Now()
	d.Until("shown", func(a *task.Aggregate) bool { return a.Head.Ended != nil && before.After(a.Head.CreatedAt) })
}

// What a person types, Slack's clients send in their own form; the request has it as people see it, and goes on.
func TestARequestIsReadAsItWasTyped(t *testing.T) {
	s := start(t)
	for typed, want := range map[string]string{
		"今月の勤怠をまとめて🙏":                                    "今月の勤怠をまとめて:pray:",
		"*今月の勤怠* をまとめて\n- 営業部\n- 人事部":                    "*今月の勤怠* をまとめて\n• 営業部\n• 人事部",
		"従業員一覧を取得して、list.md と x@example.com に &lt;a&gt;": "従業員一覧を取得して、list.md と x@example.com に <a>",
		"従業員一覧を取得して\n&gt; 先月の\n```\n- a\n```":            "従業員一覧を取得して\n> 先月の\n```- a```",
	} {
		d := driver.Ask(t, s, webapi.Sato, typed)
		a := d.Until("it is read", func(a *task.Aggregate) bool { return a.Task != nil || a.Answer != nil })
		expect.Is(t, a.Request.Text, want)
		if a.Task != nil { // or it would wait in the lists that other tests read
			d.Card(driver.PromptCard, "approve_prompt")
			d.Cancel(webapi.Sato, d.Root)
			d.Until("it is cancelled", endedAndShown)
		}
	}
}
