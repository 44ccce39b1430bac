package journeys

import (
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

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

func TestNamedPeopleAreAskedInDirectMessages(t *testing.T) {
	s := start(t)
	homed(t, s, rules.Home{})
	under(t, s, rules.Rule{ID: "01KS000000000000000000000F", Name: "課長だけ", Outcome: rules.Outcome{
		Route: &rules.Policy{Stages: []rules.Stage{desk("課長", 1, webapi.Tanaka)}}}})
	d := driver.AskIn(t, s, webapi.Sato, webapi.DirectMessage(webapi.Sato), listing)
	d.Card(steps, "👉 いま: 課長")
	elsewhere(d, webapi.DirectMessage(webapi.Tanaka)).Click(webapi.Tanaka, steps+"@"+webapi.Tanaka+"/1",
		"approve_process")
	d.Card("CARD#execution", begun)
}

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
	s := start(t)
	homed(t, s, rules.Home{})
	under(t, s, byChannel(rules.KindAction))
	d := driver.Talk(t, s, webapi.Sato, "codex: hello.txt を作って")
	d.Shows("")
	a := d.Rests()
	expect.That(t, a.Current() == nil && a.Conversation.Actions == 0 && a.Conversation.Status != conversation.Closed,
		"%+v", a.Conversation)
}
