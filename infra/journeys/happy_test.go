package journeys

import (
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// A reply in a direct message's thread while a policy waits is no request, as in a channel.
func TestADirectMessageInEnglish(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = "en" })
	d := driver.AskIn(t, s, webapi.Alex, webapi.DirectMessage(webapi.Alex), "Please give me a list of all employees")
	d.Card("CARD#prompt#0001", "Approve")
	expect.Value(s.Sandbox.Reply(webapi.Alex, d.Channel, d.Root, "Without a direct message"))(t)
	expect.Eventually(t, "a note", func() bool {
		return slices.ContainsFunc(d.Notes(webapi.Alex), func(n string) bool { return strings.Contains(n, "is no request") })
	})
	d.Reject(webapi.Alex, "CARD#prompt#0001", "reject_prompt", "Without a direct message")
	d.Click(webapi.Alex, "CARD#prompt#0002", "approve_prompt")
	d.Click(webapi.Alex, driver.ProcessCard, "approve_process")
	d.Card("CARD#execution", "Completed")
	a := d.Until("completed", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	expect.That(t, a.Task.Source == task.SourceAgentContainer, "the source is %s", a.Task.Source)
	expect.Is(t, a.Prompts[0].RejectionReason, "Without a direct message")
}

// With both approvals switched off nobody is asked but about the write, by its own gate.
func TestApprovalsSwitchedOffAskAboutTheWriteAlone(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.PromptApprovalRequired, x.ProcessApprovalRequired = false, false })
	d := driver.Ask(t, s, webapi.Sato, "先月の残業時間を確認して。シートには書かないで")
	d.Click(webapi.Suzuki, "CARD#step#0001#001#04", "approve_step")
	d.Card("CARD#execution", "✅ 実行完了")
	d.Card("CARD#prompt#0001", "✅ 自動承認")
	d.Card("CARD#process#0001", "✅ 自動承認")
	want := []string{
		"task.created by system", "prompt.approved by system", "process.approved by system",
		"execution.started by system", "step.approved by " + webapi.Suzuki, "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
	d.RanOnce()
}

func TestAQuestionGetsAPlainReply(t *testing.T) {
	s := beside(t)
	d := driver.Ask(t, s, webapi.Sato, "使い方は?")
	a := d.Until("it is answered", func(a *task.Aggregate) bool {
		return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev
	})
	said := d.Cards("CARD#task")
	expect.That(t, len(said) == 1 && strings.Contains(said[0].Text, "Ringi には「今月の勤怠をまとめて」") &&
		len(said[0].Attachments) == 0, "replied %+v", said)
	expect.That(t, a.Task == nil && len(a.Cards) == 1 && a.Head.Ended.As == task.TaskAnswered, "%+v", a.Head)
	expect.Same(t, []string{"request.answered by system"}, d.Audit())
	d.RunsEnd()
}

// A mention in the thread of a policy that waits is no request: its author alone sees how to make it a reason, and how
// to ask for something else.
func TestAMentionWhereAPolicyWaits(t *testing.T) {
	s := beside(t)
	waits := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	waits.Card("CARD#prompt#0001", "approve_prompt")
	ts := expect.Value(s.Sandbox.Reply(webapi.Suzuki, webapi.HR, waits.Root, "<@"+webapi.Bot+"> DM での連絡は不要です"))(t)
	var note webapi.Message
	expect.Eventually(t, "a note", func() bool {
		for _, m := range s.Sandbox.Ephemerals(webapi.Suzuki) {
			if strings.Contains(m.Text, "このメッセージは依頼になっていません") {
				note = m
			}
		}
		return note.TS != ""
	})
	expect.That(t, len(s.Sandbox.Messages(webapi.HR, waits.Root)) == 4, "the thread says something about it")
	expect.Fails(t, expect.Err(waits.Store.Load(t.Context(), driver.At(t, s, webapi.HR, ts).Ref)), aggregate.ErrNotFound)
	waits.Reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", "DM での連絡は不要です")
	waits.Card("CARD#prompt#0002", "approve_prompt")
	waits.Cancel(webapi.Sato, waits.Root)
}

func TestAPersonIsGreetedOnce(t *testing.T) {
	s := beside(t)
	user := webapi.Guest // whom no other journey has greeted before
	dm := webapi.DirectMessage(user)
	said := func() (n int) {
		for _, m := range s.Sandbox.Messages(dm, "") {
			if m.User == webapi.Bot && m.Text == "HR AI Agent です。業務を依頼してください。" {
				n++
			}
		}
		return n
	}
	for range 3 {
		expect.NoError(t, s.Sandbox.OpenMessages(user))
		expect.Eventually(t, "the person is greeted", func() bool { return said() > 0 })
	}
	expect.Eventually(t, "requests are suggested", func() bool {
		p := s.Sandbox.Suggestions(dm)
		return len(p) == 4 && p[0].Message == "今月の勤怠をまとめて" && strings.HasPrefix(p[3].Message, tenancy.Codex+": ")
	})
	expect.Is(t, said(), 1, "greeted")
}
