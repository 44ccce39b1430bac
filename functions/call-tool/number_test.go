package main

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// A call that people settled by a numbered rule takes the next number when it is made.
func TestACallTakesItsNumber(t *testing.T) {
	w := opened(t, storetest.Start(t))
	hand := circulation.Person{User: "U2"}
	stage := circulation.Stage{Name: "U2", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{hand}}
	x := w.proposed(write, &aggregate.Opening{
		Rule:   circulation.Rule{ID: "r1", Name: "messages", Revision: 1, Numbered: true},
		Askers: []circulation.Person{{User: "U1"}},
		Route:  circulation.Route{Form: circulation.Form, Hands: 1, Stages: []circulation.Stage{stage}},
	})
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U2", Team: team, Member: true}
	w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: x.Gate.Asked}
		return a.Act(x.ActionID, act, by, aggregate.Policy{Team: team}, w.now)
	})
	w.run = w.decide(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(w.now) }).Head.Run
	for range 2 { // and once
		expect.Value(w.handle())(t)
		given := expect.Value(store.Decisions(t.Context(), w.rows.Of.Store, w.ref.Tenant,
			tenancy.DefaultSettings().FiscalYear(w.now), "", 0))(t)
		expect.Must(t, len(given) == 1 && len(w.vendor.calls) == 1, "%d numbers, %d calls", len(given), len(w.vendor.calls))
		expect.Is(t, w.action().DecisionNumber, given[0].String())
	}
}
