package rules_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// Who stands above whoever holds an early post, and is asked later anyway, is asked there: after those between.
func TestOnesOwnStageIsLeftToALaterOne(t *testing.T) {
	ownUp := rules.Empty{Vacant: rules.ThenRefuse, Own: rules.ThenUp, Twice: rules.ThenSkip}
	own, above, between := people(1, ownUp, "R"), people(1, skip, "A"), people(1, skip, "X")
	strict := own
	strict.NoStandIns = true
	again, higher := above, above
	again.Empty.Twice, higher.Empty.Twice = rules.ThenAgain, rules.ThenUp
	resolveEach(t, map[string]resolving{
		"after who approves":        {policy(0, own, between, above), nil, "-later X/1 A/1 hands 2"},
		"of two posts":              {policy(0, own, own, between, above), nil, "-later -later X/1 A/1 hands 2"},
		"of posts around":           {policy(0, own, between, own, above), nil, "-later X/1 -later A/1 hands 2"},
		"with nobody between":       {policy(0, own, above), nil, "A/1 -twice hands 1"},
		"with nobody asked between": {policy(0, own, people(1, skip, "A"), above), nil, "A/1 -twice -twice hands 1"},
		"somebody else later":       {policy(0, own, between, people(1, skip, "B")), nil, "A/1 X/1 B/1 hands 2"},
		"any of two later":          {policy(0, own, between, people(1, skip, "A", "B")), nil, "A/1 X/1 A,B/1 hands 2"},
		"asked again":               {policy(1, own, between, again), nil, "A/1 X/1 A/1 hands 1"},
		"who is above, again":       {policy(0, own, between, higher), nil, "A/1 X/1 B/1 hands 2"},
		"stricter than later":       {policy(0, strict, between, above), nil, "A/1 X/1 -twice hands 2"},
		"of one beside":             {policy(0, beside(own, rules.Source{Who: ofUsers("Y"), Need: 1}), between, above), nil, "A,Y/2 X/1 -twice hands 2"},
		"others' words":             {policy(0, own, between, above), alsoAsk("Z"), "-later X/1 A/1 hands 2"},
		"words of who is above":     {policy(0, own, between, above), alsoAsk("A"), "refused 3 askers"},
	})
}

// A route in which a stage is left to a later one is that of the rule without it, and asks whom it would have asked
// with nobody between, at the same strictness.
func TestAStageLeftToALaterOneChangesOnlyTheOrder(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		d, f := staff(), asked(writes(pay, yen("1")))
		p := policy(rapid.IntRange(0, 2).Draw(t, "hands"))
		often := func(label string) bool { return rapid.IntRange(0, 4).Draw(t, label) > 0 }
		for i := range rapid.IntRange(3, 6).Draw(t, "stages") {
			users := []string{rapid.SampledFrom([]string{"R", "A", "B", "X"}).Draw(t, "user")}
			switch i {
			case 0:
				users[0] = "R"
			case 2:
				users[0] = "A"
			}
			if !often("one") {
				users = append(users, "Y")
			}
			then := rules.Empty{Vacant: rules.ThenRefuse, Own: rules.ThenUp, Twice: rules.ThenSkip}
			if !often("skip") {
				then.Twice = rules.ThenUp
			}
			s := people(rapid.IntRange(0, 1).Draw(t, "need"), then, users...)
			s.NoStandIns = !often("alone")
			p.Stages = append(p.Stages, s)
		}
		if rapid.IntRange(0, 3).Draw(t, "words") == 0 {
			alsoAsk("Z")(d, f)
		}
		route, err := p.Resolve(f, rules.Floor{}, d)
		if err != nil {
			return
		}
		without, rest, first := *p, []circulation.Stage(nil), -1
		without.Stages, without.Hands = nil, cmp.Or(p.Hands, route.Hands)
		for i, s := range route.Stages {
			if s.LeftOut != rules.LeftLater {
				without.Stages, rest = append(without.Stages, p.Stages[i]), append(rest, s)
				continue
			}
			seen++
			whom, at := expect.Value(policy(1, p.Stages[i]).Resolve(f, rules.Floor{}, d))(t).Stages[0], -1
			for j, s := range route.Stages {
				if j > i && slices.Equal(usersOf(s.People), usersOf(whom.People)) && s.Need == whom.Need {
					at = j
				}
			}
			expect.Must(t, at > i, "%s asks %v nowhere", drawn(route), usersOf(whom.People))
			expect.That(t, route.Stages[at].NoStandIns || !p.Stages[i].NoStandIns, "%s is lighter at %d", drawn(route), at)
			asked := func(s circulation.Stage) bool { return s.LeftOut == "" }
			expect.That(t, first >= 0 || slices.ContainsFunc(route.Stages[i+1:at], asked), "%s: nobody is between", drawn(route))
			first = max(first, i)
		}
		if first >= 0 {
			expect.Same(t, expect.Value(without.Resolve(f, rules.Floor{}, d))(t).Stages, rest)
		}
	})
	expect.That(t, seen > 0 || testing.Short(), "no stage was left to a later one")
}
