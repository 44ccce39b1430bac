package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// whole are rules that use every field.
func whole() *rules.Rules {
	when := from(some(pay, dm), "100000")
	when.Kinds = []rules.Kind{rules.KindSteps}
	when.Places = &rules.Places{Channels: []string{"C1"}, Direct: true}
	when.Requester = &rules.Requester{People: []string{"U9"}, Departments: []string{"sales"},
		Groups: []string{"S1"}}
	when.Labels = []rules.Labelled{{Name: "費目", List: []string{"旅費", "交際費"}}}
	r := of(
		rule(1, when, people(1, "U1", "U2"), group(2), manager(1),
			head(), channel(), either(2, people(1, "U1"), group(1), manager(2))),
		rules.Rule{ID: id(2), Name: "no", Outcome: rules.Outcome{Refuse: "First line.\nSecond line."}},
	)
	r.Rules[0].Numbered = true
	r.Rules[0].Route.Tells = "S2"
	r.Last.Writes.Route = policy(manager(1), group(0))
	r.Last.Reads.Refuse = "No."
	return r
}

// many returns values of a form with a number.
func many(form string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, i))
	}
	return all
}

func routeOf(r *rules.Rules) *rules.Policy { return r.Rules[0].Route }

func whenOf(r *rules.Rules) *rules.Conditions { return &r.Rules[0].When }

// refuseEach checks that each change of whole rules is a problem of its field.
func refuseEach(t *testing.T, changes map[string][]func(*rules.Rules)) {
	t.Helper()
	for field, list := range changes {
		for i, change := range list {
			t.Run(fmt.Sprint(field, "/", i), func(t *testing.T) {
				r := saved(t, whole())
				change(r)
				fields := fieldsOf(r.Problems(known))
				expect.That(t, slices.Contains(fields, field), "%v", fields)
				expect.That(t, r.Validate(known) != nil, "it can be saved")
			})
		}
	}
}

// Each field has its limit, and the error names both.
func TestProblems(t *testing.T) {
	refuseEach(t, map[string][]func(*rules.Rules){
		"form":        {func(r *rules.Rules) { r.Form = rules.Form + 1 }},
		"rules[0].id": {func(r *rules.Rules) { r.Rules[0].ID = rules.LastID }},
		"rules[1].id": {func(r *rules.Rules) { r.Rules[1].ID = r.Rules[0].ID }},
		"rules[0].name": {
			func(r *rules.Rules) { r.Rules[0].Name = "" },
			func(r *rules.Rules) { r.Rules[0].Name = strings.Repeat("あ", 81) },
			func(r *rules.Rules) { r.Rules[0].Name = "a\u202eb" }, func(r *rules.Rules) { r.Rules[0].Name = "a\nb" },
			func(r *rules.Rules) { r.Rules[0].Name = " a" }, func(r *rules.Rules) { r.Rules[0].Name = "a\xff" },
		},
		"rules[1].name": {func(r *rules.Rules) { r.Rules[1].Name = r.Rules[0].Name }},
		"rules[1].refuse": {
			func(r *rules.Rules) { r.Rules[1].Refuse = "" },
			func(r *rules.Rules) { r.Rules[1].Refuse = strings.Repeat("あ", 1001) },
		},
		"rules[0].refuse":   {func(r *rules.Rules) { r.Rules[0].Refuse = "No." }},
		"last.reads.refuse": {func(r *rules.Rules) { r.Last.Reads.Refuse = " " }},
		"last.writes.refuse": {
			func(r *rules.Rules) { r.Last.Writes = rules.Outcome{Refuse: " "} },
			func(r *rules.Rules) { r.Last.Writes.Refuse = "No." }},
		"last.reads.route.stages": {func(r *rules.Rules) { r.Last.Reads = rules.Outcome{Route: policy()} }},
		"last.writes.route.stages": {
			func(r *rules.Rules) { r.Last.Writes.Route = policy(channel()) },
		},
	})
}

func TestProblemsOfConditions(t *testing.T) {
	refuseEach(t, map[string][]func(*rules.Rules){
		"rules[0].when.kinds[0]": {func(r *rules.Rules) { whenOf(r).Kinds[0] = "calls" }},
		"rules[0].when.kinds[1]": {
			func(r *rules.Rules) { whenOf(r).Kinds = []rules.Kind{rules.KindSteps, rules.KindSteps} },
		},
		"rules[0].when.places":    {func(r *rules.Rules) { whenOf(r).Places = &rules.Places{} }},
		"rules[0].when.requester": {func(r *rules.Rules) { whenOf(r).Requester = &rules.Requester{} }},
		"rules[0].when.tools.use": {func(r *rules.Rules) { whenOf(r).Tools.Use = "all" }},
		"rules[0].when.amount":    {func(r *rules.Rules) { whenOf(r).Amount.AtLeast = "" }},
		"rules[0].when.amount.below": {
			func(r *rules.Rules) { whenOf(r).Amount.Below = "100000" },
			func(r *rules.Rules) { whenOf(r).Amount.AtLeast, whenOf(r).Amount.Below = "", "0" },
		},
		"rules[0].when.tools.list[1]": {func(r *rules.Rules) {
			whenOf(r).Tools.List = []rules.Tool{pay, {Address: pay.Address + "/", Name: "pay"}}
		}},
		"rules[0].when.places.channels[0]":       {func(r *rules.Rules) { whenOf(r).Places.Channels = []string{"general"} }},
		"rules[0].when.places.channels":          {func(r *rules.Rules) { whenOf(r).Places.Channels = many("C%d", 101) }},
		"rules[0].when.requester.departments[0]": {func(r *rules.Rules) { whenOf(r).Requester.Departments = []string{""} }},
		"rules[0].when.requester.departments": {
			func(r *rules.Rules) { whenOf(r).Requester.Departments = many("d%d", 101) },
		},
		"rules[0].when.requester.groups[0]": {func(r *rules.Rules) { whenOf(r).Requester.Groups = []string{"keiri"} }},
		"rules[0].when.requester.groups[1]": {
			func(r *rules.Rules) { whenOf(r).Requester.Groups = []string{"S1", "S1"} },
		},
		"rules[0].when.tools.list": {
			func(r *rules.Rules) {
				for _, name := range many("t%d", 101) {
					whenOf(r).Tools.List = append(whenOf(r).Tools.List, rules.Tool{Name: name})
				}
			},

			func(r *rules.Rules) { whenOf(r).Tools.List = nil }, func(r *rules.Rules) { whenOf(r).Tools.Use = rules.UseWriting },
		},
		"rules[0].when.tools.list[0].name": {
			func(r *rules.Rules) { whenOf(r).Tools.List[0].Name = "" },
			func(r *rules.Rules) { whenOf(r).Tools.List[0].Name = strings.Repeat("a", 101) },
		},
		"rules[0].when.tools.list[0].address": {
			func(r *rules.Rules) { whenOf(r).Tools.List[0].Address = "rooms" },
			func(r *rules.Rules) { whenOf(r).Tools.List[0].Address = "https://" + strings.Repeat("a", 500) },
		},
		"rules[0].when.requester.people[0]": {func(r *rules.Rules) { whenOf(r).Requester.People = []string{"sato"} }},
		"rules[0].when.labels[0].name":      {func(r *rules.Rules) { whenOf(r).Labels[0].Name = "" }},
		"rules[0].when.labels[0].list":      {func(r *rules.Rules) { whenOf(r).Labels[0].List = nil }},
		"rules[0].when.labels[0].list[1]":   {func(r *rules.Rules) { whenOf(r).Labels[0].List[1] = "旅費" }},
		"rules[0].when.labels[1].name": {func(r *rules.Rules) {
			whenOf(r).Labels = append(whenOf(r).Labels, whenOf(r).Labels[0])
		}},
		"rules[0].when.amount.at_least": {
			func(r *rules.Rules) { whenOf(r).Amount.AtLeast = "-1" },
			func(r *rules.Rules) { whenOf(r).Amount.AtLeast = "100,000" },
		},
		"rules[0].when.amount.currency": {func(r *rules.Rules) { whenOf(r).Amount.Currency = "" }},
	})
}

func TestProblemsOfRoutes(t *testing.T) {
	refuseEach(t, map[string][]func(*rules.Rules){
		"rules[0].route.stages": {
			func(r *rules.Rules) { routeOf(r).Stages = nil },
			func(r *rules.Rules) {
				routeOf(r).Stages = append(routeOf(r).Stages, slices.Repeat([]rules.Stage{channel()}, 4)...)
			},
		},
		"rules[0].route.tells": {func(r *rules.Rules) { routeOf(r).Tells = "U1" }},
		"rules[0].route.stages[0].who": {
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.Level = 1 },
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.Position = "部長" },
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.Department = "sales" },
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.Group = "S1" }},
		"rules[0].route.stages[1].who":  {func(r *rules.Rules) { routeOf(r).Stages[1].Who.People = []string{"U1"} }},
		"rules[0].route.stages[0].name": {func(r *rules.Rules) { routeOf(r).Stages[0].Name = "" }},
		"rules[0].route.stages[0].need": {
			func(r *rules.Rules) { routeOf(r).Stages[0].Need = 3 }, func(r *rules.Rules) { routeOf(r).Stages[0].Need = -1 },
		},
		"rules[0].route.stages[1].need": {func(r *rules.Rules) { routeOf(r).Stages[1].Need = 51 }},
		"rules[0].route.stages[2].need": {func(r *rules.Rules) { routeOf(r).Stages[2].Need = 2 }},
		"rules[0].route.stages[4].need": {
			func(r *rules.Rules) { routeOf(r).Stages[4].Need = 0 }, func(r *rules.Rules) { routeOf(r).Stages[4].Need = 2 },
		},
		"rules[0].route.stages[0].who.kind": {func(r *rules.Rules) { routeOf(r).Stages[0].Who.Kind = "together" }},
		"rules[0].route.stages[0].who.people": {
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.People, routeOf(r).Stages[0].Need = nil, 0 },
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.People = many("U%d", 51) }},
		"rules[0].route.stages[0].who.people[1]": {
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.People = []string{"U1", "@sato"} },
			func(r *rules.Rules) { routeOf(r).Stages[0].Who.People = []string{"U1", "U1"} },
		},
		"rules[0].route.stages[1].who.group": {func(r *rules.Rules) { routeOf(r).Stages[1].Who.Group = "" }},
		"rules[0].route.stages[2].who.level": {
			func(r *rules.Rules) { routeOf(r).Stages[2].Who.Level = 0 },
			func(r *rules.Rules) { routeOf(r).Stages[2].Who.Level = 3 },
		},
		"rules[0].route.stages[3].who.position": {func(r *rules.Rules) { routeOf(r).Stages[3].Who.Position = "" }},
		"rules[0].route.stages[5].who.any": {func(r *rules.Rules) {
			routeOf(r).Stages[5].Who.Any = routeOf(
				r).Stages[5].Who.Any[:1]
		}},
		"rules[0].route.stages[5].who.any[0].kind": {func(
			r *rules.Rules) {
			routeOf(r).Stages[5].Who.Any[0] = channel().Who
		}},
		"rules[0].route.stages[5].who.any[2].level": {func(r *rules.Rules) { routeOf(r).Stages[5].Who.Any[2].Level = 0 }},
		"rules[0].route.stages[3].who.department":   {func(r *rules.Rules) { routeOf(r).Stages[3].Who.Department = " " }},
	})
}

// An error says how much is allowed.
func TestProblemsNameTheLimit(t *testing.T) {
	r := whole()
	r.Rules[0].Route.Stages[1].Need = 51
	expect.Is(t, r.Validate(known).Error(), "rules[0].route.stages[1].need must be between 0 and 50")
}

func TestARowHoldsTheRules(t *testing.T) {
	r := of()
	for i := range 101 {
		r.Rules = append(r.Rules, rules.Rule{ID: id(i), Name: fmt.Sprint("rule ", i), Outcome: rules.Outcome{Refuse: "No."}})
	}
	expect.Same(t, fieldsOf(r.Problems(known)), []string{"rules"})
	saved(t, of(r.Rules[:100]...))
	for i := range 100 {
		r.Rules[i].Refuse = strings.Repeat("あ", 1000)
	}
	expect.Has(t, of(r.Rules[:100]...).Validate(known).Error(), "must have at most 102400 bytes")
}

// What is exactly at its limit can be saved.
func TestLimitsAreAllowed(t *testing.T) {
	r := whole()
	r.Rules[0].Name, r.Rules[1].Refuse = strings.Repeat("あ", 80), strings.Repeat("あ", 1000)
	when, route := whenOf(r), routeOf(r)
	when.Places = &rules.Places{Channels: many("C%d", 100)}
	when.Amount = &rules.Between{AtLeast: "1", Below: "999999999999999.999999", Currency: "JPY"}
	when.Tools = &rules.Tools{Use: rules.UseOnly, List: []rules.Tool{
		{Name: "t", Address: "https://" + strings.Repeat("a", 492)}, {Name: strings.Repeat("a", 100)},
	}}
	for _, name := range many("t%d", 98) {
		when.Tools.List = append(when.Tools.List, rules.Tool{Name: name})
	}
	route.Stages[0].Who.People, route.Stages[0].Need = many("U%d", 42), 42
	saved(t, r)
	when.Places = &rules.Places{Direct: true}
	saved(t, r)
}
