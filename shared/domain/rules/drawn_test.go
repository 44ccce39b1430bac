package rules_test

import (
	"fmt"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
)

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
		}).Draw(t, "stage"))
	}
	p.Hands = rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "hands")
	return p
}

func drawnFacts(t *rapid.T) *rules.Facts {
	f := asked()
	f.Kind = rapid.SampledFrom([]rules.Kind{rules.KindSteps, rules.KindAction}).Draw(t, "kind")
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
		over:  map[string]string{"部長 of sales": rapid.SampledFrom(users).Draw(t, "over")},
		group: subset(t, 0, users...), standing: map[string]rules.Standing{}, accounts: map[string]string{}}
	if rapid.Bool().Draw(t, "organised") {
		c.org = "v1"
	}
	for _, u := range users {
		if m := rapid.SampledFrom(append(users, "")).Draw(t, "manager"); m != "" {
			c.managers[u] = m
		}
		standings := []rules.Standing{"employee", "employee", "employee", "other", ""}
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
