package circulation_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// Each part of a stage needs its own stamps. Whose part has them owes nothing.
func TestEachPartHasItsStamps(t *testing.T) {
	g := gateOf(2, cut(desk("both", 0, "A", "B", "C", "D"), 2, 1, 2, 1), desk("last", 1, "E"))
	st := circulation.Walk(after(g, of(stamp, "A", 1)))
	expect.Same(t, st.Owes(), people("C", "D"))
	expect.Same(t, st.Stages[0].PartStates(), []circulation.PartState{{People: people("A", "B"), Need: 1},
		{People: people("C", "D"), Need: 1, Owed: 1}})
	expect.That(t, st.Stages[1].PartStates() == nil, "a stage that isn't cut has parts")
	for _, kind := range []circulation.Kind{stamp, sendBack, giveBack, deny} {
		expect.Is(t, why(after(g, of(stamp, "A", 1)), of(kind, "B", 1)), circulation.WhyEnough, "%s", kind)
		expect.Is(t, why(after(g, of(stamp, "A", 1)), of(kind, "C", 1)), "", "%s", kind)
	}
	st = walked(g, of(stamp, "A", 1), of(stamp, "D", 1))
	expect.That(t, st.Present == 2 && st.Stages[0].Owed == 0, "%+v", st.Refused)
	st = walked(g, successor("X", "B", "F", 1), of(stamp, "F", 1))
	expect.Same(t, st.Owes(), people("C", "D"))
	expect.Is(t, stuck(g, "C", "D"), "1:C 1:D")
	expect.Is(t, stuck(g, "A", "C"), "")
}

// Whoever turns out to be an asker whom a stage names may end it, also where their own part has its stamps.
func TestAnAskerOfAPartWithEnoughStampsEndsTheGate(t *testing.T) {
	k := keys{"A": "pA", "B": "pB", "C": "pC", "Q": "pQ"}
	g := k.gate(gateOf(1, cut(desk("both", 0, "A", "B", "C", "Q"), 2, 1, 2, 1)))
	g = after(g, k.act(of(stamp, "A", 1)))
	expect.Is(t, why(g, k.act(of(giveBack, "B", 1))), circulation.WhyEnough)
	k["B"] = "pQ"
	for _, kind := range []circulation.Kind{sendBack, giveBack, deny} {
		expect.Is(t, why(g, k.act(of(kind, "B", 1))), "", "%s", kind)
	}
	expect.Is(t, why(g, k.act(of(stamp, "B", 1))), circulation.WhySelf)
}

// Who is named in two parts is in the first of them.
func TestPartsHaveNobodyTwice(t *testing.T) {
	g := gateOf(1, cut(desk("both", 0, "A", "B", "A", "C"), 2, 1, 2, 1))
	st := circulation.Walk(after(g, of(stamp, "B", 1)))
	expect.Same(t, st.Owes(), people("C"))
	for name, s := range map[string]circulation.Stage{
		"too few people":         cut(desk("both", 0, "A", "B", "C"), 1, 1, 1, 1),
		"too many people":        cut(desk("both", 0, "A", "B"), 2, 1, 1, 1),
		"a part without stamps":  cut(desk("both", 0, "A", "B"), 1, 0, 1, 1),
		"a part of nobody":       cut(desk("both", 0, "A"), 1, 1, 0, 0),
		"of the first part's":    cut(desk("both", 0, "A", "B", "A"), 2, 1, 1, 1),
		"only an asker":          cut(desk("both", 0, "A", "Q"), 1, 1, 1, 1),
		"of a channel's members": cut(channel("all"), 0, 1),
		"another need": func() circulation.Stage {
			s := cut(desk("both", 0, "A", "B", "C"), 2, 1, 1, 1)
			s.Need = 3
			return s
		}(),
	} {
		expect.That(t, circulation.Walk(gateOf(1, s)).Refused != nil, "%s: it opens", name)
	}
}

// A stage that lets nobody act for its people says so to whoever stands in for one of them, and has no such button.
func TestNobodyStandsInThere(t *testing.T) {
	g := gateOf(1, strict(desk("one", 2, "A", "B")))
	for _, kind := range []circulation.Kind{stamp, deny, giveBack} {
		refused, _ := errors.AsType[*circulation.Refusal](circulation.Admit(g, circulation.Walk(g), instead(kind, "X", "A", 1)))
		expect.That(t, refused != nil && refused.Why == circulation.WhyFound && refused.Lacks == circulation.LackAlone &&
			refused.For.User == "A", "%s: %+v", kind, refused)
		expect.Is(t, why(g, of(kind, "A", 1)), "")
	}
	st := circulation.Walk(g)
	all := []circulation.StandIn{{Delegation: circulation.Delegation{Key: "X#A#2026", Rev: 1}, Hand: person("X"),
		Principal: person("A"), Begins: opened, Ends: opened.AddDate(0, 1, 0)}}
	by := st.StandsIn(&g, person("X"), "", all, opened)
	expect.That(t, by != nil && by.Lacks == circulation.LackAlone && !by.Owes() && st.StoodFor(&g, all) == nil, "%+v", by)
}

// Of a hundred people at the first of eight stages it is soon known who owes a stamp.
func TestWhoOwesIsKnownSoon(t *testing.T) {
	var users []string
	for n := range 100 {
		users = append(users, fmt.Sprint("U", n))
	}
	stages := make([]circulation.Stage, 8)
	for i := range stages {
		stages[i] = desk(fmt.Sprint("stage ", i), 5, users[10*i:10*i+10]...)
	}
	stages[0] = desk("all", 60, users...)
	st := circulation.Walk(after(gateOf(70, stages...), of(stamp, "U7", 1)))
	expect.Must(t, st.Refused == nil, "%+v", st.Refused)
	took := time.Hour
	for range 5 { // the best one counts
		took = min(took, expect.Computed(t, func() { expect.Is(t, len(st.Owes()), 99, "owe") }))
	}
	t.Logf("%v", took)
	expect.That(t, took <= 20*time.Millisecond, "%v", took)
}
