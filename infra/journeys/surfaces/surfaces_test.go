// Package surfaces asks and stamps from other places in Slack than a request's thread. It has its own stack because a
// Home tab shows what waits longest, whichever test left it waiting.
package surfaces

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// running is the only stack of this package's tests.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

// newest waits for the bot's newest message in a channel with this text.
func newest(t *testing.T, s *stack.Stack, channel, text string) workspace.Message {
	t.Helper()
	var found workspace.Message
	expect.Eventually(t, "a message that says "+text, func() bool {
		for _, m := range s.Sandbox.Messages(channel, "") {
			if m.User == workspace.Bot && (strings.Contains(m.Text, text) || strings.Contains(string(expect.Value(json.Marshal(m.Attachments))(t)), text)) {
				found = m
			}
		}
		return found.TS != ""
	})
	return found
}

// homeShows waits until a person's Home tab has, or lacks, a text.
func homeShows(t *testing.T, s *stack.Stack, user, text string, want bool) {
	t.Helper()
	expect.Eventually(t, "the Home tab of "+user, func() bool {
		v, ok := s.Sandbox.Home(user)
		return ok && strings.Contains(string(expect.Value(json.Marshal(v.Blocks))(t)), text) == want
	})
}

// A request typed as a command is stamped on the Home tab, then in a copy; every place shows that.
func TestACommandIsStampedOnTheHomeTabAndInACopy(t *testing.T) {
	driver.Leave(t, running)
	s := running
	driver.Settings(t, s, func(x *tenancy.Settings) {
		x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{workspace.Suzuki, workspace.Tanaka}, Usergroups: []string{}}
	})
	driver.UntilTaken(t, "the command is accepted", func() { _ = s.Sandbox.Command(workspace.Sato, workspace.HR, "/ringi 今月の勤怠をまとめて") }, func() bool {
		told := s.Sandbox.Ephemerals(workspace.Sato)
		return len(told) > 0 && strings.Contains(told[len(told)-1].Text, "確認しています")
	})
	root := newest(t, s, workspace.HR, "> 今月の勤怠をまとめて")
	d := driver.At(t, s, workspace.HR, root.TS)
	d.Card("CARD#prompt#0001", "approve_prompt")
	prompt := d.Load().Prompt()

	expect.NoError(t, s.Sandbox.OpenHome(workspace.Suzuki))
	homeShows(t, s, workspace.Suzuki, prompt.ID, true)
	driver.UntilTaken(t, "the list is shown", func() { _ = s.Sandbox.Command(workspace.Suzuki, workspace.HR, "/ringi list") }, func() bool {
		told := s.Sandbox.Ephemerals(workspace.Suzuki)
		return len(told) > 0 && strings.Contains(told[len(told)-1].Text, "あなたの承認待ち (1 件)")
	})
	copied := newest(t, s, workspace.DirectMessage(workspace.Tanaka), prompt.ID)
	driver.UntilTaken(t, "the policy is stamped", func() { _ = s.Sandbox.ClickHome(workspace.Suzuki, "approve_prompt", prompt.ID) }, func() bool {
		return d.Shows("CARD#prompt#0001", "✅ 承認: <@"+workspace.Suzuki+">")
	})
	homeShows(t, s, workspace.Suzuki, prompt.ID, false)
	expect.Eventually(t, "the copy shows the stamp", func() bool {
		m, err := s.Sandbox.Workspace().Message(workspace.DirectMessage(workspace.Tanaka), copied.TS, workspace.Tanaka)
		return err == nil && strings.Contains(driver.Face(m), "✅ 承認: <@"+workspace.Suzuki+">")
	})

	d.Card("CARD#process#0001", "approve_process")
	steps := newest(t, s, workspace.DirectMessage(workspace.Tanaka), d.Load().Process().ID)
	driver.UntilTaken(t, "the steps are stamped", func() {
		_ = s.Sandbox.Click(workspace.Tanaka, workspace.DirectMessage(workspace.Tanaka), steps.TS, "approve_process")
	}, func() bool { return d.Shows("CARD#process#0001", "✅ 承認: <@"+workspace.Tanaka+">") })
	d.Until("it is done", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
	newest(t, s, workspace.DirectMessage(workspace.Sato), "✅ 完了: ")
	d.RanOnce()
}
