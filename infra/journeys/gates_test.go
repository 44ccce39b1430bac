package journeys

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/task"
)

func TestAReasonMakesTheNextVersionAtBothGates(t *testing.T) {
	s := start(t)
	d := ask(t, s, workspace.Sato, "今月の勤怠をまとめて")
	d.reject(workspace.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔にしてください")
	old := d.card("CARD#prompt#0001", "➡️ 新しいバージョン v2 が生成されました")
	if color(old) != "e01e5a" || !strings.Contains(face(old), "もっと簡潔にしてください") || strings.Contains(face(old), "approve_prompt") {
		t.Errorf("the rejected policy's card: %s %s", color(old), face(old))
	}
	if fresh := d.card("CARD#prompt#0002", "approve_prompt"); !strings.Contains(face(fresh), "もっと簡潔にしてください") {
		t.Errorf("version 2 does not take the reason up: %s", face(fresh))
	}
	d.click(workspace.Suzuki, "CARD#prompt#0002", "approve_prompt")

	before := len(d.stepsShown("CARD#process#0001"))
	d.reject(workspace.Tanaka, "CARD#process#0001", "reject_process", "データの検証を追加して")
	if old := d.card("CARD#process#0001", "➡️ 新しいバージョン v2 が生成されました"); color(old) != "e01e5a" {
		t.Errorf("the rejected steps' card is %s", color(old))
	}
	if after := len(d.stepsShown("CARD#process#0002")); after != before+1 {
		t.Errorf("version 2 has %d steps, version 1 had %d", after, before)
	}
	d.click(workspace.Tanaka, "CARD#process#0002", "approve_process")
	d.card("CARD#execution", "✅ 実行完了")
	want := []string{
		"task.created by system", "prompt.rejected by " + workspace.Suzuki, "prompt.approved by " + workspace.Suzuki,
		"process.rejected by " + workspace.Tanaka, "process.approved by " + workspace.Tanaka,
		"execution.started by system", "execution.completed by system",
	}
	if diff := cmp.Diff(want, d.audit()); diff != "" {
		t.Error("audit log:", diff)
	}
}

func (d *desk) stepsShown(key string) []string {
	d.t.Helper()
	var out []string
	for _, line := range strings.Split(face(d.card(key, "— `")), "\n") {
		if strings.Contains(line, "— `") {
			out = append(out, line)
		}
	}
	return out
}

func TestFiveRejectionsCancelTheTask(t *testing.T) {
	s := start(t)
	d := ask(t, s, workspace.Sato, "備品の一覧を確認したい")
	for _, key := range []string{"CARD#prompt#0001", "CARD#prompt#0002", "CARD#prompt#0003", "CARD#prompt#0004", "CARD#prompt#0005"} {
		d.reject(workspace.Suzuki, key, "reject_prompt", "方針が違います")
	}
	d.card("CARD#prompt#0005", "キャンセル")
	a := d.until("the task is cancelled", func(a *task.Aggregate) bool { return a.Head.Ended != nil })
	if a.Task.Status != task.TaskCancelled || a.Head.Ended.Reason != task.ReasonMaxVersions || len(a.Prompts) != 5 {
		t.Errorf("status %s, reason %s, %d versions", a.Task.Status, a.Head.Ended.Reason, len(a.Prompts))
	}
}

func TestWhoMayNotStampIsToldWhy(t *testing.T) {
	s := start(t)
	settings(t, s, func(x *task.Settings) {
		x.Approvers = task.Approvers{Mode: task.ApproversList, Users: []string{workspace.Suzuki}, Usergroups: []string{}}
	})
	d := ask(t, s, workspace.Sato, "従業員一覧を取得して")
	for _, user := range []string{workspace.Alex, workspace.Guest} {
		d.click(user, "CARD#prompt#0001", "approve_prompt")
		if notes := d.notes(user); len(notes) != 1 || notes[0] == "" {
			t.Errorf("%s got the notes %q", user, notes)
		}
	}
	settings(t, s, func(x *task.Settings) { x.Approvers.Users = []string{} })
	d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
	if notes := d.notes(workspace.Suzuki); len(notes) != 1 {
		t.Errorf("an empty list of approvers: notes %q", notes)
	}
	settings(t, s, func(x *task.Settings) { x.Approvers.Usergroups = []string{workspace.Approvers} })
	d.click(workspace.Tanaka, "CARD#prompt#0001", "approve_prompt")
	a := d.until("a member of the group stamps", func(a *task.Aggregate) bool { return a.Prompt().Status == task.Approved })
	if a.Prompt().ApprovedBy != workspace.Tanaka {
		t.Errorf("approved by %s", a.Prompt().ApprovedBy)
	}
}

func TestOneDecisionForTwoApproversAndADoubleClick(t *testing.T) {
	s := start(t)
	d := ask(t, s, workspace.Sato, "従業員一覧を取得して")
	m := d.card("CARD#prompt#0001", "approve_prompt")
	var clicks sync.WaitGroup
	for _, user := range []string{workspace.Suzuki, workspace.Tanaka, workspace.Suzuki, workspace.Tanaka, workspace.Suzuki} {
		clicks.Go(func() {
			if err := s.Sandbox.Click(user, d.channel, m.TS, "approve_prompt"); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		})
	}
	clicks.Wait()
	d.card("CARD#process#0001", "approve_process")
	a := d.load()
	loser := map[string]string{workspace.Suzuki: workspace.Tanaka, workspace.Tanaka: workspace.Suzuki}[a.Prompt().ApprovedBy]
	if notes := d.notes(loser); len(notes) == 0 || !strings.Contains(notes[0], "<@"+a.Prompt().ApprovedBy+">") {
		t.Errorf("who was second is told %q, not who was first", notes)
	}
	if notes := d.notes(a.Prompt().ApprovedBy); len(notes) != 0 {
		t.Errorf("who was first is told %q", notes)
	}
	if diff := cmp.Diff([]string{"task.created by system", "prompt.approved by " + a.Prompt().ApprovedBy}, d.audit()); diff != "" {
		t.Error("audit log:", diff)
	}
}

func TestAnApprovalExpires(t *testing.T) {
	s := start(t)
	d := ask(t, s, workspace.Sato, "従業員一覧を取得して")
	d.card("CARD#prompt#0001", "approve_prompt")
	d.sweepNow() // not yet: time never approves, and ends nothing early
	if a := d.load(); a.Head.Ended != nil {
		t.Fatalf("ended as %s before its time", a.Head.Ended.As)
	}
	d.setRow("PROMPT#0001", "SET terms.decide_by = :v", time.Now().Add(-time.Minute))
	d.sweepNow()
	card := d.card("CARD#prompt#0001", "期限切れ")
	if color(card) != "888888" || strings.Contains(face(card), "approve_prompt") {
		t.Errorf("the expired card: %s %s", color(card), face(card))
	}
	if diff := cmp.Diff([]string{"task.created by system", "task.expired by system"}, d.audit()); diff != "" {
		t.Error("audit log:", diff)
	}
	d.runsEnd()
}

func TestATaskIsWithdrawnWhileItWaits(t *testing.T) {
	s := start(t)
	d := ask(t, s, workspace.Sato, "従業員一覧を取得して")
	m := d.card("CARD#prompt#0001", "approve_prompt")
	if err := s.Sandbox.Shortcut(workspace.Sato, d.channel, m.TS, "cancel_task"); err != nil {
		t.Fatal(err)
	}
	card := d.card("CARD#prompt#0001", "<@"+workspace.Sato+">")
	if strings.Contains(face(card), "approve_prompt") {
		t.Errorf("the withdrawn card still has its buttons: %s", face(card))
	}
	if diff := cmp.Diff([]string{"task.created by system", "task.cancelled by " + workspace.Sato}, d.audit()); diff != "" {
		t.Error("audit log:", diff)
	}
	d.runsEnd()
}

func TestARunStoppedByHandGoesOnAfterTheApproval(t *testing.T) {
	s := start(t)
	d := ask(t, s, workspace.Sato, "従業員一覧を取得して")
	d.card("CARD#prompt#0001", "approve_prompt")
	eventually(t, "the run waits", func() bool { return len(d.load().Waits) == 1 })
	runs := sfn.NewFromConfig(s.AWS)
	arn := strings.Replace(s.StateMachineARN, ":stateMachine:", ":execution:", 1) + ":" + d.ref.Task + "-1"
	if _, err := runs.StopExecution(context.Background(), &sfn.StopExecutionInput{ExecutionArn: &arn}); err != nil {
		t.Fatal(err)
	}
	d.approve(workspace.Suzuki)
	d.card("CARD#execution", "✅ 実行完了")
	if a := d.load(); a.Head.Run != 2 {
		t.Errorf("the work was done by run %d, not by a second one", a.Head.Run)
	}
}

func TestAGenerationFailsAndIsTriedAgain(t *testing.T) {
	for _, tt := range []struct{ layer, key, approve string }{
		{"extract", "CARD#task", ""}, {"draft", "CARD#prompt#0001", ""}, {"plan", "CARD#process#0001", "approve_prompt"},
	} {
		t.Run(tt.layer, func(t *testing.T) {
			s := start(t)
			d := ask(t, s, workspace.Sato, "従業員一覧を取得して demo: fail "+tt.layer)
			if tt.approve != "" {
				d.click(workspace.Suzuki, "CARD#prompt#0001", tt.approve)
			}
			if card := d.card(tt.key, "retry_generation"); color(card) != "e01e5a" {
				t.Errorf("the failed generation's card is %s", color(card))
			}
			d.click(workspace.Sato, tt.key, "retry_generation")
			if tt.approve == "" {
				d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
			}
			d.click(workspace.Suzuki, "CARD#process#0001", "approve_process")
			d.card("CARD#execution", "✅ 実行完了")
		})
	}
}

// setRow changes a row behind the system's back, as time or a crash would.
func (d *desk) setRow(sk, update string, v time.Time) {
	d.t.Helper()
	_, err := dynamodb.NewFromConfig(d.s.AWS).UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &d.s.TableName, UpdateExpression: &update, ConditionExpression: aws.String("attribute_exists(PK)"),
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "TASK#" + d.ref.Tenant + "#" + d.ref.Task}, "SK": &types.AttributeValueMemberS{Value: sk},
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: v.UTC().Format("2006-01-02T15:04:05.000Z")}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// sweepNow makes the task due and lets the sweeper's minute pass.
func (d *desk) sweepNow() {
	d.t.Helper()
	past := time.Now().Add(-time.Minute)
	d.setRow(task.HeadKey, "SET due_at = :v, GSI1SK = :v", past)
	if a := d.load(); a.Head.DueAt == nil {
		d.t.Fatal("the head is not due")
	}
	if _, err := d.s.Fire(context.Background(), "SweepTasksFunction"); err != nil {
		d.t.Fatal(err)
	}
}

// runsEnd waits until no run of the task is open.
func (d *desk) runsEnd() {
	d.t.Helper()
	runs := sfn.NewFromConfig(d.s.AWS)
	eventually(d.t, "every run has ended", func() bool {
		out, err := runs.ListExecutions(context.Background(), &sfn.ListExecutionsInput{StateMachineArn: &d.s.StateMachineARN, StatusFilter: "RUNNING"})
		if err != nil {
			d.t.Fatal(err)
		}
		for _, x := range out.Executions {
			if strings.HasPrefix(*x.Name, d.ref.Task) {
				return false
			}
		}
		return true
	})
}
