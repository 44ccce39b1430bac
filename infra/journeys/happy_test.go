package journeys

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/vendors"
	"ringi/shared/task"
)

// approve stamps the policy and the steps.
func (d *desk) approve(user string) {
	d.t.Helper()
	d.click(user, "CARD#prompt#0001", "approve_prompt")
	d.click(user, "CARD#process#0001", "approve_process")
}

func TestARequestBecomesDoneWork(t *testing.T) {
	s := start(t)
	d := ask(t, s, workspace.Sato, "今月の勤怠をまとめて")

	d.card("CARD#task", "*優先度*")
	d.card("CARD#prompt#0001", "approve_prompt")
	d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
	steps := d.card("CARD#process#0001", "approve_process")
	for _, want := range []string{
		"1. *従業員一覧を取得* — `list_employees`", "2. *勤怠データ取得* — `list_attendance`", "3. *残業時間計算* — `calculate_overtime`",
		"4. *Sheet 書き込み* — `write_rows_to_google_sheet`", "5. *完了通知* — `send_slack_dm`",
	} {
		if !strings.Contains(face(steps), want) {
			t.Errorf("the steps' card lacks %s", want)
		}
	}
	d.click(workspace.Tanaka, "CARD#process#0001", "approve_process")
	done := d.card("CARD#execution", "✅ 実行完了")
	if !strings.Contains(face(done), "✅ 5. *完了通知*") || color(done) != "36a64f" {
		t.Errorf("the execution's card is not the finished one: %s", face(done))
	}
	d.card("CARD#prompt#0001", "✅ 承認: <@"+workspace.Suzuki+">")
	d.card("CARD#process#0001", "✅ 承認: <@"+workspace.Tanaka+">")
	a := d.until("the task is completed and shown", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })

	want := []string{
		"task.created by system", "prompt.approved by " + workspace.Suzuki, "process.approved by " + workspace.Tanaka,
		"execution.started by system", "execution.completed by system",
	}
	if diff := cmp.Diff(want, d.audit()); diff != "" {
		t.Error("audit log:", diff)
	}
	if rows := s.Vendors.Rows(vendors.Sheet, s.Vendors.Tabs()[len(s.Vendors.Tabs())-1]); len(rows) != 43 {
		t.Errorf("the sheet has %d rows, not a header and 42 employees", len(rows))
	}
	if n := d.notified(a, workspace.Sato); n != 1 {
		t.Errorf("the requester got %d direct messages, not one", n)
	}
	d.ranOnce()
}

// notified counts the direct messages that this task's steps sent to a person.
func (d *desk) notified(a *task.Aggregate, user string) (n int) {
	for _, m := range d.s.Sandbox.Messages(workspace.DirectMessage(user), "") {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if key, _ := payload["key"].(string); strings.HasPrefix(key, a.Process().ID) {
			n++
		}
	}
	return n
}

// ranOnce reads the execution history as the AWS console would.
func (d *desk) ranOnce() {
	d.t.Helper()
	out, err := sfn.NewFromConfig(d.s.AWS).ListExecutions(context.Background(), &sfn.ListExecutionsInput{StateMachineArn: &d.s.StateMachineARN})
	if err != nil {
		d.t.Fatal(err)
	}
	var runs []string
	for _, x := range out.Executions {
		if strings.HasPrefix(*x.Name, d.ref.Task) {
			runs = append(runs, *x.Name)
		}
	}
	if want := []string{d.ref.Task + "-1"}; !slices.Equal(runs, want) {
		d.t.Errorf("runs %v, not %v", runs, want)
	}
}

func TestADirectMessageInEnglish(t *testing.T) {
	s := start(t)
	settings(t, s, func(x *task.Settings) { x.Locale = "en" })
	d := askIn(t, s, workspace.Alex, workspace.DirectMessage(workspace.Alex), "Please give me a list of all employees")
	d.card("CARD#prompt#0001", "Approve")
	d.approve(workspace.Alex)
	d.card("CARD#execution", "Completed")
	a := d.until("completed", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	if a.Task.Source != task.SourceAgentContainer {
		t.Errorf("the source is %s", a.Task.Source)
	}
}

func TestApprovalsSwitchedOffGoStraightThrough(t *testing.T) {
	s := start(t)
	settings(t, s, func(x *task.Settings) { x.PromptApprovalRequired, x.ProcessApprovalRequired = false, false })
	d := ask(t, s, workspace.Sato, "先月の残業時間を確認して")
	d.card("CARD#execution", "✅ 実行完了")
	d.card("CARD#prompt#0001", "✅ 自動承認")
	d.card("CARD#process#0001", "✅ 自動承認")
	want := []string{
		"task.created by system", "prompt.approved by system", "process.approved by system",
		"execution.started by system", "execution.completed by system",
	}
	if diff := cmp.Diff(want, d.audit()); diff != "" {
		t.Error("audit log:", diff)
	}
	d.ranOnce()
}

func TestTheSecondEventOfAMessageAndARetryAreOneTask(t *testing.T) {
	s := start(t)
	toggles := s.Sandbox.Toggles()
	toggles.Twice = true
	if err := s.Sandbox.SetToggles(toggles); err != nil {
		t.Fatal(err)
	}
	d := ask(t, s, workspace.Sato, "従業員一覧を取得して")
	d.approve(workspace.Suzuki)
	d.card("CARD#execution", "✅ 実行完了")
	d.ranOnce()
	if n := len(s.Sandbox.Messages(d.channel, d.root)); n != 5 {
		t.Errorf("the thread has %d messages, not the request and four cards", n)
	}
	before := time.Now()
	d.until("shown", func(a *task.Aggregate) bool { return a.Head.Ended != nil && before.After(a.Head.CreatedAt) })
}
