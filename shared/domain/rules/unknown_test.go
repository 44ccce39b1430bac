package rules_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// Whatever the reason why an amount isn't known, it meets every condition on "at least" and none on "below", alone and
// beside amounts that are known, and the floor asks it for two hands.
func TestAnUnknownAmountMeetsEveryAtLeastAndNoBelow(t *testing.T) {
	floor := rules.Floor{Stamps: 1, HandsFrom: &rules.Money{Value: "999999999999999", Currency: "JPY"}}
	for _, why := range append([]rules.Why{""}, rules.Whys...) {
		a := rules.Unknown(why)
		if why == "" {
			a = rules.Amount{}
		}
		for _, calls := range [][]rules.Call{
			{writes(pay, a)}, {writes(pay, a), writes(pay, yen("1"))}, {reads(), writes(pay, yen("1")), writes(pay, a)},
		} {
			for _, currency := range []string{"JPY", "USD"} {
				for _, limit := range []rules.Decimal{"1", "100000", "999999999999999"} {
					for between, meets := range map[rules.Between]bool{
						{AtLeast: limit, Currency: currency}:                           true,
						{Below: limit, Currency: currency}:                             false,
						{AtLeast: "0.01", Below: limit + ".5", Currency: currency}:     false,
						{AtLeast: limit, Below: limit + "0", Currency: currency}:       false,
						{AtLeast: "999999999999998", Currency: currency}:               true,
						{Below: "999999999999999", AtLeast: "", Currency: currency}:    false,
						{Above: "999999999999999", Currency: currency}:                 true,
						{AtMost: limit, Currency: currency}:                            false,
						{Above: "0", AtMost: limit, Currency: currency}:                false,
						{Below: "0.01", Currency: currency}:                            false,
						{AtLeast: "1", Below: "999999999999999.9", Currency: currency}: false,
					} {
						f := asked(calls...)
						answer := of(rule(1, rules.Conditions{Amount: &between}, people(1, refuse, "A"))).Match(f)
						expect.That(t, (answer.Rule.ID == id(1)) == meets, "%s of %d calls: %+v takes it: %t", why, len(calls), between,
							!meets)
					}
				}
			}
			f := asked(calls...)
			expect.That(t, !floor.Allows(f, 2, 1) && floor.Allows(f, 2, 2), "%s: the floor takes one hand", why)
		}
	}
}

// The organisation has the post by no such name, so somebody else may hold it: who stands above and takes its place is
// nobody's second time, before or after.
func TestWhoFillsAPostWithoutItsNameStampsAtTheirOwnStage(t *testing.T) {
	renamed := func(c *company, _ *rules.Facts) { c.holders, c.unknown = nil, []string{"部長 of sales"} }
	post := head(rules.Empty{Vacant: rules.ThenUp, Own: rules.ThenUp, Twice: rules.ThenSkip})
	below := func(c *company, f *rules.Facts) { renamed(c, f); c.managers["P"] = "Q" }
	alone := func(c *company, f *rules.Facts) { renamed(c, f); c.over = nil }
	held := func(c *company, f *rules.Facts) { renamed(c, f); c.unknown = nil }
	resolveEach(t, map[string]resolving{
		"two hands":       {policy(0, post, people(1, skip, "P")), renamed, "refused 2 hands"},
		"two hands, up":   {policy(0, post, people(1, up, "P")), below, "P/1 P,Q/1 hands 2"},
		"one hand":        {policy(1, post, people(1, skip, "P")), renamed, "P/1 P/1 hands 1"},
		"in this order":   {policy(1, people(1, skip, "P"), post), renamed, "P/1 P/1 hands 1"},
		"and really gone": {policy(0, post, people(1, skip, "P")), held, "P/1 -twice hands 1"},
		"nobody is above": {policy(0, post), alone, "refused 1 unknown"},
	})
	d := staff()
	renamed(d, nil)
	route := expect.Value(policy(1, post).Resolve(asked(writes(pay, yen("1"))), rules.Floor{}, d))(t)
	expect.Is(t, route.Stages[0].Filled, rules.LeftUnknown)
	_, err := policy(0, post, people(1, skip, "P")).Resolve(asked(writes(pay, yen("1"))), rules.Floor{}, &company{
		org: "v1", unknown: d.unknown})
	no, _ := errors.AsType[*rules.Unresolved](err)
	expect.Must(t, no != nil, "%v", err)
	expect.Is(t, no.What, "部長 (営業部)")
}

// A tenant without an organisation has accounts and groups only.
func TestWithoutAnOrganisation(t *testing.T) {
	d := &company{group: []string{"G", "H"}, managers: map[string]string{"R": "A"}}
	f := asked(writes(pay, yen("1")))
	two := policy(0, group(1, rules.EmptyUp), people(1, rules.EmptyUp, "X"))
	route := expect.Value(two.Resolve(f, rules.Floor{}, d))(t)
	expect.Is(t, drawn(route), "G,H/1 X/1 hands 2")
	expect.Is(t, route.Org, "")
	for _, empty := range []rules.Empty{rules.EmptyUp, rules.EmptySkip, rules.EmptyRefuse} {
		expect.Is(t, resolved(policy(1, people(1, refuse, "A"), manager(1, empty)), f, rules.Floor{}, d), "refused 2 above")
	}
	expect.Is(t, resolved(policy(0, people(1, rules.EmptyUp, "R")), f, rules.Floor{}, d), "refused 1 own")
}

// different returns the most different people who can stamp a route, by trying every choice. A channel has somebody
// else.
func different(route circulation.Route, at int, hands map[string]bool) int {
	if at == len(route.Stages) {
		return len(hands)
	}
	s := route.Stages[at]
	if s.LeftOut != "" {
		return different(route, at+1, hands)
	}
	if s.Mode == circulation.ModeChannel {
		return 1 + different(route, at+1, hands)
	}
	parts := s.Parts
	if len(parts) == 0 {
		parts = []circulation.Part{{N: len(s.People), Of: s.Need}}
	}
	best := -1
	for choice := range 1 << len(s.People) {
		more, of, first := map[string]bool{}, []circulation.Part{}, 0
		for h := range hands {
			more[h] = true
		}
		for _, part := range parts {
			n := 0
			for i := first; i < first+part.N; i++ {
				key := cmp.Or(s.People[i].Person, s.People[i].User)
				if choice>>i&1 == 1 && key != "" {
					more[key], n = true, n+1
				}
			}
			of, first = append(of, circulation.Part{N: part.N, Of: n}), first+part.N
		}
		if slices.Equal(of, parts) {
			best = max(best, different(route, at+1, more))
		}
	}
	return best
}

// Every route can be settled by as many different people as it needs, none of them an asker, and is not below the
// floor.
func TestARouteCanBeSettledByOthersThanItsAskers(t *testing.T) {
	opened := 0
	rapid.Check(t, func(t *rapid.T) {
		d := drawnCompany(t)
		floor := rules.Floor{Stamps: rapid.IntRange(1, 2).Draw(t, "floor")}
		floor.HandsFrom = &rules.Money{Value: "20", Currency: "JPY"}
		for range 30 {
			f, p := drawnAsk(t, d), drawnPolicy(t)
			route, err := p.Resolve(f, floor, d)
			again, err2 := p.Resolve(f, floor, d)
			expect.Same(t, again, route)
			expect.Is(t, fmt.Sprint(err), fmt.Sprint(err2))
			if err == nil {
				opened++
				checkRoute(t, p, f, floor, d, route)
				checkThread(t, p, f, floor, d, route)
				continue
			}
			var no *rules.Unresolved
			expect.That(t, errors.As(err, &no) && no.Why != "" && no.Stage <= len(p.Stages), "%v", err)
		}
	})
	t.Logf("%d routes were opened", opened)
	expect.That(t, opened > 100 || testing.Short(), "only %d routes were opened", opened) // short: few tries
}

// checkThread checks that askers beside the requester took no stage away, and lowered nothing: without them the same
// stages ask for as many stamps by as many hands.
func checkThread(t *rapid.T, p *rules.Policy, f *rules.Facts, floor rules.Floor, d *company, route circulation.Route) {
	own := *f
	own.Askers = []circulation.Person{f.Requester}
	alone, err := p.Resolve(&own, floor, d)
	expect.Must(t, err == nil, "with others' words %s, and without them %v", drawn(route), err)
	expect.That(t, route.Hands >= alone.Hands, "%s, and without others' words %s", drawn(route), drawn(alone))
	for i, s := range route.Stages {
		was := alone.Stages[i]
		expect.That(t, (s.LeftOut == "" || s.LeftOut == was.LeftOut) && s.Need >= was.Need,
			"%s, and without others' words %s", drawn(route), drawn(alone))
	}
}

func checkRoute(t *rapid.T, p *rules.Policy, f *rules.Facts, floor rules.Floor, d *company, route circulation.Route) {
	stamps, people := 0, 0
	for i, s := range route.Stages {
		stamps += s.Need
		expect.That(t, (s.LeftOut != "") == (s.Need == 0), "%+v", s)
		e := p.Stages[i].Empty
		then := map[string]rules.Then{rules.LeftVacant: e.Vacant, rules.LeftElsewhere: e.Vacant,
			rules.LeftStanding: e.Vacant, rules.LeftOwn: e.Own, rules.LeftTwice: e.Twice, "": rules.ThenSkip}[s.LeftOut]
		later := s.LeftOut == rules.LeftLater && e.Own == rules.ThenUp
		expect.That(t, then == rules.ThenSkip || later, "left out without the policy's word: %+v", s)
		if s.LeftOut == "" && s.Mode == circulation.ModePeople {
			people++
			expect.That(t, len(s.People) >= s.Need && s.Need >= p.Stages[i].Need, "%+v", s)
		}
		keys := map[string]bool{}
		for _, x := range s.People {
			expect.That(t, !x.Is(f.Requester), "the requester %s is asked", x.User)
			expect.That(t, d.Employment(x, today) == rules.EmploymentEmployee, "%+v may not stamp", x)
			expect.That(t, x.Via != "" && (d.org == "" || x.Person != ""), "%+v", x)
			key := cmp.Or(x.Person, x.User)
			expect.That(t, !keys[key], "%s is there twice", key)
			keys[key] = true
		}
	}
	stamping := route
	stamping.Stages = slices.Clone(route.Stages)
	for i := range stamping.Stages {
		stamping.Stages[i].People = slices.Clone(route.Stages[i].People)
		for j, x := range stamping.Stages[i].People {
			if slices.ContainsFunc(f.Askers, x.Is) {
				stamping.Stages[i].People[j] = circulation.Person{} // and nobody stamps there
			}
		}
	}
	expect.That(t, different(stamping, 0, nil) >= route.Hands, "%s", drawn(route))
	expect.That(t, p.Hands == 0 || route.Hands == p.Hands, "%s of a policy of %d", drawn(route), p.Hands)
	expect.That(t, stamps > 0 && floor.Allows(f, stamps, route.Hands), "%s is below the floor", drawn(route))
	expect.That(t, people > 0 || !f.Writes(), "only the channel is asked: %s", drawn(route))
}

// Who is at a stage only because an asker stood between stamps at their own stage, too: what an asker says in a thread
// makes no stage a second time.
func TestWhoIsReachedPastAnAskerStampsAtTheirOwnStageToo(t *testing.T) {
	d := &company{org: "v1", managers: map[string]string{"B": "R", "R": "A", "A": "D"}, group: []string{"B"}}
	p := &rules.Policy{Stages: []rules.Stage{
		{Name: "two", Who: rules.Who{Kind: rules.WhoGroup, Group: "S1"}, Need: 2,
			Empty: rules.Empty{Vacant: rules.ThenUp, Own: rules.ThenUp, Twice: rules.ThenUp}},
		{Name: "manager", Who: rules.Who{Kind: rules.WhoManager, Level: 2}, Need: 1,
			Empty: rules.Empty{Vacant: rules.ThenUp, Own: rules.ThenUp, Twice: rules.ThenSkip}},
	}}
	for askers, want := range map[string]string{"R": "B,A/2 D/1 hands 2", "RA": "B,D/2 D/1 hands 2"} {
		f := asked()
		f.Requester, f.Askers = d.Person("R"), nil
		for _, who := range askers {
			f.Askers = append(f.Askers, d.Person(string(who)))
		}
		expect.Is(t, drawn(expect.Value(p.Resolve(f, rules.Floor{Stamps: 1}, d))(t)), want)
	}
}

// Drawn values are few, so that rules and requests often meet.
func drawnConditions(t *rapid.T) (c rules.Conditions) {
	if rapid.Bool().Draw(t, "by kind") {
		c.Kinds = subset(t, 1, rules.KindSteps, rules.KindAction)
	}
	if rapid.Bool().Draw(t, "by place") {
		c.Places = &rules.Places{Channels: subset(t, 0, "C1", "C2", "C3"), Direct: rapid.Bool().Draw(t, "direct")}
	}
	if rapid.Bool().Draw(t, "by requester") {
		c.Requester = &rules.Requester{Departments: subset(t, 0, "d1", "d2", "d3"), Groups: subset(t, 0, "S1", "S2")}
	}
	if rapid.Bool().Draw(t, "by tools") {
		uses := []rules.Use{rules.UseSome, rules.UseOnly, rules.UseWriting}
		c.Tools = &rules.Tools{Use: rapid.SampledFrom(uses).Draw(t, "use")}
		if c.Tools.Use != rules.UseWriting {
			c.Tools.List = subset(t, 1, dm, sheet, read, pay)
		}
	}
	if rapid.Bool().Draw(t, "by destination") {
		c.Destinations = &rules.Destinations{Go: rapid.SampledFrom([]rules.Go{rules.GoWithin, rules.GoOutside}).Draw(t, "go"),
			List: subset(t, 1, "a", "b", "c")}
	}
	if rapid.Bool().Draw(t, "by amount") {
		c.Amount = &rules.Between{Currency: rapid.SampledFrom([]string{"JPY", "JPY", "USD"}).Draw(t, "currency")}
		bound := rapid.SampledFrom([]rules.Decimal{"10", "20", "30"}).Draw(t, "bound")
		switch rapid.IntRange(0, 2).Draw(t, "bounds") {
		case 0:
			c.Amount.AtLeast = bound
		case 1:
			c.Amount.Below = bound
		default:
			c.Amount.AtLeast, c.Amount.Below = "5", bound
		}
	}
	return c
}

// subset draws some of these values, at least so many.
func subset[T comparable](t *rapid.T, least int, of ...T) []T {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(of), least, len(of), rapid.ID).Draw(t, "subset")
}

func drawnRules(t *rapid.T) *rules.Rules {
	r := of()
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		x := rules.Rule{ID: id(i), Name: fmt.Sprint("rule ", i), When: drawnConditions(t)}
		if rapid.IntRange(0, 3).Draw(t, "refuses") == 0 {
			x.Refuse = "No."
		} else {
			x.Route = drawnPolicy(t)
		}
		r.Rules = append(r.Rules, x)
	}
	if rapid.Bool().Draw(t, "last chosen") {
		r.Last.Writes.Route = drawnPolicy(t)
	}
	return r
}

func drawnPolicy(t *rapid.T) *rules.Policy {
	then := func(last rules.Then) rules.Then {
		return rapid.SampledFrom([]rules.Then{rules.ThenUp, rules.ThenSkip, last}).Draw(t, "then")
	}
	p := policy(0)
	for range rapid.IntRange(1, 3).Draw(t, "stages") {
		e := rules.Empty{Vacant: then(rules.ThenRefuse), Own: then(rules.ThenRefuse), Twice: then(rules.ThenAgain)}
		p.Stages = append(p.Stages, rapid.SampledFrom([]rules.Stage{
			people(0, e, "A"), people(1, e, "A", "B"), people(2, e, "A", "B", "D"), people(0, e, "B", "R"),
			group(1, e), group(2, e), group(0, e), manager(1, e), manager(2, e), head(e), channel(),
			stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"課長"}}, 1, e),
			stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"室長", "課長"}}, 1, e),
			share(group(0, e), rules.ShareMajority), share(people(0, e, "A", "B", "R"), rules.ShareTwoThirds),
			beside(people(1, unskipped(e), "A"), rules.Source{Who: group(0, e).Who, Share: rules.ShareTwoThirds}),
			beside(group(1, unskipped(e)), ofPeople(1, "A", "B")), beside(manager(1, unskipped(e)), ofPeople(0, "B", "R")),
			beside(people(1, unskipped(e), "A"), rules.Source{Who: group(0, e).Who}, ofPeople(1, "A", "D")),
		}).Draw(t, "stage"))
	}
	p.Hands = rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "hands")
	return p
}

// unskipped asks who stands above in place of leaving a stage out.
func unskipped(e rules.Empty) rules.Empty {
	for _, then := range []*rules.Then{&e.Vacant, &e.Own, &e.Twice} {
		if *then == rules.ThenSkip {
			*then = rules.ThenUp
		}
	}
	return e
}

func drawnFacts(t *rapid.T) *rules.Facts {
	f := asked()
	f.Kind = rapid.SampledFrom([]rules.Kind{rules.KindSteps, rules.KindAction, rules.KindCall}).Draw(t, "kind")
	f.Place.Channel = rapid.SampledFrom([]string{"C1", "C2", "C3", "C4"}).Draw(t, "channel")
	f.Place.Direct = rapid.Bool().Draw(t, "direct")
	if f.Organised = rapid.Bool().Draw(t, "organised"); f.Organised {
		f.Requester.Person, f.Askers[0].Person = "pR", "pR"
		f.Departments, f.Groups = subset(t, 0, "d1", "d2", "d3"), subset(t, 0, "S1", "S2")
	}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		k := rapid.SampledFrom(known).Draw(t, "tool")
		f.Calls = append(f.Calls, rules.Call{Tool: k.Tool, Access: k.Access, Amount: drawnAmount(t),
			Destinations: subset(t, 0, "a", "b", "c", "d")})
	}
	return f
}

func drawnAmount(t *rapid.T) rules.Amount {
	return rapid.SampledFrom([]rules.Amount{
		rules.Nothing(), yen("0"), yen("4.5"), yen("9.99"), yen("10"), yen("19"), yen("30"), {Value: "15", Currency: "USD"},
		rules.Unknown(rules.WhyReference),
	}).Draw(t, "amount")
}

func drawnCompany(t *rapid.T) *company {
	users := []string{"R", "A", "B", "D"}
	c := &company{managers: map[string]string{}, holders: map[string][]string{"": subset(t, 0, users...)},
		over: map[string]string{"部長 of sales": rapid.SampledFrom(users).Draw(t, "over")},
		high: subset(t, 0, "R", "A"), level: subset(t, 0, "課長 of d1", "室長 of d1"),
		unknown: subset(t, 0, "課長 of d1", "課長 of d2", "課長 of ", "室長 of d1"),
		group:   subset(t, 0, users...), standing: map[string]rules.Employment{}, accounts: map[string]string{}}
	if rapid.Bool().Draw(t, "organised") {
		c.org = "v1"
	}
	for _, u := range users {
		if m := rapid.SampledFrom(append(users, "")).Draw(t, "manager"); m != "" {
			c.managers[u] = m
		}
		standings := []rules.Employment{"employee", "employee", "employee", "other", ""}
		c.standing[u] = rapid.SampledFrom(standings).Draw(t, "standing")
		if rapid.IntRange(0, 5).Draw(t, "account") == 0 {
			c.accounts[u] = rapid.SampledFrom([]string{"", "pA", "pR"}).Draw(t, "person")
		}
	}
	return c
}

// drawnAsk are facts of a request by R, which A has a part in at times.
func drawnAsk(t *rapid.T, d *company) *rules.Facts {
	f := drawnFacts(t)
	f.Requester = d.Person("R")
	f.Askers = []circulation.Person{f.Requester}
	if rapid.IntRange(0, 3).Draw(t, "with A") == 0 {
		f.Askers = append(f.Askers, d.Person("A"))
	}
	return f
}
