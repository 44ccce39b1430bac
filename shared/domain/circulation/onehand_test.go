package circulation_test

import (
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// A is at three desks, and stands in for B and C. Whatever A presses, in whatever order, the gate needs another hand.
func TestOnePersonAtManyDesksSettlesNothing(t *testing.T) {
	for hands := 2; hands <= 3; hands++ {
		g := gateOf(hands, desk("section", 1, "A", "B"), desk("accounts", 1, "A", "C"), desk("head", 1, "A", "D"))
		var moves []circulation.Act
		for stage := 1; stage <= 3; stage++ {
			moves = append(moves, of(stamp, "A", stage), of(back, "A", stage))
			for _, principal := range []string{"B", "C", "D"} {
				moves = append(moves, instead(stamp, "A", principal, stage), instead(back, "A", principal, stage))
			}
		}
		states := 0
		var walk func(g circulation.Gate, depth int)
		walk = func(g circulation.Gate, depth int) {
			st := circulation.Walk(g)
			states++
			expect.Must(t, st.Refused == nil && !st.Settled, "%d hands: A settled it alone: %+v", hands, g.Acts)
			if depth == 0 {
				return
			}
			for _, act := range moves {
				if circulation.Admit(g, st, act) == nil {
					walk(then(g, act), depth-1)
				}
			}
		}
		walk(g, 7)
		expect.That(t, states > 15, "only %d states", states)

		alone := gateOf(hands, desk("section", 1, "A"), desk("accounts", 1, "A"), desk("head", 1, "A"))
		expect.That(t, circulation.Walk(alone).Refused != nil, "%d hands: a route of one person opens", hands)
		g = after(g, of(stamp, "A", 1), of(stamp, "A", 2))
		if hands == 2 {
			expect.That(t, circulation.Walk(then(g, of(stamp, "D", 3))).Settled, "D's stamp doesn't settle it")
		}
	}
}

// Nobody stamps at any desk with another account of theirs, as or for an asker, or where the organisation has no row of
// them; and nobody whom the stage doesn't ask, by a delegation of somebody whom it does, for somebody else.
func TestWhoNeverStampsAtAnyDesk(t *testing.T) {
	org := keys{"Q": "q", "Q2": "q", "A": "a", "A2": "a", "B": "b", "C": "c", "X": "x"}
	stages := []circulation.Stage{desk("people", 2, "A", "B", "C", "Q2"), channel("channel"), desk("last", 1, "C", "Q")}
	for n := range stages {
		g := org.gate(gateOf(1, stages[n:n+1]...))
		st := circulation.Walk(g)
		expect.Must(t, st.Refused == nil, "stage %d: %v", n, st.Refused)
		none := org.act(inChannel(stamp, "A", 1)) // of whom the organisation knows nothing
		none.Hand.Person, none.Principal.Person = "", ""
		noOrg := org.act(inChannel(stamp, "C", 1))
		noOrg.Found.Org = ""
		for name, act := range map[string]circulation.Act{
			"the asker":                   org.act(inChannel(stamp, "Q", 1)),
			"the asker's second account":  org.act(inChannel(stamp, "Q2", 1)),
			"for the asker":               org.act(instead(stamp, "X", "Q", 1)),
			"the asker for somebody":      org.act(instead(stamp, "Q", "C", 1)),
			"the second account for C":    org.act(instead(stamp, "Q2", "C", 1)),
			"no row in the organisation":  none,
			"nobody asked about that row": noOrg,
			"a leaver, as nobody says more of them than that they were asked": func() circulation.Act {
				act := org.act(of(stamp, "C", 1))
				act.Found.Org = ""
				return act
			}(),
		} {
			expect.That(t, circulation.Admit(g, st, act) != nil, "stage %d, %s: the stamp counts", n, name)
		}
		twice := then(g, org.act(inChannel(stamp, "A", 1)))
		if n == 0 {
			again := org.act(inChannel(stamp, "A2", 1))
			expect.That(t, circulation.Admit(twice, circulation.Walk(twice), again) != nil, "A stamps twice, by two accounts")
		}
	}
}
