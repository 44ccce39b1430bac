package rules_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// wayTo returns the weakest way to a tool.
func wayTo(t *testing.T, r *rules.Rules, tool rules.Tool) rules.Way {
	t.Helper()
	ways := r.Ways(known)
	i := slices.IndexFunc(ways, func(w rules.Way) bool { return w.Tool == tool })
	expect.Must(t, i >= 0, "there is no way to %v", tool)
	return ways[i]
}

// Case 8: the weakest way in says which rule, from where, and with which other tool.
func TestTheWeakestWayIn(t *testing.T) {
	strict := rule(1, some(pay), manager(1, rules.EmptyUp), group(2, rules.EmptyRefuse), head(rules.EmptyUp))
	weak := rule(2, rules.Conditions{Places: &rules.Places{Channels: []string{"C9"}}}, people(1, rules.EmptyRefuse, "A"))
	anywhere := rule(3, writing(), manager(1, rules.EmptyUp), group(1, rules.EmptyRefuse))
	both := func(places ...rules.Place) (from []rules.Where) {
		for _, k := range []rules.Kind{rules.KindSteps, rules.KindAction} {
			for _, p := range places {
				from = append(from, rules.Where{Kind: k, Place: p})
			}
		}
		return from
	}
	all := both(rules.Place{}, rules.Place{Direct: true}, rules.Place{Channel: "C9"})

	r := of(strict, weak, anywhere)
	expect.Same(t, wayTo(t, r, pay), rules.Way{Tool: pay, Rule: id(1), Hands: 2, Stamps: 4, From: all})
	expect.Same(t, wayTo(t, r, sheet), rules.Way{Tool: sheet, Rule: id(2), Hands: 1, Stamps: 1,
		From: both(rules.Place{Channel: "C9"})})
	expect.Is(t, len(r.Ways(known)), len(known)-1, "ways, and none to the tool that reads")

	r = of(weak, strict, anywhere)
	expect.Is(t, wayTo(t, r, pay).Rule, id(2))

	small := rule(4, under(some(pay), "100"), people(1, rules.EmptyRefuse, "A"))
	expect.Is(t, wayTo(t, of(small, strict), pay).Rule, id(4))
	expect.Is(t, wayTo(t, of(strict, small), pay).Rule, id(1))

	beside := rule(5, some(dm), people(1, rules.EmptyRefuse, "A"))
	expect.Same(t, wayTo(t, of(beside, anywhere), sheet), rules.Way{Tool: sheet, Rule: id(5), Hands: 1, Stamps: 1,
		With: &dm, From: both(rules.Place{}, rules.Place{Direct: true})})
	alone := rule(6, only(dm), people(1, rules.EmptyRefuse, "A"))
	expect.Is(t, wayTo(t, of(alone, anywhere), sheet).Rule, id(3))
	expect.Is(t, wayTo(t, of(alone, anywhere), dm).Rule, id(6))
}

// A tool that no rule takes is refused, until the last rule has a route; a rule's refusal is no way.
func TestNoWay(t *testing.T) {
	refuse := rules.Rule{ID: id(1), Name: "no", When: some(pay), Outcome: rules.Outcome{Refuse: "No."}}
	r := of(refuse)
	expect.Same(t, wayTo(t, r, pay), rules.Way{Tool: pay, Refused: true})
	expect.Same(t, wayTo(t, r, dm), rules.Way{Tool: dm, Refused: true})
	r.Last.Writes.Route = policy(0, people(2, rules.EmptyRefuse, "A", "B", "D"))
	expect.Is(t, wayTo(t, r, dm).Stamps, 2)
	expect.That(t, wayTo(t, r, dm).Rule == rules.LastID && wayTo(t, r, pay).Refused, "%v", r.Ways(known))
}

// Stages that may be left out don't count, but the floor does.
func TestAWayCountsWhatIsAskedAtTheLeast(t *testing.T) {
	r := of(rule(1, writing(), people(2, rules.EmptySkip, "A", "B"), people(1, rules.EmptySkip, "D"),
		people(1, rules.EmptySkip, "E")))
	expect.That(t, wayTo(t, r, dm).Stamps == 1 && wayTo(t, r, dm).Hands == 1, "%v", r.Ways(known))
	r.Floor.Stamps = 2
	expect.Is(t, wayTo(t, r, dm).Stamps, 2)
	r.Rules[0].Route.Hands = 2
	expect.Is(t, wayTo(t, r, dm).Hands, 2)
}

// No request reaches a tool by less than its weakest way says.
func TestNothingIsWeakerThanTheWeakestWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := drawnRules(t), drawnCompany(t)
		weakest := map[rules.Tool]rules.Way{}
		for _, w := range r.Ways(known) {
			weakest[w.Tool] = w
		}
		for range 20 {
			f := drawnFacts(t)
			a := r.Match(f)
			if a.Refused {
				continue
			}
			route, err := a.Route.Resolve(f, r.Floor, d)
			if err != nil {
				continue
			}
			stamps := 0
			for _, s := range route.Stages {
				stamps += s.Need
			}
			for _, c := range f.Calls {
				w, writes := weakest[c.Tool]
				if !writes || c.Access != aggregate.Write {
					continue
				}
				expect.That(t, !w.Refused && (route.Hands > w.Hands || route.Hands == w.Hands && stamps >= w.Stamps),
					"%v: %d stamps by %d hands by rule %s, and the weakest way is %+v", c.Tool, stamps, route.Hands, a.Rule.ID, w)
			}
		}
	})
}
