package main

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// What was settled along a route is executed for 14 days; then it ends, and the run with it.
func TestWhatWasSettledTooLongAgoIsNotExecuted(t *testing.T) {
	server := storetest.Start(t)
	for days, runs := range map[int]bool{14: true, 15: false} {
		w := approved(t, server, conversation.ShellCommand, command)
		w.settledAlong(command)
		w.now = w.now.AddDate(0, 0, days)
		expect.Value(w.handle())(t)
		a := expect.Value(w.rows.Load(t.Context(), w.ref))(t)
		x := a.Actions[1]
		expect.Is(t, w.box.ran > 0, runs, days, "days later it is executed")
		if !runs {
			expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonAged &&
				a.Current() == nil, "%+v", x)
		}
	}
}

// settledAlong has U1 propose the same in place of the approved action, and U2 settle it along a route.
func (w *world) settledAlong(p conversation.Payload) {
	w.settledBy(circulation.Rule{ID: "r1", Name: "commands", Revision: 1}, p)
}

// settledBy is settledAlong by a rule.
func (w *world) settledBy(rule circulation.Rule, p conversation.Payload) {
	w.t.Helper()
	stage := circulation.Stage{Name: "U2", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U2"}}}
	again := w.proposal(conversation.ShellCommand, p, "")
	again.Terms.ApprovalHours = 72
	again.Opening = &aggregate.Opening{
		Rule: rule, Askers: []circulation.Person{{User: "U1"}},
		Route: circulation.Route{Form: circulation.Form, Hands: 1, Stages: []circulation.Stage{stage}},
	}
	hand, by := circulation.Person{User: "U2"}, aggregate.Actor{Type: aggregate.ActorUser, ID: "U2", Team: team}
	for _, decide := range []conversation.Decision{
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Cancel(a.Current().ActionID, person(), policy, w.now)
		},
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Propose(*again, person(), policy, w.now)
		},
		func(a *conversation.Aggregate) (aggregate.Change, error) {
			x := a.Current()
			act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: x.Gate.Asked}
			return a.Act(x.ActionID, act, by, policy, w.now)
		},
	} {
		w.decide(decide)
	}
}
