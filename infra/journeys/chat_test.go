package journeys

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func begin(t *testing.T, text string) *driver.Dialogue {
	t.Helper()
	return driver.Talk(t, running, webapi.Sato, text)
}

// A command runs once, after an approval; the card shows its output during and after the run, and one click stops it.
func TestACommandIsWatchedAndStopped(t *testing.T) {
	beside(t)
	d := begin(t, "codex: コマンド: for i in $(seq 1 300); do echo tick $i; sleep 0.2; done")
	d.Press(webapi.Sato, d.Shows("操作 #1 の確認", "echo tick $i"), card.ApproveAction)
	runs := d.Shows("操作 #1 を実行中", "tick")
	d.Status("processing")
	d.Press(webapi.Sato, runs, card.CancelAction)
	d.Shows("操作 #1(キャンセル)")
	d.Reply("コマンド: sleep 60; echo late")
	d.Press(webapi.Sato, d.Shows("操作 #2 の確認"), card.ApproveAction)
	d.Shows("操作 #2 を実行中")
	d.Status("processing")
	d.UntilTaken("the agent is stopped", func() { _ = running.Sandbox.StopAgent(webapi.Sato, d.Channel, d.Root) },
		func() bool {
			_, faces := d.Faces()
			return strings.Contains(strings.Join(faces, ""), "操作 #2(キャンセル)")
		})
	d.Status("active")
}

// An approval in Slack and a cancellation in the console, at the same instant: if the cancellation wins, the action
// never runs, and both surfaces show the same.
func TestAnApprovalAndACancellationAtTheSameInstant(t *testing.T) {
	beside(t)
	d := begin(t, "codex: コマンド: sleep 50; echo ran")
	asks := d.Shows("操作 #1 の確認")
	desk := driver.SitDown(t, running, webapi.Sato)
	cancel := desk.Ready(d, "cancel_action", "")
	var both sync.WaitGroup
	var status int
	both.Go(func() { status, _ = cancel() })
	both.Go(func() { _ = running.Sandbox.Click(webapi.Sato, d.Channel, asks.TS, card.ApproveAction) })
	both.Wait()
	x := d.Rests().Actions[0]
	approved, cancelled := d.Audit(conversation.AuditApproved), d.Audit(conversation.AuditCancelled)
	switch {
	case status != http.StatusSeeOther || len(cancelled) != 1 || x.Status != conversation.ActionCancelled:
		t.Errorf("the console was told %d: %d cancellations, %s", status, len(cancelled), x.Status)
	case len(approved) == 0 && x.StartedAt != nil:
		t.Error("what nobody approved was run")
	case len(approved) > 1 || len(approved) == 1 && approved[0].Timestamp.After(cancelled[0].Timestamp):
		t.Errorf("it was approved after it had been cancelled: %+v %+v", approved, cancelled)
	}
	d.Shows("操作 #1", "取り消されました")
	_, page := desk.Get(d.Page())
	expect.Has(t, page, "取り消し")
}
