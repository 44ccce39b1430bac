package decide

import (
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

func action(typ agent.ActionType, calls ...rules.Call) *Action {
	return &Action{
		Conversation: &conversation.Conversation{Channel: "C1", ChannelType: "channel", Locale: "en"}, Type: typ, Calls: calls,
		Askers: []string{"ITO", "SATO"}, Now: time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC),
	}
}

// An action that stays inside its conversation's files writes nothing outside and moves no money; what is no call and
// may reach anything does both.
func TestWhatRulesKnowOfAnAction(t *testing.T) {
	write := rules.Call{Tool: rules.Tool{Name: "post"}, Access: aggregate.Write,
		Amount: rules.Amount{Value: "500", Currency: "JPY"}}
	read := rules.Call{Tool: rules.Tool{Name: "list"}, Access: aggregate.Read, Amount: rules.Nothing()}
	for name, c := range map[string]struct {
		x      *Action
		writes bool
		amount rules.Amount
	}{
		"edits":                            {action(agent.CodeGenerate), false, rules.Nothing()},
		"a test":                           {action(agent.TestRun), false, rules.Nothing()},
		"commands":                         {action(agent.ShellCommand), false, rules.Nothing()},
		"a write":                          {action(agent.ToolCall, write), true, write.Amount},
		"a read":                           {action(agent.ToolCall, read), false, rules.Nothing()},
		"a call of which nothing is known": {action(agent.ToolCall), true, rules.Unknown(rules.WhyUnmarked)},
		"an unknown type":                  {action("move_money"), true, rules.Unknown(rules.WhyUnmarked)},
	} {
		f := c.x.facts(&rules.Rules{}, ids{})
		expect.Same(t, []any{name, f.Kind, f.Writes(), f.Amount(), f.Requester.User, len(f.Askers), f.Place.Channel},
			[]any{name, rules.KindAction, c.writes, c.amount, "ITO", 2, "C1"})
	}
}

// Rules for requests leave actions to the settings until one of them names actions.
func TestRulesDecideAboutActionsOnceOneNamesThem(t *testing.T) {
	ruled := func(kinds ...rules.Kind) *rules.Rules {
		r := in(rules.Outcome{Refuse: "no"})
		r.When.Kinds = kinds
		return &rules.Rules{Form: rules.Form, Rules: []rules.Rule{in(rules.Outcome{Refuse: "no"}), r}}
	}
	later := ruled(rules.KindSteps)
	later.Form++
	expect.Same(t, []bool{
		ruled().Actions(), ruled(rules.KindSteps).Actions(), ruled(rules.KindAction).Actions(),
		ruled(rules.KindSteps, rules.KindAction).Actions(), (&rules.Rules{Form: rules.Form}).Actions(), later.Actions(),
	}, []bool{false, false, true, true, false, true})
}

func TestByTheLastRuleAnActionIsUnruled(t *testing.T) {
	r := &rules.Rules{Form: rules.Form, Rules: []rules.Rule{writing(in(rules.Outcome{Refuse: "no"}, "C1"))}}
	typed := action(agent.ShellCommand)
	command := expect.Value(typed.ByIDs(r))(t)
	expect.That(t, command.Unruled && command.LookUp != nil, "who else is there only Slack knows: %+v", command)
	typed.Typed = true
	command = expect.Value(typed.ByIDs(r))(t)
	expect.That(t, command.Unruled && command.Opening != nil && command.Opening.Rule.ID == rules.LastID &&
		command.Refusal() == nil, "%+v", command)
	call := expect.Value(action(agent.ToolCall).ByIDs(r))(t)
	expect.That(t, !call.Unruled && call.Opening == nil, "%+v", call)
	no, is := call.Refusal().(conversation.ErrByRules)
	expect.That(t, is && no.Why == "rule_refuses" && no.Detail == "no", "%+v", no)
	r.Rules = nil
	call = expect.Value(action(agent.ToolCall).ByIDs(r))(t)
	expect.That(t, call.Unruled && call.Refused != nil && call.Refused.Rule.Name == "Everything else", "%+v", call)
}

// Where an organisation stands, whose department it is must be looked up, so no other rule decides before.
func TestWhereAnOrganisationStandsAnActionIsLookedUp(t *testing.T) {
	r := &rules.Rules{Form: rules.Form, Rules: []rules.Rule{by(in(rules.Outcome{Refuse: "no"}), []string{"SALES"})}}
	x := action(agent.ShellCommand)
	x.Organised = true
	found := expect.Value(x.ByIDs(r))(t)
	expect.That(t, found.LookUp != nil && !found.Unruled && found.Opening == nil, "%+v", found)
	d := office{departments: map[string][]string{"ITO": {"SALES", "HQ"}, "SATO": {"HQ"}}}
	found = expect.Value(x.By(r, d))(t)
	expect.That(t, found.Refused != nil && !found.Unruled, "the latest asker's department: %+v", found)
	x.Askers = []string{"SATO", "ITO"}
	found = expect.Value(x.By(r, d))(t)
	expect.That(t, found.Unruled && found.Opening != nil, "%+v", found)
}
