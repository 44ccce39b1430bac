package rules_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// insteadOf names the order in which others are asked in the place of a source's people.
func insteadOf(s rules.Stage, order ...rules.Who) rules.Stage {
	s.Who.Instead = order
	return s
}

func ofUsers(users ...string) rules.Who { return rules.Who{Kind: rules.WhoPeople, People: users} }

func anyOf(users ...string) (w rules.Who) {
	w.Kind = rules.WhoAny
	for _, user := range users {
		w.Any = append(w.Any, ofUsers(user))
	}
	return w
}

// away records that people are away. A name such as X>Y says that Y stands in for X.
func away(people ...string) change {
	return func(c *company, _ *rules.Facts) {
		c.absences = map[string][]circulation.StandIn{}
		for _, text := range people {
			user, hand, stood := strings.Cut(text, ">")
			x := circulation.StandIn{Principal: c.Person(user), SetBy: c.Person(user)}
			if stood {
				x.Hand = c.Person(hand)
			}
			c.absences[user] = append(c.absences[user], x)
		}
	}
}

// with makes one change of several.
func with(all ...change) change {
	return func(c *company, f *rules.Facts) {
		for _, do := range all {
			do(c, f)
		}
	}
}

// 部長が不在のときは次長、次長も不在のときは主管課長: who is away on the day is replaced by the first in order who is there.
func TestAnOrderOfWhoIsAskedInstead(t *testing.T) {
	vacant := func(c *company, _ *rules.Facts) { c.holders = nil }
	setBy := func(who string) change {
		return func(c *company, _ *rules.Facts) { c.absences["X"][0].SetBy = person(who) }
	}
	forRule := func(c *company, f *rules.Facts) { f.Rule, c.absences["X"][1].Rules = "1", []string{"2"} }
	below := func(c *company, _ *rules.Facts) { c.managers["Y"] = "R" }
	one := policy(0, insteadOf(people(1, refuse, "X"), ofUsers("Y"), ofUsers("Z")))
	alone := insteadOf(people(1, refuse, "X"), ofUsers("Y"))
	alone.NoStandIns = true
	lost := func(c *company, _ *rules.Facts) { c.unknown, c.holders = []string{"次長 of sales"}, nil }
	renamed := policy(0, insteadOf(people(1, refuse, "X"), rules.Who{Kind: rules.WhoPosition, Positions: []string{"次長"},
		Department: "sales"}, ofUsers("Y")))
	first, ownSkip := people(1, refuse, "B"), rules.Empty{Vacant: rules.ThenRefuse, Own: rules.ThenSkip, Twice: rules.ThenAgain}
	stands := func(under, over string) change {
		return func(c *company, _ *rules.Facts) { c.managers[under] = over }
	}
	spoke, above := with(away("X"), alsoAsk("Y")), with(away("X"), stands("Y", "Z"), alsoAsk("Z"))
	second := policy(1, insteadOf(people(1, refuse, "X"), ofUsers("P"), ofUsers("Y")), people(1, skip, "Y"))
	aboveP := with(stands("P", "Z"), alsoAsk("Z"))
	post := func(empty rules.Empty) *rules.Policy { return policy(0, insteadOf(head(empty), ofUsers("Y"))) }
	resolveEach(t, map[string]resolving{
		"who is there":                    {one, nil, "X/1 hands 1"},
		"who is away":                     {one, away("X"), "Y/1 hands 1"},
		"the first is away too":           {one, away("X", "Y"), "Z/1 hands 1"},
		"the first has left":              {one, with(away("X"), gone("Y")), "Z/1 hands 1"},
		"the first asks":                  {one, with(away("X"), alsoAsk("Y")), "Z/1 hands 1"},
		"the first stands below who asks": {one, with(away("X"), below), "Z/1 hands 1"},
		"nobody is there":                 {one, away("X", "Y", "Z"), "refused 1 away"},
		"nobody is there, who is above": {policy(0, insteadOf(people(1, up, "A"), ofUsers("Y"))), away("A", "Y"),
			"B/1 hands 1"},
		"a vacant post":                 {post(refuse), vacant, "Y/1 hands 1"},
		"a vacant post, nobody instead": {post(up), with(vacant, away("Y")), "P/1 hands 1"},
		"a post of another name now":    {renamed, lost, "X/1 hands 1"},
		"such a post is passed over":    {renamed, with(lost, away("X")), "Y/1 hands 1"},
		"who may not stamp":             {one, gone("X"), "Y/1 hands 1"},
		"an own post is not away":       {policy(0, insteadOf(people(1, refuse, "R"), ofUsers("Y"))), nil, "refused 1 own"},
		"a hand comes first":            {one, away("X", "X>W"), "X/1 hands 1"},
		"a hand alone":                  {one, away("X>W"), "X/1 hands 1"},
		"a hand who has left":           {one, with(away("X", "X>W"), gone("W")), "Y/1 hands 1"},
		"a hand who asks":               {one, with(away("X", "X>W"), alsoAsk("W")), "Y/1 hands 1"},
		"a hand for another rule":       {one, with(away("X", "X>W"), forRule), "Y/1 hands 1"},
		"where nobody stands in":        {policy(0, alone), away("X", "X>W"), "Y/1 hands 1"},
		"whom an asker calls away":      {one, with(away("X"), setBy("R")), "X/1 hands 1"},
		"one of two is there": {policy(0, insteadOf(people(1, refuse, "X", "W"), ofUsers("Y"))), away("X"),
			"X,W/1 hands 1"},
		"one of two that are needed": {policy(0, insteadOf(people(0, refuse, "X", "W"), ofUsers("Y"))), away("X"),
			"W,Y/2 hands 1"},
		"two of two that are needed": {policy(0, insteadOf(people(0, refuse, "X", "W"), ofUsers("Y"), ofUsers("Z"))),
			away("X", "W"), "Y,Z/2 hands 1"},
		"who stamps before": {policy(0, people(1, refuse, "Y"), insteadOf(people(1, skip, "X"), ofUsers("Y"))), away("X"),
			"Y/1 -twice hands 1"},
		"a hand who is asked, too": {policy(0, insteadOf(people(0, refuse, "X", "W"), ofUsers("Y"))), away("X", "X>W"),
			"W,Y/2 hands 1"},
		"others' words drop no stage":         {policy(1, first, insteadOf(people(1, skip, "X"), ofUsers("Y"))), spoke, "refused 2 askers"},
		"nor who is there beside them":        {policy(1, first, insteadOf(people(0, skip, "X", "W"), ofUsers("Y"))), spoke, "refused 2 askers"},
		"nor words of who is above them":      {policy(1, first, insteadOf(people(1, skip, "X"), ofUsers("Y"))), above, "refused 2 askers"},
		"an order of who asks isn't own":      {policy(1, first, insteadOf(people(1, ownSkip, "X"), ofUsers("R"))), away("X"), "refused 2 away"},
		"nor vacancies of others":             {policy(1, first, insteadOf(people(0, ownSkip, "X", "Y", "W"), ofUsers("R"))), away("X", "Y"), "refused 2 away"},
		"no second by words":                  {second, with(away("X"), alsoAsk("P")), "Y/1 Y/1 hands 1"},
		"nor by words of who is above":        {second, with(away("X"), aboveP), "Y/1 Y/1 hands 1"},
		"nor by words of a hand":              {second, with(away("X", "X>W"), alsoAsk("W")), "P/1 Y/1 hands 1"},
		"nobody of a source without an order": {policy(0, people(1, refuse, "X")), away("X"), "X/1 hands 1"},
		"one beside is away": {policy(0, beside(people(1, refuse, "A"), rules.Source{Need: 1,
			Who: insteadOf(people(1, refuse, "X"), ofUsers("A"), ofUsers("Y")).Who})), away("X"), "A,Y/2 hands 1"},
		"any in the order, and then one": {policy(0, insteadOf(people(1, refuse, "X"), anyOf("Y", "Z"), ofUsers("W"))),
			away("X"), "Y,Z/1 hands 1"},
		"one of any in the order is away": {policy(0, insteadOf(people(1, refuse, "X"), anyOf("Y", "Z"), ofUsers("W"))),
			away("X", "Z"), "Y/1 hands 1"},
		"any in the order are away": {policy(0, insteadOf(people(1, refuse, "X"), anyOf("Y", "Z"), ofUsers("W"))),
			away("X", "Y", "Z"), "W/1 hands 1"},
		"any is away, and all of them": {policy(0, insteadOf(either(people(1, refuse, "X"), ofUsers("W")), ofUsers("Y"))),
			away("X", "W"), "Y/1 hands 1"},
	})
	d, f := staff(), asked(writes(pay, yen("1")))
	away("X")(d, f)
	s := expect.Value(one.Resolve(f, rules.Floor{}, d))(t).Stages[0]
	of, how, is := circulation.InsteadOf(s.People[0])
	expect.That(t, is && how == "named by the rule", "%+v", s)
	expect.Same(t, of, circulation.Absent{Away: []string{"X"}})
	expect.Is(t, s.Filled, rules.FilledInstead)
	vacant(d, f)
	s = expect.Value(post(refuse).Resolve(f, rules.Floor{}, d))(t).Stages[0]
	of, _, _ = circulation.InsteadOf(s.People[0])
	expect.Same(t, of, circulation.Absent{Vacant: true})
	d.leave = map[string][]string{"部長": {"L"}}
	s = expect.Value(post(refuse).Resolve(f, rules.Floor{}, d))(t).Stages[0]
	of, _, _ = circulation.InsteadOf(s.People[0])
	expect.Same(t, of, circulation.Absent{OnLeave: []string{"L"}})
	d.leave, d.standing = map[string][]string{"": {"X"}}, map[string]rules.Employment{"X": rules.EmploymentNone}
	d.absences = nil
	s = expect.Value(one.Resolve(f, rules.Floor{}, d))(t).Stages[0]
	of, _, _ = circulation.InsteadOf(s.People[0])
	expect.Same(t, of, circulation.Absent{OnLeave: []string{"X"}})
	d.leave = nil
	s = expect.Value(one.Resolve(f, rules.Floor{}, d))(t).Stages[0]
	of, _, _ = circulation.InsteadOf(s.People[0])
	expect.Same(t, of, circulation.Absent{})
	_, _, is = circulation.InsteadOf(circulation.Person{Via: "named by the rule"})
	expect.That(t, !is && !one.OfIDs(), "who is away must be looked up")
}

// Who stands above whoever is on leave is asked in their place, which is named, but by no order.
func TestWhoStandsAboveSomebodyOnLeave(t *testing.T) {
	for name, c := range map[string]struct {
		stage rules.Stage
		leave string
	}{"a post": {head(up), "部長"}, "a manager": {manager(1, refuse), "above R"}} {
		d, f := staff(), asked(writes(pay, yen("1")))
		if name == "a post" {
			d.holders = nil
		}
		d.leave = map[string][]string{c.leave: {"L"}}
		s := expect.Value(policy(0, c.stage).Resolve(f, rules.Floor{}, d))(t).Stages[0]
		of, how, _ := circulation.InsteadOf(s.People[0])
		expect.Same(t, of, circulation.Absent{OnLeave: []string{"L"}, Over: true})
		expect.Is(t, s.Filled, rules.LeftAway, name)
		d.leave = nil
		s = expect.Value(policy(0, c.stage).Resolve(f, rules.Floor{}, d))(t).Stages[0]
		expect.Is(t, s.People[0].Via, how, name)
		expect.That(t, s.Filled != rules.LeftAway, "%s: nobody is on leave: %+v", name, s)
	}
}

// Nobody is asked instead who is away, asks, or is asked already, and as many stamps are asked as without absences.
func TestWhoIsAskedInsteadIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		users := []string{"X", "Y", "Z", "W", "V", "R"}
		some := func(label string, least int) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(users), least, 4, rapid.ID).Draw(t, label)
		}
		need := rapid.IntRange(0, 2).Draw(t, "need")
		s := people(need, refuse, some("asked", max(need, 1))...)
		whole := policy(0, s)
		for _, user := range some("order", 0) {
			s.Who.Instead = append(s.Who.Instead, ofUsers(user))
		}
		d, f, absent := staff(), asked(writes(pay, yen("1"))), some("away", 0)
		before, err := whole.Resolve(f, rules.Floor{}, d)
		away(absent...)(d, f)
		route, failed := policy(0, s).Resolve(f, rules.Floor{}, d)
		if err != nil || failed != nil {
			return
		}
		is := route.Stages[0]
		expect.Is(t, is.Need, before.Stages[0].Need)
		for i, p := range is.People {
			expect.That(t, p.User != "R" && !slices.ContainsFunc(is.People[:i], p.Is), "%+v", is.People)
			_, _, instead := circulation.InsteadOf(p)
			expect.That(t, !slices.Contains(absent, p.User) || !instead && is.Filled == "", "%s is away: %+v", p.User, is)
			expect.That(t, instead || slices.Contains(s.Who.People, p.User), "%+v", p)
		}
	})
}

func TestFindingsLookAtWhoIsAskedInstead(t *testing.T) {
	vacant := func(c *company) { c.holders = nil }
	relative := rules.Who{Kind: rules.WhoManager, Level: 1}
	findEach(t, map[string]finding{
		"a vacant post":    {staffed(vacant), rule(2, writing(), head(up)), []rules.Finding{found(rules.FindingVacant, 1, today)}},
		"somebody instead": {staffed(vacant), rule(2, writing(), insteadOf(head(up), ofUsers("A"))), nil},
		"whoever is above": {staffed(vacant), rule(2, writing(), insteadOf(head(up), relative)), nil},
		"somebody who is gone instead": {staffed(func(c *company) {
			c.standing = map[string]rules.Employment{"A": rules.EmploymentNone}
		}), rule(2, writing(), insteadOf(head(up), ofUsers("A"))),
			[]rules.Finding{{Kind: rules.FindingGone, Rule: id(2), Stage: 1, From: today, Who: "A"},
				{Kind: rules.FindingGone, Rule: id(2), Stage: 1, From: next, Who: "A"}}},
		"an unknown post instead": {staffed(func(c *company) { c.unknown = []string{"次長 of sales"} }),
			rule(2, writing(), insteadOf(head(up), rules.Who{Kind: rules.WhoPosition, Positions: []string{"次長"},
				Department: "sales"})), []rules.Finding{{Kind: rules.FindingPassed, Rule: id(2), Stage: 1,
				Who: "次長 (営業部)"}}},
	})
}

func TestWhatAnOrderMayBe(t *testing.T) {
	at := "rules[0].route.stages[0].who.instead"
	deep := ofUsers("UY")
	deep.Instead = []rules.Who{ofUsers("UZ")}
	asksChannel := channel()
	asksChannel.Who.Instead = []rules.Who{ofUsers("UY")}
	for name, c := range map[string]struct {
		stage rules.Stage
		wrong []string
	}{
		"people":       {insteadOf(people(1, refuse, "UX"), ofUsers("UY")), nil},
		"most":         {insteadOf(people(1, refuse, "UX"), slices.Repeat([]rules.Who{ofUsers("UY")}, 5)...), []string{at}},
		"the channel":  {insteadOf(people(1, refuse, "UX"), rules.Who{Kind: rules.WhoChannel}), []string{at + "[0].kind"}},
		"nobody":       {insteadOf(people(1, refuse, "UX"), ofUsers()), []string{at + "[0].people"}},
		"an order":     {insteadOf(people(1, refuse, "UX"), deep), []string{at + "[0].instead"}},
		"of a channel": {asksChannel, []string{at}},
		"any":          {insteadOf(people(1, refuse, "UX"), anyOf("UY", "UZ")), nil},
		"any of one":   {insteadOf(people(1, refuse, "UX"), anyOf("UY")), []string{at + "[0].any"}},
		"any of any": {insteadOf(people(1, refuse, "UX"), rules.Who{Kind: rules.WhoAny,
			Any: []rules.Who{ofUsers("UY"), anyOf("UY", "UZ")}}), []string{at + "[0].any[1].kind"}},
		"any with none": {insteadOf(people(1, refuse, "UX"), rules.Who{Kind: rules.WhoPosition, Positions: []string{"次長"},
			Label: "関係部", None: "なし"}), []string{at + "[0].none"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, fieldsOf(of(rule(1, only(read), c.stage)).Problems(known)), c.wrong)
		})
	}
	post := rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}, Instead: []rules.Who{ofUsers("UY")}}
	told := of(rule(1, writing(), people(1, refuse, "UX")))
	told.Rules[0].Route.Readers = &rules.Readers{Posts: []rules.Who{post}}
	expect.Same(t, fieldsOf(told.Problems(known)), []string{"rules[0].route.readers.posts[0].instead"})
	labelled := rules.Who{Kind: rules.WhoPosition, Positions: []string{"次長"}, Label: "関係部"}
	for _, w := range []rules.Who{labelled, {Kind: rules.WhoAny, Any: []rules.Who{ofUsers("UY"), labelled}}} {
		expect.Same(t, policy(0, insteadOf(people(1, refuse, "UX"), w)).Labels(), []string{"関係部"})
	}
}
