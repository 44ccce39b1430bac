package rules_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
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
		for _, k := range []rules.Kind{rules.KindSteps, rules.KindAction, rules.KindCall} {
			for _, p := range places {
				if k != rules.KindCall || !p.Direct { // a key's channel is no direct message
					from = append(from, rules.Where{Kind: k, Place: p})
				}
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

// Fewer hands are weaker than fewer stamps.
func TestHandsCountBeforeStamps(t *testing.T) {
	c9 := rules.Conditions{Places: &rules.Places{Channels: []string{"C9"}}}
	r := of(rule(1, c9, group(3, rules.EmptyRefuse)), rule(2, writing(), group(2, rules.EmptyRefuse)))
	r.Rules[1].Route.Hands = 2
	at := rules.Place{Channel: "C9"}
	expect.Same(t, wayTo(t, r, pay), rules.Way{Tool: pay, Rule: id(1), Hands: 1, Stamps: 3,
		From: []rules.Where{{Kind: rules.KindSteps, Place: at}, {Kind: rules.KindAction, Place: at},
			{Kind: rules.KindCall, Place: at}}})
}

// A rule is no way where an earlier one takes all that would reach it, and is one where it doesn't.
func TestARuleBehindAnother(t *testing.T) {
	kind := func(k ...rules.Kind) rules.Conditions { return rules.Conditions{Kinds: k} }
	c9 := rules.Conditions{Places: &rules.Places{Channels: []string{"C9"}}}
	within := rules.Conditions{Destinations: &rules.Destinations{Go: rules.GoWithin, List: []string{"a"}}}
	for name, c := range map[string]struct {
		strict, weak rules.Conditions
		open         bool
	}{
		"all kinds":                {kind(rules.KindSteps, rules.KindAction, rules.KindCall), rules.Conditions{}, false},
		"one kind":                 {kind(rules.KindSteps), rules.Conditions{}, true},
		"of another kind":          {rules.Conditions{}, kind(rules.KindAction), false},
		"the same place":           {c9, c9, false},
		"another place":            {c9, rules.Conditions{}, true},
		"writes":                   {writing(), rules.Conditions{}, false},
		"the tool":                 {some(pay), writing(), false},
		"the tool alone":           {only(pay), writing(), true},
		"the tool alone, twice":    {only(pay, dm), only(pay), false},
		"the tool that lets it in": {some(dm, sheet), some(dm), false},
		"another tool":             {some(sheet), some(dm), true},
		"destinations":             {within, within, false},
		"other destinations":       {within, rules.Conditions{}, true},
		"no tools listed":          {rules.Conditions{}, some(), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := of(rule(1, c.strict, group(2, rules.EmptyRefuse)), rule(2, c.weak, people(1, rules.EmptyRefuse, "A")))
			r.Last.Writes.Route = policy(0, group(3, rules.EmptyRefuse))
			expect.Is(t, wayTo(t, r, pay).Rule == id(2), c.open, "%+v", wayTo(t, r, pay))
		})
	}
	weak := of(rule(1, kind(rules.KindAction), people(1, rules.EmptyRefuse, "A")))
	for _, from := range wayTo(t, weak, pay).From {
		expect.Is(t, from.Kind, rules.KindAction)
	}
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
	expect.That(t, wayTo(t, r, dm).Stamps == 2 && wayTo(t, r, dm).Hands == 2, "the policy's stages: %v", r.Ways(known))
	r.Rules[0].Route.Hands = 1
	expect.That(t, wayTo(t, r, dm).Stamps == 1 && wayTo(t, r, dm).Hands == 1, "%v", r.Ways(known))
	r.Floor.Stamps = 2
	expect.Is(t, wayTo(t, r, dm).Stamps, 2)
	r.Floor.Stamps = 1
	for name, c := range map[string]struct {
		stages        []rules.Stage
		hands, stamps int
	}{
		"one person may have both":         {[]rules.Stage{manager(1, up), head(twice)}, 1, 1},
		"or be asked again":                {[]rules.Stage{manager(1, up), head(refuse)}, 2, 2},
		"one can't be two of a group":      {[]rules.Stage{manager(1, up), group(2, twice)}, 2, 3},
		"two may be":                       {[]rules.Stage{people(2, up, "A", "B"), group(2, twice)}, 1, 2},
		"named people are others":          {[]rules.Stage{people(1, refuse, "A"), people(1, twice, "B")}, 2, 2},
		"named people are the same":        {[]rules.Stage{people(1, refuse, "A"), people(1, twice, "A")}, 1, 1},
		"of three stages one person's two": {[]rules.Stage{manager(1, up), head(twice), group(2, refuse)}, 2, 3},
	} {
		w := wayTo(t, of(rule(1, writing(), c.stages...)), dm)
		expect.That(t, w.Hands == c.hands && w.Stamps == c.stamps, "%s: %+v", name, w)
	}
}

// What an unmarked tool does has no amount that anybody can read: it is never below one, and always at least one.
func TestAnUnmarkedToolHasNoSmallAmount(t *testing.T) {
	small, large := writing(), writing()
	small.Amount = &rules.Between{Below: "50000", Currency: "JPY"}
	large.Amount = &rules.Between{AtLeast: "50000", Currency: "JPY"}
	r := of(rule(1, small, people(1, rules.EmptyRefuse, "A")), rule(2, large, people(2, rules.EmptyRefuse, "A", "B")),
		rule(3, writing(), people(1, rules.EmptyRefuse, "A")))
	ways := r.Ways([]rules.Known{{Tool: pay, Access: aggregate.Write},
		{Tool: dm, Access: aggregate.Write, Unmarked: true}})
	expect.Same(t, []string{ways[0].Rule, ways[1].Rule}, []string{id(1), id(2)})
}

// A tool that requests call alone opens no way to another one, nor another one to it.
func TestAToolThatIsCalledAloneOpensNoOtherWay(t *testing.T) {
	small := writing()
	small.Tools = &rules.Tools{Use: rules.UseSome, List: []rules.Tool{sheet}}
	r := of(rule(1, small, people(1, rules.EmptyRefuse, "A")), rule(2, writing(), people(2, rules.EmptyRefuse, "A", "B")))
	for alone, want := range map[bool]string{false: id(1), true: id(2)} {
		ways := r.Ways([]rules.Known{{Tool: sheet, Access: aggregate.Write, Alone: alone}, {Tool: dm, Access: aggregate.Write}})
		expect.Same(t, []string{id(1), want}, []string{ways[0].Rule, ways[1].Rule})
		expect.That(t, (ways[1].With == nil) == alone, "%+v", ways[1])
		ways = r.Ways([]rules.Known{{Tool: sheet, Access: aggregate.Write}, {Tool: dm, Access: aggregate.Write, Alone: alone}})
		expect.Is(t, ways[1].Rule, want)
	}
}

// A rule for a label is no way to a tool whose calls have none, but with one that has it; a body's share is counted.
func TestAWayNeedsTheLabelsOfItsRule(t *testing.T) {
	labelled := rule(1, rules.Conditions{Labels: []rules.Labelled{{Name: "区分", Is: rules.UseOnly, List: []string{"契約"}}}},
		people(1, refuse, "A"))
	board := rule(2, writing(), share(people(0, refuse, "A", "B", "D"), rules.ShareMajority))
	r := of(labelled, board)
	decide := rules.Known{Tool: pay, Access: aggregate.Write, Labels: []string{"区分"}, Alone: true}
	plain := rules.Known{Tool: sheet, Access: aggregate.Write}
	ways := r.Ways([]rules.Known{decide, plain})
	expect.Is(t, ways[0].Rule, id(1))
	expect.That(t, ways[1].Rule == id(2) && ways[1].Stamps == 2 && r.Rules[1].Route.AtOnce() == 2, "%+v", ways[1])
	decide.Alone = false
	ways = r.Ways([]rules.Known{decide, plain})
	expect.That(t, ways[1].Rule == id(1) && ways[1].With != nil && *ways[1].With == pay, "%+v", ways[1])
	r.Rules[0].When.Tools = &rules.Tools{Use: rules.UseOnly, List: []rules.Tool{sheet}}
	expect.Is(t, r.Ways([]rules.Known{decide, plain})[1].Rule, id(2))
}

// No request reaches a tool by less than its weakest way says.
func TestNothingIsWeakerThanTheWeakestWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := drawnRules(t), drawnCompany(t)
		weakest, unmarked := map[rules.Tool]rules.Way{}, map[rules.Tool]bool{}
		marked := slices.Clone(known)
		for i := range marked {
			marked[i].Unmarked = rapid.Bool().Draw(t, "unmarked")
			unmarked[marked[i].Tool] = marked[i].Unmarked
		}
		for _, w := range byPerson(r, d).Ways(marked) {
			weakest[w.Tool] = w
		}
		for range 20 {
			f := drawnFacts(t)
			for i, c := range f.Calls {
				if unmarked[c.Tool] && c.Writes() {
					f.Calls[i].Amount = rules.Unknown(rules.WhyUnmarked)
				}
			}
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

// byPerson returns rules that name each person of a body by one account.
func byPerson(r *rules.Rules, d rules.Directory) *rules.Rules {
	text, _ := json.Marshal(r)
	var is rules.Rules
	if err := json.Unmarshal(text, &is); err != nil {
		panic(err)
	}
	once := func(w *rules.Who) {
		var all []circulation.Person
		w.People = slices.DeleteFunc(w.People, func(user string) bool {
			p := d.Person(user)
			twice := slices.ContainsFunc(all, p.Is)
			all = append(all, p)
			return twice
		})
	}
	for _, x := range is.Rules {
		if x.Route == nil {
			continue
		}
		for i := range x.Route.Stages {
			once(&x.Route.Stages[i].Who)
			for j := range x.Route.Stages[i].Beside {
				once(&x.Route.Stages[i].Beside[j].Who)
			}
		}
	}
	return &is
}

// What rules leave to a later one of the same requests is a range, and who asks within it gets that rule.
func TestWhatEarlierRulesLeave(t *testing.T) {
	amounts := []rules.Decimal{"", "100", "200", "300"}
	rapid.Check(t, func(r *rapid.T) {
		var list []rules.Rule
		for i := range 4 {
			low, high := rapid.SampledFrom(amounts).Draw(r, "low"), rapid.SampledFrom(amounts).Draw(r, "high")
			when := rules.Conditions{Amount: &rules.Between{AtLeast: low, AtMost: high, Currency: "JPY"}}
			if rapid.Bool().Draw(r, "above") {
				when.Amount.AtLeast, when.Amount.Above = "", low
			}
			if rapid.Bool().Draw(r, "below") {
				when.Amount.AtMost, when.Amount.Below = "", high
			}
			if !when.Amount.Bounded() {
				when.Amount = nil
			}
			list = append(list, rule(i+1, when, people(1, rules.EmptyRefuse, "A")))
		}
		x := of(list...)
		asked := rapid.SampledFrom([]rules.Amount{{Value: "50", Currency: "JPY"}, {Value: "100", Currency: "JPY"},
			{Value: "250", Currency: "JPY"}, {Value: "300", Currency: "JPY"}, {Value: "250", Currency: "USD"},
			rules.Unknown(rules.WhyUnmarked)}).Draw(r, "asked")
		taken := x.Match(&rules.Facts{Kind: rules.KindSteps,
			Calls: []rules.Call{{Tool: pay, Access: aggregate.Write, Amount: asked}}}).Rule.ID
		i := slices.IndexFunc(list, func(one rules.Rule) bool { return one.ID == taken })
		if i < 0 {
			return // none takes it
		}
		left, unread := x.Left(i)
		within := of(rule(1, rules.Conditions{Amount: &left}, people(1, rules.EmptyRefuse, "A"))).Match(&rules.Facts{
			Kind: rules.KindSteps, Calls: []rules.Call{{Tool: pay, Access: aggregate.Write, Amount: asked}}}).Rule.ID == id(1)
		if !within || asked.Currency != "JPY" && !unread {
			r.Fatalf("rule %d gets %v, but is said to get %v, unread %v", i+1, asked, left, unread)
		}
	})
	from := func(n rules.Decimal) rules.Conditions {
		c := some(pay)
		c.Amount = &rules.Between{AtLeast: n, Currency: "JPY"}
		return c
	}
	upTo := from("")
	upTo.Amount = &rules.Between{AtMost: "100", Currency: "JPY"}
	left, _ := of(rule(1, upTo, people(1, rules.EmptyRefuse, "A")),
		rule(2, from("50"), people(1, rules.EmptyRefuse, "A"))).Left(1)
	expect.Same(t, rules.Between{Above: "100", Currency: "JPY"}, left)
	bands := of(rule(1, from("300"), people(1, rules.EmptyRefuse, "A")),
		rule(2, from("100"), people(1, rules.EmptyRefuse, "A")),
		rule(3, some(pay), people(1, rules.EmptyRefuse, "A")), rule(4, some(dm), people(1, rules.EmptyRefuse, "A")))
	for i, want := range []rules.Between{{AtLeast: "300", Currency: "JPY"},
		{AtLeast: "100", Below: "300", Currency: "JPY"}, {Below: "100", Currency: "JPY"}, {}} {
		left, unread := bands.Left(i)
		expect.Same(t, want, left)
		expect.Is(t, unread, i == 0 || i == 3)
	}
}

// A rule also hides a later one by conditions that all of its requests meet: a tool that writes is used for writing.
func TestARuleIsHiddenByOneThatTakesAllThatWrites(t *testing.T) {
	from, upTo := &rules.Between{AtLeast: "0", Currency: "JPY"}, &rules.Between{AtMost: "9", Currency: "JPY"}
	all := rules.Conditions{Kinds: []rules.Kind{rules.KindCall, rules.KindAction, rules.KindSteps}, Amount: from}
	for name, c := range map[string]struct {
		earlier, later rules.Conditions
		hides          bool
	}{
		"some of what writes":    {writing(), some(pay, dm), true},
		"only of what writes":    {writing(), only(pay), true},
		"one of them reads":      {writing(), some(pay, read), false},
		"one isn't known":        {writing(), some(pay, rules.Tool{Name: "?"}), false},
		"whatever else":          {writing(), rules.Conditions{Kinds: []rules.Kind{rules.KindSteps}}, false},
		"all kinds and amounts":  {all, rules.Conditions{}, true},
		"amounts up to some":     {rules.Conditions{Amount: upTo}, rules.Conditions{}, false},
		"of its tool, and wider": {some(pay), writing(), false},
	} {
		found := of(rule(1, c.earlier, people(1, refuse, "A")), rule(2, c.later, people(1, refuse, "A"))).Findings(known,
			staff(), today, "")
		by := rules.Finding{Kind: rules.FindingCovered, Rule: id(2), By: id(1)}
		expect.Is(t, slices.Contains(found, by), c.hides, name)
	}
}

// A rule hides a later one only if it takes all of its requests, also by labels, days and positions.
func TestARuleIsHiddenByOneThatTakesMore(t *testing.T) {
	days := func(from, to string) rules.Conditions { return rules.Conditions{ValidFrom: from, ValidTo: to} }
	by := func(r rules.Requester) rules.Conditions { return rules.Conditions{Requester: &r} }
	chiefs := by(rules.Requester{Positions: []string{"課長"}})
	for name, c := range map[string]struct {
		earlier, later rules.Conditions
		hides          bool
	}{
		"fewer labels":          {kinds(rules.UseOnly, "a", "b"), kinds(rules.UseOnly, "a"), true},
		"some of what only has": {kinds(rules.UseSome, "a", "b"), kinds(rules.UseOnly, "a"), true},
		"only of some":          {kinds(rules.UseOnly, "a", "b"), kinds(rules.UseSome, "a"), false},
		"all but fewer":         {kinds(rules.UseNot, "a"), kinds(rules.UseNot, "a", "b"), true},
		"all but more":          {kinds(rules.UseNot, "a", "b"), kinds(rules.UseNot, "a"), false},
		"all but others":        {kinds(rules.UseNot, "a"), kinds(rules.UseOnly, "a"), false},
		"some of all but":       {kinds(rules.UseSome, "a"), kinds(rules.UseNot, "a"), false},
		"more labels":           {kinds(rules.UseOnly, "a"), kinds(rules.UseOnly, "a", "b"), false},
		"a label of none":       {kinds(rules.UseOnly, "a"), rules.Conditions{}, false},
		"all days":              {rules.Conditions{}, days("2026-04-01", ""), true},
		"fewer days":            {days("2026-04-01", "2027-03-31"), days("2026-05-01", "2027-03-31"), true},
		"earlier days":          {days("2026-04-01", ""), days("", ""), false},
		"later days":            {days("", "2027-03-31"), days("2026-04-01", ""), false},
		"a position in a place": {chiefs, by(rules.Requester{Departments: []string{"d"}, Positions: []string{"課長"}}), true},
		"anybody in a place":    {chiefs, by(rules.Requester{Departments: []string{"d"}}), false},
		"a place of a position": {by(rules.Requester{Departments: []string{"d"}}), chiefs, false},
		"a place, in any post": {by(rules.Requester{Departments: []string{"d"}}),
			by(rules.Requester{Departments: []string{"d"}, Positions: []string{"x"}}), true},
		"another position": {chiefs, by(rules.Requester{Positions: []string{"部長"}}), false},
		"somebody of a group too": {by(rules.Requester{Groups: []string{"S1"}}),
			by(rules.Requester{Departments: []string{"d"}, Groups: []string{"S1"}}), false},
	} {
		found := of(rule(1, c.earlier, people(1, refuse, "A")), rule(2, c.later, people(1, refuse, "A"))).Findings(nil,
			staff(), today, "")
		hidden := false
		for _, f := range found {
			hidden = hidden || f.Kind == rules.FindingCovered
		}
		expect.Is(t, hidden, c.hides, name)
	}
}
