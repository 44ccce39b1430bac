// Package surfaces asks and stamps from other places in Slack than a request's thread. It has its own stack because a
// Home tab shows what waits longest, whichever test left it waiting.
package surfaces

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
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
func newest(t *testing.T, s *stack.Stack, channel, text string) webapi.Message {
	t.Helper()
	var found webapi.Message
	expect.Eventually(t, "a message that says "+text, func() bool {
		for _, m := range s.Sandbox.Messages(channel, "") {
			if m.User == webapi.Bot && (strings.Contains(m.Text, text) ||
				strings.Contains(string(expect.Value(json.Marshal(m.Attachments))(t)), text)) {
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
		x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki, webapi.Tanaka},
			Usergroups: []string{}}
	})
	driver.UntilTaken(t, "the command is accepted", func() {
		_ = s.Sandbox.Command(webapi.Sato, webapi.HR,
			"/ringi 今月の勤怠をまとめて")
	}, func() bool {
		told := s.Sandbox.Ephemerals(webapi.Sato)
		return len(told) > 0 && strings.Contains(told[len(told)-1].Text, "確認しています")
	})
	root := newest(t, s, webapi.HR, "> 今月の勤怠をまとめて")
	d := driver.At(t, s, webapi.HR, root.TS)
	d.Card("CARD#prompt#0001", "approve_prompt")
	prompt := d.Load().Prompt()

	expect.NoError(t, s.Sandbox.OpenHome(webapi.Suzuki))
	homeShows(t, s, webapi.Suzuki, prompt.ID, true)
	driver.UntilTaken(t, "the list is shown", func() { _ = s.Sandbox.Command(webapi.Suzuki, webapi.HR, "/ringi list") },
		func() bool {
			told := s.Sandbox.Ephemerals(webapi.Suzuki)
			return len(told) > 0 && strings.Contains(told[len(told)-1].Text, "あなたの承認待ち (1 件)")
		})
	copied := newest(t, s, webapi.DirectMessage(webapi.Tanaka), prompt.ID)
	driver.UntilTaken(t, "the policy is stamped", func() {
		_ = s.Sandbox.ClickHome(webapi.Suzuki, "approve_prompt",
			prompt.ID)
	}, func() bool {
		return d.Shows("CARD#prompt#0001", "✅ 承認: <@"+webapi.Suzuki+">")
	})
	homeShows(t, s, webapi.Suzuki, prompt.ID, false)
	expect.Eventually(t, "the copy shows the stamp", func() bool {
		m, err := s.Sandbox.Workspace().Message(webapi.DirectMessage(webapi.Tanaka), copied.TS, webapi.Tanaka)
		return err == nil && strings.Contains(driver.Face(m), "✅ 承認: <@"+webapi.Suzuki+">")
	})

	d.Card("CARD#process#0001", "approve_process")
	steps := newest(t, s, webapi.DirectMessage(webapi.Tanaka), d.Load().Process().ID)
	driver.UntilTaken(t, "the steps are stamped", func() {
		_ = s.Sandbox.Click(webapi.Tanaka, webapi.DirectMessage(webapi.Tanaka), steps.TS, "approve_process")
	}, func() bool { return d.Shows("CARD#process#0001", "✅ 承認: <@"+webapi.Tanaka+">") })
	d.Until("it is done", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
	newest(t, s, webapi.DirectMessage(webapi.Sato), "✅ 完了: ")
	d.RanOnce()
}
