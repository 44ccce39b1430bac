package rules_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// Whatever the reason why an amount isn't known, it meets every condition on "at least" and none on "below", alone and
// beside amounts that are known.
func TestAnUnknownAmountMeetsEveryAtLeastAndNoBelow(t *testing.T) {
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
					for bounds, meets := range map[[2]rules.Decimal]bool{
						{limit, ""}: true, {"", limit}: false, {"0.01", limit + ".5"}: false, {limit, limit + "0"}: false,
						{"999999999999998", ""}: true, {"", "999999999999999"}: false, {"", "0.01"}: false,
						{"1", "999999999999999.9"}: false,
					} {
						f := asked(calls...)
						c := rules.Conditions{From: bounds[0], Below: bounds[1], Currency: currency}
						c.Tools = []rules.Tool{pay}
						answer := of(rule(1, c, people(1, "A"))).Match(f)
						expect.That(t, (answer.Rule.ID == id(1)) == meets, "%s of %d calls: %+v takes it: %t", why, len(calls), c, !meets)
					}
				}
			}
		}
	}
}

// A tenant without an organisation has accounts and groups only.
func TestWithoutAnOrganisation(t *testing.T) {
	d := &company{group: []string{"G", "H"}, managers: map[string]string{"R": "A"}}
	f := asked(writes(pay, yen("1")))
	route := expect.Value(policy(group(1), people(1, "X")).Resolve(f, d))(t)
	expect.Is(t, drawn(route), "G,H/1 X/1")
	expect.Is(t, resolved(policy(people(1, "A"), superior(1)), f, d), "refused 2 above")
	expect.Is(t, resolved(policy(people(1, "R")), f, d), "refused 1 own")
}

// settles reports whether a route's stages can all be stamped, each by as many as it needs and nobody twice, by trying
// every choice. A channel has somebody else.
func settles(route circulation.Route, at int, stamped map[string]bool) bool {
	if at == len(route.Stages) {
		return true
	}
	s := route.Stages[at]
	if s.Mode == circulation.ModeChannel {
		return settles(route, at+1, stamped)
	}
	for choice := range 1 << len(s.People) {
		more, n := map[string]bool{}, 0
		for user := range stamped {
			more[user] = true
		}
		for i, p := range s.People {
			if choice>>i&1 == 1 && !more[p.User] {
				more[p.User], n = true, n+1
			}
		}
		if n == s.Need && settles(route, at+1, more) {
			return true
		}
	}
	return false
}

// Every route can be settled by people who may stamp, none of them an asker, nobody twice.
func TestARouteCanBeSettledByOthersThanItsAskers(t *testing.T) {
	opened := 0
	rapid.Check(t, func(t *rapid.T) {
		d := drawnCompany(t)
		for range 30 {
			f, p := drawnAsk(t), drawnPolicy(t)
			route, err := p.Resolve(f, d)
			again, err2 := p.Resolve(f, d)
			expect.Same(t, again, route)
			expect.Is(t, fmt.Sprint(err), fmt.Sprint(err2))
			if err == nil {
				opened++
				checkRoute(t, p, f, d, route)
				continue
			}
			no, is := err.(*rules.Unresolved)
			expect.That(t, is && no.Why != "" && no.Stage <= len(p.Stages), "%v", err)
		}
	})
	t.Logf("%d routes were opened", opened)
	expect.That(t, opened > 100 || testing.Short(), "only %d routes were opened", opened) // short: few tries
}

func checkRoute(t *rapid.T, p *rules.Outcome, f *rules.Facts, d *company, route circulation.Route) {
	named, last := false, 0
	for _, s := range route.Stages {
		// each stage is one of the policy's, in their order
		i := slices.IndexFunc(p.Stages[last:], func(x rules.Stage) bool { return x.Name == s.Name })
		expect.Must(t, i >= 0, "%s of %+v", drawn(route), p)
		last += i
		if named = named || s.Mode == circulation.ModePeople; s.Mode == circulation.ModeChannel {
			continue
		}
		expect.That(t, s.Need >= 1 && len(s.People) >= s.Need, "%+v", s)
		for j, x := range s.People {
			expect.That(t, x.User != f.Requester && !slices.ContainsFunc(f.Askers, x.Is), "the asker %s is asked", x.User)
			expect.That(t, x.User != "" && d.MayStamp(x.User) && x.Via != "", "%+v may not stamp", x)
			expect.That(t, !slices.ContainsFunc(s.People[:j], x.Is), "%s is there twice", x.User)
		}
	}
	expect.That(t, settles(route, 0, nil), "%s", drawn(route))
	expect.That(t, named || !f.Writes(), "only the channel is asked: %s", drawn(route))
}

// Drawn values are few, so that rules and requests often meet.
func drawnConditions(t *rapid.T) (c rules.Conditions) {
	if rapid.Bool().Draw(t, "by kind") {
		c.Asks = subset(t, 1, rules.Kinds...)
	}
	if rapid.Bool().Draw(t, "by place") {
		c.Channels = subset(t, 1, "C1", "C2", "C3", rules.Direct)
	}
	if rapid.Bool().Draw(t, "by requester") {
		c.People, c.Departments = subset(t, 0, "R", "X"), subset(t, 0, "d1", "d2", "d3")
		c.Groups = subset(t, 0, "S1", "S2")
	}
	if rapid.Bool().Draw(t, "by tools") {
		c.Tools, c.Only = subset(t, 1, dm, sheet, read, pay), rapid.Bool().Draw(t, "only")
	}
	if rapid.Bool().Draw(t, "by label") {
		c.Labels = map[string][]string{"費目": subset(t, 1, "a", "b", "c")}
	}
	if rapid.Bool().Draw(t, "by amount") {
		c.Currency = rapid.SampledFrom([]string{"JPY", "JPY", "USD"}).Draw(t, "currency")
		bound := rapid.SampledFrom([]rules.Decimal{"10", "20", "30"}).Draw(t, "bound")
		switch rapid.IntRange(0, 2).Draw(t, "bounds") {
		case 0:
			c.From = bound
		case 1:
			c.Below = bound
		default:
			c.From, c.Below = "5", bound
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
		x := rules.Rule{ID: id(i), Name: fmt.Sprint("rule ", i), Conditions: drawnConditions(t)}
		if rapid.IntRange(0, 3).Draw(t, "refuses") == 0 {
			x.Refuse = "No."
		} else {
			x.Outcome = *drawnPolicy(t)
		}
		r.Rules = append(r.Rules, x)
	}
	return r
}

func drawnPolicy(t *rapid.T) *rules.Outcome {
	p := policy()
	for i := range rapid.IntRange(1, 3).Draw(t, "stages") {
		s := rapid.SampledFrom([]rules.Stage{
			people(0, "A"), people(1, "A", "B"), people(2, "A", "B", "D"), people(0, "B", "R"),
			group(1), group(2), group(0), superior(1), superior(2), head(), channel(), nearest("課長"),
			either(1, people(1, "A"), group(1)), either(2, superior(1), head()), either(0, people(1, "R"), nearest("課長")),
		}).Draw(t, "stage")
		s.Name = fmt.Sprint("stage ", i)
		p.Stages = append(p.Stages, s)
	}
	return p
}

func drawnFacts(t *rapid.T) *rules.Facts {
	f := asked()
	f.Kind = rapid.SampledFrom(rules.Kinds).Draw(t, "kind")
	f.Place.Channel = rapid.SampledFrom([]string{"C1", "C2", "C3", "C4"}).Draw(t, "channel")
	f.Place.Direct = rapid.Bool().Draw(t, "direct")
	if f.Organised = rapid.Bool().Draw(t, "organised"); f.Organised {
		f.Departments, f.Groups = subset(t, 0, "d1", "d2", "d3"), subset(t, 0, "S1", "S2")
	}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		k := rapid.SampledFrom(known).Draw(t, "tool")
		c := rules.Call{Tool: k.Tool, Access: k.Access, Amount: drawnAmount(t)}
		if rapid.Bool().Draw(t, "labelled") {
			c.Labels = map[string][]string{"費目": subset(t, 0, "a", "b", "c", "d")}
		}
		f.Calls = append(f.Calls, c)
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
		over:    map[string]string{"部長 of sales": rapid.SampledFrom(users).Draw(t, "over")},
		unknown: subset(t, 0, "課長 of d1", "課長 of d2", "課長 of "),
		group:   subset(t, 0, users...), barred: subset(t, 0, "B", "D")}
	if rapid.Bool().Draw(t, "organised") {
		c.org = "v1"
	}
	for _, u := range users {
		if m := rapid.SampledFrom(append(users, "")).Draw(t, "manager"); m != "" {
			c.managers[u] = m
		}
	}
	return c
}

// drawnAsk are facts of a request by R, which A has a part in at times.
func drawnAsk(t *rapid.T) *rules.Facts {
	f := drawnFacts(t)
	if rapid.IntRange(0, 3).Draw(t, "with A") == 0 {
		f.Askers = append(f.Askers, person("A"))
	}
	return f
}
