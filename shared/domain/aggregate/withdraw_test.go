package aggregate_test

import (
	"errors"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// While a gate waits along a route, its people cancel in the place of every approver.
func TestWhoCancelsWhatGoesRound(t *testing.T) {
	p := aggregate.Policy{Team: "T1", Mode: aggregate.ApproversList, Approvers: []string{"LISTED", "A"}}
	user := func(id string, change ...func(by *aggregate.Actor)) aggregate.Actor {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: "T1"}
		for _, c := range change {
			c(&by)
		}
		return by
	}
	waits := routed()
	settled := acted(t, waits, act(circulation.Stamp, "A", 1), act(circulation.Stamp, "B", 2))
	settled.Status = aggregate.Approved
	sent := acted(t, waits, act(circulation.SendBack, "A", 1))
	sent.Status = aggregate.Rejected
	replaced := waits
	stand := act(circulation.Stand, "ADMIN", 1)
	stand.For, stand.To = &circulation.Person{User: "A"}, &circulation.Person{User: "C", Via: "group S1"}
	stand.Found.Admin, stand.Found.Resolved = &circulation.Admin{Key: "TENANT", Rev: 7}, stand.To.Via
	replaced = acted(t, replaced, stand)
	told := waits
	told.Route = &circulation.Route{Form: circulation.Form, Hands: 2, Stages: waits.Route.Stages,
		Readers: []circulation.Person{{User: "READER"}}}
	later := waits
	later.Route = &circulation.Route{Form: circulation.Form + 1, Hands: 2, Stages: waits.Route.Stages}
	bare := aggregate.Gate{Status: aggregate.PendingApproval}
	admin := func(by *aggregate.Actor) { by.Admin = true }
	guest := func(by *aggregate.Actor) { by.Guest = true }
	foreign := func(by *aggregate.Actor) { by.Team = "T2" }
	for name, c := range map[string]struct {
		gate *aggregate.Gate
		by   aggregate.Actor
		want aggregate.Rule
	}{
		"the requester":                       {&waits, user("REQ"), ""},
		"the requester, a guest":              {&waits, user("REQ", guest), ""},
		"one who is asked":                    {&waits, user("A"), ""},
		"one who is asked later":              {&waits, user("B"), ""},
		"an approver who is not asked":        {&waits, user("LISTED"), aggregate.RuleOffRoute},
		"anybody":                             {&waits, user("X"), aggregate.RuleOffRoute},
		"an administrator":                    {&waits, user("X", admin), ""},
		"a guest who is asked":                {&waits, user("A", guest), aggregate.RuleNotParty},
		"who is asked, of another workspace":  {&waits, user("A", foreign), aggregate.RuleForeign},
		"the system":                          {&waits, aggregate.System(), ""},
		"who was replaced":                    {&replaced, user("A"), aggregate.RuleOffRoute},
		"a successor":                         {&replaced, user("C"), ""},
		"who is told afterwards":              {&told, user("READER"), aggregate.RuleOffRoute},
		"who is asked by another form":        {&later, user("A"), aggregate.RuleOffRoute},
		"an approver, once it is settled":     {&settled, user("LISTED"), ""},
		"who was asked, once it is settled":   {&settled, user("B"), ""},
		"anybody, once it is settled":         {&settled, user("X", admin), aggregate.RuleNotParty},
		"who was asked, once it is sent back": {&sent, user("B"), aggregate.RuleNotParty},
		"an approver, without a rule":         {&bare, user("LISTED"), ""},
		"anybody, without a rule":             {&bare, user("X", admin), aggregate.RuleNotParty},
		"an approver, without a gate":         {nil, user("LISTED"), ""},
	} {
		err := p.WithdrawFrom(c.gate, c.by, "REQ")
		refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused.Rule == c.want && (c.want != "" || err == nil), "%s: %v, want the rule %q", name, err, c.want)
	}
}
