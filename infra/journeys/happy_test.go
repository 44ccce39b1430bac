package journeys

import (
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
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
		"4. *シートに書き込み* — `write_rows_to_google_sheet`", "5. *完了通知* — `send_slack_dm`",
	} {
		expect.That(t, strings.Contains(driver.Face(steps), want), "the steps' card lacks %s", want)
	}
	d.Click(webapi.Tanaka, "CARD#process#0001", "approve_process")
	done := d.Card("CARD#execution", "✅ 実行完了")
	expect.That(t, strings.Contains(driver.Face(done), "✅ 5. *完了通知*") && driver.Color(done) == "36a64f",
		"the execution's card is not the finished one: %s", driver.Face(done))
	d.Card("CARD#prompt#0001", "✅ 承認: <@"+webapi.Suzuki+">")
	d.Card("CARD#process#0001", "✅ 承認: <@"+webapi.Tanaka+">")
	a := d.Until("the task is completed and shown", func(a *task.Aggregate) bool {
		return a.Task != nil &&
			a.Task.Status == task.TaskCompleted
	})

	want := []string{
		"task.created by system", "prompt.approved by " + webapi.Suzuki, "process.approved by " + webapi.Tanaka,
		"execution.started by system", "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
	expect.Same(t, writingOrder, commits(d))
	if rows := s.Vendors.Rows(vendors.Sheet, tabOf(t, d)); len(rows) != 43 {
		t.Errorf("the sheet has %d rows, not a header and 42 employees", len(rows))
	}
	if n := d.Notified(a, webapi.Sato); n != 1 {
		t.Errorf("the requester got %d direct messages, not one", n)
	}
	d.RanOnce()
}

// A reply in a direct message's thread that mentions Ringi while a policy waits becomes what the person chooses, as it
// does in a channel.
func TestADirectMessageInEnglish(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = "en" })
	d := driver.AskIn(t, s, webapi.Alex, webapi.DirectMessage(webapi.Alex), "Please give me a list of all employees")
	d.Card("CARD#prompt#0001", "Approve")
	ts := expect.Value(s.Sandbox.Reply(webapi.Alex, d.Channel, d.Root, "<@"+webapi.Bot+"> Without a direct message"))(t)
	reply := driver.At(t, s, d.Channel, ts)
	reply.Root = d.Root
	reply.Click(webapi.Alex, driver.TaskCard, "take_as_reason")
	d.Click(webapi.Alex, "CARD#prompt#0002", "approve_prompt")
	d.Click(webapi.Alex, driver.ProcessCard, "approve_process")
	d.Card("CARD#execution", "Completed")
	a := d.Until("completed", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	expect.That(t, a.Task.Source == task.SourceAgentContainer, "the source is %s", a.Task.Source)
	expect.Is(t, a.Prompts[0].RejectionReason, "Without a direct message")
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

// What a person types, Slack's clients send in their own form; the request has it as people see it, and goes on.
func TestARequestIsReadAsItWasTyped(t *testing.T) {
	expect.AtNight(t)
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
			d.Until("it is cancelled", ended)
		}
	}
}

func TestAQuestionGetsAPlainReply(t *testing.T) {
	for locale, want := range map[string][2]string{"ja": {"使い方は?", "Ringi には「今月の勤怠をまとめて」"},
		"en": {"What can you do?", "Ask Ringi for work in plain words"}} {
		t.Run(locale, func(t *testing.T) {
			if locale != "ja" {
				expect.AtNight(t)
			}
			s := start(t)
			driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = locale })
			d := driver.Ask(t, s, webapi.Sato, want[0])
			a := d.Until("it is answered", func(a *task.Aggregate) bool {
				return a.Head.Ended != nil &&
					a.Head.ShownRev == a.Head.Rev
			})
			said := d.Cards("CARD#task")
			expect.That(t, len(said) == 1 && strings.Contains(said[0].Text, want[1]) && len(said[0].Attachments) == 0,
				"replied %+v", said)
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
	reason, request := say(webapi.Sato, "DM での連絡は不要です"), say(webapi.Tanaka, "先月の残業時間を確認して")
	for _, d := range []*driver.Request{reason, request} {
		d.Card("CARD#task", "の *実行方針 v1* が承認を待っています")
		d.RunsEnd()
		if a := d.Load(); a.Task != nil || a.Used() != nil {
			t.Errorf("something was generated: %+v", a.Task)
		}
	}
	reason.Click(webapi.Guest, "CARD#task", "take_as_reason")
	reason.Click(webapi.Suzuki, "CARD#task", "take_as_reason")
	a := waits.Until("the policy is sent back",
		func(a *task.Aggregate) bool { return a.Prompts[0].Status == aggregate.Rejected })
	if p := a.Prompts[0]; p.RejectedBy != webapi.Suzuki || p.RejectionReason != "DM での連絡は不要です" {
		t.Errorf("%+v", p.Verdict)
	}
	waits.Card("CARD#prompt#0002", "approve_prompt")
	b := reason.Until("the message is done with", func(a *task.Aggregate) bool {
		return a.Head.Ended != nil &&
			a.Head.ShownRev == a.Head.Rev
	})
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
		"ja": {"HR AI Agent です。業務を依頼してください。", "今月の勤怠をまとめて"}, "en": {"This is Ringi. Tell me what you need done.",
			"Summarize this month's attendance"},
	} {
		t.Run(locale, func(t *testing.T) {
			if locale != "ja" {
				expect.AtNight(t)
			}
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
	expect.AtNight(t)
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

// elsewhere is a request whose cards are looked for among the messages of another channel.
func elsewhere(d *driver.Request, channel string) *driver.Request {
	at := *d
	at.Channel, at.Root = channel, ""
	return &at
}

// byChannel is a rule that asks the channel, then Alex.
func byChannel(kinds ...rules.Kind) rules.Rule {
	return rules.Rule{ID: "01KS000000000000000000000E", Name: "みんなで", When: rules.Conditions{Kinds: kinds},
		Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: "みんな", Need: 1, Who: rules.Who{Kind: rules.WhoChannel}}, desk("部長", 1, webapi.Alex),
		}}}}
}

// homed names who approves direct messages, and leaves the policy without approval.
func homed(t *testing.T, s *stack.Stack, home rules.Home) {
	t.Helper()
	driver.Settings(t, s, func(x *tenancy.Settings) { x.PromptApprovalRequired, x.DirectApprovers = false, home })
	t.Cleanup(func() {
		driver.Settings(t, s, func(x *tenancy.Settings) { x.PromptApprovalRequired, x.DirectApprovers = true, rules.Home{} })
	})
}

const (
	listing = "従業員一覧を取得して"
	steps   = "CARD#process#0001"
	begun   = "✅ 1. *従業員一覧を取得*" // the write after it is asked about anew, since nobody stamped the policy
)

// The home's members see the steps in their channel, and stamp there.
func TestTheHomeStampsWhatIsAskedInDirectMessages(t *testing.T) {
	s := start(t)
	homed(t, s, rules.Home{Channel: webapi.HR})
	under(t, s, byChannel())
	d := driver.AskIn(t, s, webapi.Sato, webapi.DirectMessage(webapi.Sato), listing)
	d.Card(steps, "回覧 🔵 みんな")
	expect.Same(t, d.Load().Head.ShownTo, []string{webapi.HR})
	home, key := elsewhere(d, webapi.HR), steps+"@"+webapi.HR
	home.Card(key, "回覧 🔵 みんな")
	home.Click(webapi.Tanaka, key, "approve_process")
	a := d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == 1 })
	expect.Is(t, a.Process().Acts[0].Found.Channel, webapi.HR)
	home.Card(key, "👉 いま: 部長")
	elsewhere(d, webapi.DirectMessage(webapi.Alex)).Click(webapi.Alex, steps+"@"+webapi.Alex+"/2",
		"approve_process")
	d.Card("CARD#execution", begun)
	home.Card(key, "回覧済み")
}

func TestWithoutAHomeNoModelIsPaid(t *testing.T) {
	s := start(t)
	homed(t, s, rules.Home{})
	under(t, s, byChannel())
	d := driver.AskIn(t, s, webapi.Sato, webapi.DirectMessage(webapi.Sato), listing)
	d.Card(driver.TaskCard, "管理者に「ダイレクトメッセージの承認者」の設定を依頼してください")
	a := d.Load()
	expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonNoHome && a.Used() == nil, "%+v", a.Head)
}

// The agent is told why, and the conversation goes on.
func TestWithoutAHomeAnAgentProposesNothing(t *testing.T) {
	expect.AtNight(t)
	s := start(t)
	homed(t, s, rules.Home{})
	under(t, s, byChannel(rules.KindAction))
	d := driver.Talk(t, s, webapi.Sato, "codex: hello.txt を作って")
	d.Shows("")
	a := d.Rests()
	expect.That(t, a.Current() == nil && a.Conversation.Actions == 0 && a.Conversation.Status != conversation.Closed,
		"%+v", a.Conversation)
}
