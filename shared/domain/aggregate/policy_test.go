package aggregate_test

import (
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

const requester, suzuki, tanaka = "U_SATO", "U_SUZUKI", "U_TANAKA"

func person(id string, change ...func(by *aggregate.Actor)) aggregate.Actor {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: "T", Member: true}
	for _, c := range change {
		c(&by)
	}
	return by
}

func guest(by *aggregate.Actor)    { by.Guest = true }
func stranger(by *aggregate.Actor) { by.Team = "T_OTHER" }
func outside(by *aggregate.Actor)  { by.Member = false }
func agent(by *aggregate.Actor)    { by.Type = aggregate.ActorAgent }

func listed(users ...string) aggregate.Policy {
	return aggregate.Policy{Team: "T", Mode: aggregate.ApproversList, Approvers: users}
}

// refusedBy asserts by which rule something is refused; "": it isn't.
func refusedBy(t *testing.T, err error, want aggregate.Rule, name string) {
	t.Helper()
	refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
	expect.That(t, refused.Rule == want && (want != "" || err == nil), "%s: %v, want the rule %q", name, err, want)
}

func TestWhoMayDecide(t *testing.T) {
	list, nobody := listed(suzuki, requester), listed()
	strict := aggregate.Policy{Team: "T", Mode: aggregate.ApproversChannel}
	channel := strict
	channel.AllowSelf, list.AllowSelf, nobody.AllowSelf = true, true, true
	const foreign, notListed, notParty = aggregate.RuleForeign, aggregate.RuleNotListed, aggregate.RuleNotParty
	for name, c := range map[string]struct {
		policy                    aggregate.Policy
		by                        aggregate.Actor
		approve, reject, withdraw aggregate.Rule
	}{
		"an approver of the list":               {list, person(suzuki), "", "", ""},
		"an approver who is not in the channel": {list, person(suzuki, outside), "", "", ""},
		"one who is not in the list":            {list, person(tanaka), notListed, notListed, notParty},
		"a member, when the list is empty":      {nobody, person(suzuki), "no_approvers", "no_approvers", notParty},
		"the requester, when the list is empty": {nobody, person(requester), "no_approvers", "no_approvers", ""},
		"a member of the channel":               {channel, person(tanaka), "", "", ""},
		"one who is not in the channel": {channel, person(tanaka, outside), "not_a_member",
			"not_a_member", notParty},
		"the same id in another workspace":        {list, person(suzuki, stranger), foreign, foreign, foreign},
		"the requester's id in another workspace": {channel, person(requester, stranger), foreign, foreign, foreign},
		"a guest who is in the list":              {list, person(suzuki, guest), "guest", "guest", notParty},
		"a guest who is in the channel":           {channel, person(suzuki, guest), "guest", "guest", notParty},
		"a guest, of what they asked for":         {channel, person(requester, guest), "guest", "guest", ""},
		"the requester, where that is allowed":    {channel, person(requester), "", "", ""},
		"the requester, where it is not":          {strict, person(requester), aggregate.RuleSelf, "", ""},
		"another, where the requester may not":    {strict, person(tanaka), "", "", ""},
		"an agent": {channel, aggregate.Actor{Type: aggregate.ActorAgent, ID: "agent"},
			foreign, foreign, foreign},
		"the system": {nobody, aggregate.System(), "", "", ""},
	} {
		refusedBy(t, c.policy.Approve(c.by, requester), c.approve, name+" approves")
		refusedBy(t, c.policy.Reject(c.by), c.reject, name+" rejects")
		refusedBy(t, c.policy.Withdraw(c.by, requester), c.withdraw, name+" withdraws")
		again := c.withdraw // who may withdraw may retry, but for guests: that costs money and may write
		if c.by.Guest && again == "" {
			again = aggregate.RuleGuest
		}
		refusedBy(t, c.policy.Retry(c.by, requester), again, name+" retries")
	}
}

// What waits asks the settings anew at each click, and the act says how they allowed it. Under a rule they allow
// nothing, and only a full member of the workspace acts, by their own hand.
func TestWhoMayActOnAGate(t *testing.T) {
	rule, asks := routed(), routed()
	asks.Terms.Rule, asks.Askers = nil, aggregate.People(requester)
	by := func(mode aggregate.ApproverMode, self bool, users ...string) aggregate.Policy {
		return aggregate.Policy{Team: "T", Mode: mode, Approvers: users, AllowSelf: self, Rev: 3}
	}
	const channel, list = aggregate.ApproversChannel, aggregate.ApproversList
	for name, c := range map[string]struct {
		gate   aggregate.Gate
		policy aggregate.Policy
		by     aggregate.Actor
		want   aggregate.Rule
	}{
		"a list without them":  {asks, by(list, false, tanaka), person(suzuki), aggregate.RuleNotListed},
		"an empty list":        {asks, by(list, false), person(suzuki), aggregate.RuleNobody},
		"a list with them":     {asks, by(list, false, suzuki), person(suzuki), ""},
		"the channel":          {asks, by(channel, false), person(suzuki), ""},
		"not one's own":        {asks, by(channel, false), person(requester), aggregate.RuleSelf},
		"one's own":            {asks, by(channel, true), person(requester), ""},
		"an agent":             {asks, by(channel, true), person(suzuki, agent), aggregate.RuleNotListed},
		"under a rule":         {rule, by(list, false), person(suzuki), ""},
		"a guest":              {rule, by(list, false), person(suzuki, guest), aggregate.RuleGuest},
		"of another workspace": {rule, by(list, false), person(suzuki, stranger), aggregate.RuleForeign},
		"an agent, by a rule":  {rule, by(list, false), person(suzuki, agent), aggregate.RuleNotListed},
		"the system":           {rule, by(list, false), aggregate.System(), aggregate.RuleNotListed},
	} {
		act, err := c.policy.Act(&c.gate, c.gate.Acting(circulation.Stamp, c.by, ""), c.by, opened)
		if refusedBy(t, err, c.want, name); err != nil || c.gate.Ruled() {
			continue
		}
		want := circulation.Allowed{Rev: 3, As: string(c.policy.Mode), Self: c.policy.AllowSelf}
		expect.Is(t, *act.Found.Allowed, want, name)
	}
	_, err := by(channel, true).Act(&rule, rule.Acting(circulation.Stamp, person(suzuki), ""), person(tanaka), opened)
	refusedBy(t, err, aggregate.RuleNotListed, "another hand")
}

// Under a rule the people of its route have a write made again or say that it arrived, and no other approver.
func TestWhoMayRetryWhatARouteSettled(t *testing.T) {
	rule, asks := routed(), routed()
	asks.Terms.Rule = nil
	anybody := aggregate.Policy{Team: "T", Mode: aggregate.ApproversChannel}
	for name, c := range map[string]struct {
		gate aggregate.Gate
		by   aggregate.Actor
		want aggregate.Rule
	}{
		"who is asked":         {rule, person("B", outside), ""},
		"the requester":        {rule, person(requester, outside), ""},
		"a member":             {rule, person("U_OTHER"), aggregate.RuleOffRoute},
		"a guest on the route": {rule, person("A", guest), aggregate.RuleGuest},
		"without a rule":       {asks, person("U_OTHER"), ""},
	} {
		refusedBy(t, anybody.RetryFrom(&c.gate, c.by, requester), c.want, name)
	}
}

// A reason has one to a thousand characters, whatever blanks stand around it. One in which nobody can see a character
// is empty, whatever invisible characters it has.
func TestAReasonHasOneToAThousandCharacters(t *testing.T) {
	asks := routed()
	asks.Terms.Rule, asks.Askers = nil, aggregate.People(requester)
	for reason, want := range map[string]string{
		"": "", " \n\t　": "", "\u200b\u200d\u2060": "", "\ufe0f\ufe0e": "", "\u3164\uffa0": "", "\u2800": "", "\u00ad": "",
		"\U000e0041\U000e007f": "", "\u0301\u20e3": "", "\u202e\u2066": "", "\ufeff": "", "\ue000": "",
		" 宛先が違う\n": "宛先が違う", "👍🏽": "👍🏽", "❤\ufe0f": "❤\ufe0f", "。": "。", "a\u200b": "a\u200b", "短": "短",
		"　" + strings.Repeat("理", 1000) + "\n": strings.Repeat("理", 1000), strings.Repeat("理", 1001): "",
		strings.Repeat("🚨", 1000): strings.Repeat("🚨", 1000),
	} {
		got, err := aggregate.CheckReason(reason)
		expect.That(t, got == want && (err != nil) == (want == ""), "%q is taken as %q, %v", reason, got, err)
		act, err := listed(suzuki).Act(&asks, asks.Acting(circulation.SendBack, person(suzuki), reason), person(suzuki),
			opened)
		var field aggregate.Problem
		expect.That(t, err == nil && act.Text == want || want == "" && errors.As(err, &field) &&
			field.Field == "rejection_reason" && strings.Contains(err.Error(), "1 to 1000 characters"), "%q: %v", reason, err)
	}
}
