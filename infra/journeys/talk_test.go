package journeys

import (
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestAQuestionGetsAPlainReply(t *testing.T) {
	for locale, want := range map[string][2]string{"ja": {"使い方は?", "Ringi には「今月の勤怠をまとめて」"}, "en": {"What can you do?", "Ask Ringi for work in plain words"}} {
		t.Run(locale, func(t *testing.T) {
			s := start(t)
			driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = locale })
			d := driver.Ask(t, s, webapi.Sato, want[0])
			a := d.Until("it is answered", func(a *task.Aggregate) bool { return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev })
			said := d.Cards("CARD#task")
			if len(said) != 1 || !strings.Contains(said[0].Text, want[1]) || len(said[0].Attachments) != 0 {
				t.Errorf("replied %+v", said)
			}
			if a.Task != nil || len(a.Cards) != 1 || a.Head.Ended.As != task.TaskAnswered {
				t.Errorf("%+v", a.Head)
			}
			expect.Same(t, []string{"request.answered by system"}, d.Audit())
			d.RunsEnd()
		})
	}
}

func TestAMentionWhereAPolicyWaits(t *testing.T) {
	s := start(t)
	waits := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	waits.Card("CARD#prompt#0001", "approve_prompt")
	say := func(who, text string) *driver.Request {
		ts := expect.Value(s.Sandbox.Reply(who, webapi.HR, waits.Root, "<@"+webapi.Bot+"> "+text))(t)
		d := driver.At(t, s, webapi.HR, ts)
		d.Root = waits.Root // where its cards are
		return d
	}
	reason, request := say(webapi.Sato, "DM での連絡は不要です"), say(webapi.Suzuki, "先月の残業時間を確認して")
	for _, d := range []*driver.Request{reason, request} {
		d.Card("CARD#task", "の *実行方針 v1* が承認を待っています")
		d.RunsEnd()
		if a := d.Load(); a.Task != nil || a.Used() != nil {
			t.Errorf("something was generated: %+v", a.Task)
		}
	}
	reason.Click(webapi.Guest, "CARD#task", "take_as_reason")
	reason.Click(webapi.Suzuki, "CARD#task", "take_as_reason")
	a := waits.Until("the policy is sent back", func(a *task.Aggregate) bool { return a.Prompts[0].Status == aggregate.Rejected })
	if p := a.Prompts[0]; p.RejectedBy != webapi.Suzuki || p.RejectionReason != "DM での連絡は不要です" {
		t.Errorf("%+v", p.Verdict)
	}
	waits.Card("CARD#prompt#0002", "approve_prompt")
	b := reason.Until("the message is done with", func(a *task.Aggregate) bool { return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev })
	if said := reason.Cards("CARD#task"); len(said) != 1 ||
		!strings.Contains(said[0].Text, "実行方針 v1 の却下理由にしました · <@"+webapi.Suzuki+">") || b.Task != nil {
		t.Errorf("%+v", said)
	}
	// The policy was rejected meanwhile: the message comes too late as a reason, but not as a request.
	request.Click(webapi.Tanaka, "CARD#task", "take_as_reason")
	if notes := request.Told(webapi.Tanaka); len(notes) != 1 || !strings.Contains(notes[0], "却下しました") {
		t.Errorf("told %q", notes)
	}
	request.Click(webapi.Suzuki, "CARD#task", "take_as_request")
	request.Card("CARD#prompt#0001", "approve_prompt")
	expect.Same(t, []string{"request.chosen by " + webapi.Suzuki, "task.created by system"}, request.Audit())
	request.Cancel(webapi.Suzuki, request.Cards("CARD#prompt#0001")[0].TS)
}

func TestAPersonIsGreetedOnce(t *testing.T) {
	for locale, want := range map[string][2]string{
		"ja": {"HR AI Agent です。業務を依頼してください。", "今月の勤怠をまとめて"}, "en": {"I'm the HR AI Agent. Tell me what you need done.", "Summarize this month's attendance"},
	} {
		t.Run(locale, func(t *testing.T) {
			s := start(t)
			driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = locale })
			user := map[string]string{"ja": webapi.Guest, "en": webapi.Alex}[locale] // whom no other journey has greeted before
			dm := webapi.DirectMessage(user)
			said := func() (n int) {
				for _, m := range s.Sandbox.Messages(dm, "") {
					if m.User == webapi.Bot && m.Text == want[0] {
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
				return len(p) == 4 && p[0].Message == want[1] && strings.HasPrefix(p[3].Message, agent.Codex+": ")
			})
			if n := said(); n != 1 {
				t.Errorf("greeted %d times", n)
			}
		})
	}
}

func TestAReplyInADirectMessagesThreadGetsAHintOnce(t *testing.T) {
	s := start(t)
	d := driver.AskIn(t, s, webapi.Sato, webapi.DirectMessage(webapi.Sato), "従業員一覧を取得して")
	d.Card("CARD#prompt#0001", "approve_prompt")
	hints := func() (n int) {
		for _, m := range s.Sandbox.Messages(d.Channel, d.Root) {
			if strings.Contains(m.Text, "スレッドへの返信は、依頼として受け付けていません") {
				n++
			}
		}
		return n
	}
	for _, text := range []string{"ついでに残業も", "聞こえていますか"} {
		expect.Value(s.Sandbox.Reply(webapi.Sato, d.Channel, d.Root, text))(t)
		expect.Eventually(t, "the person is told how to ask", func() bool { return hints() > 0 })
	}
	d.Cancel(webapi.Sato, d.Root)
	d.Card("CARD#prompt#0001", "キャンセルされました")
	if n := hints(); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// If a reply in a direct message's thread mentions Ringi while a policy waits, the person is asked what it is meant to
// be, as in a channel, even if a hint was given before. The policy can't be stamped until they answer.
func TestAMentionInADirectMessagesThreadWhereAPolicyWaits(t *testing.T) {
	s := start(t)
	waits := driver.AskIn(t, s, webapi.Tanaka, webapi.DirectMessage(webapi.Tanaka), "従業員一覧を取得して")
	waits.Card("CARD#prompt#0001", "approve_prompt")
	reply := func(text string) string {
		return expect.Value(s.Sandbox.Reply(webapi.Tanaka, waits.Channel, waits.Root, text))(t)
	}
	reply("やっぱり DM は不要です")
	expect.Eventually(t, "the person is told how to correct", func() bool {
		for _, m := range s.Sandbox.Messages(waits.Channel, waits.Root) {
			if strings.Contains(m.Text, "[❌ 却下] を押して理由を書くか、このスレッドで Ringi にメンション") {
				return true
			}
		}
		return false
	})
	d := driver.At(t, s, waits.Channel, reply("<@"+webapi.Bot+"> DM での連絡は不要です"))
	d.Root = waits.Root
	d.Card("CARD#task", "の *実行方針 v1* が承認を待っています")
	d.Click(webapi.Tanaka, "CARD#task", "take_as_reason")
	a := waits.Until("the policy is sent back", func(a *task.Aggregate) bool { return a.Prompts[0].Status == aggregate.Rejected })
	if p := a.Prompts[0]; p.RejectionReason != "DM での連絡は不要です" {
		t.Errorf("%+v", p.Verdict)
	}
	waits.Card("CARD#prompt#0002", "approve_prompt")
	waits.Cancel(webapi.Tanaka, waits.Root)
}
