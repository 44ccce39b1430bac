package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// whole are rules that use every field.
func whole() *rules.Rules {
	when := from(some(pay, dm), "100000")
	when.Asks, when.Channels = []rules.Kind{rules.KindSteps}, []string{"C1", rules.Direct}
	when.People, when.Departments, when.Groups = []string{"U9"}, []string{"sales"}, []string{"S1"}
	when.Labels = map[string][]string{"費目": {"旅費", "交際費"}}
	r := of(
		rule(1, when, people(1, "U1", "U2"), group(2), superior(1),
			head(), channel(), either(2, people(1, "U1"), group(1), superior(2))),
		rules.Rule{ID: id(2), Name: "no", Outcome: rules.Outcome{Refuse: "First line.\nSecond line."}},
	)
	r.Rules[0].Numbered, r.Rules[0].Tells = true, "S2"
	return r
}

// many returns values of a form with a number.
func many(form string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, i))
	}
	return all
}

func routeOf(r *rules.Rules) *rules.Outcome { return &r.Rules[0].Outcome }

func whenOf(r *rules.Rules) *rules.Conditions { return &r.Rules[0].Conditions }

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
				expect.That(t, r.Problems(known).Err() != nil, "it can be saved")
			})
		}
	}
}

// Each field has its limit, and the error names both.
func TestProblems(t *testing.T) {
	refuseEach(t, map[string][]func(*rules.Rules){
		"rules":       {func(r *rules.Rules) { r.Rules = nil }},
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
		"rules[0].refuse": {func(r *rules.Rules) { r.Rules[0].Refuse = "No." }},
	})
}

func TestProblemsOfConditions(t *testing.T) {
	refuseEach(t, map[string][]func(*rules.Rules){
		"rules[0].asks[0]": {func(r *rules.Rules) { whenOf(r).Asks[0] = "calls" }},
		"rules[0].asks[1]": {func(r *rules.Rules) { whenOf(r).Asks = []rules.Kind{rules.KindSteps, rules.KindSteps} }},
		"rules[0].below": {
			func(r *rules.Rules) { whenOf(r).Below = "100000" },
			func(r *rules.Rules) { whenOf(r).From, whenOf(r).Below = "", "0" },
		},
		"rules[0].tools[1]": {func(r *rules.Rules) {
			whenOf(r).Tools = []rules.Tool{pay, {Address: pay.Address + "/", Name: "pay"}}
		}},
		"rules[0].channels[0]":    {func(r *rules.Rules) { whenOf(r).Channels = []string{"general"} }},
		"rules[0].channels":       {func(r *rules.Rules) { whenOf(r).Channels = many("C%d", 101) }},
		"rules[0].departments[0]": {func(r *rules.Rules) { whenOf(r).Departments = []string{""} }},
		"rules[0].departments":    {func(r *rules.Rules) { whenOf(r).Departments = many("d%d", 101) }},
		"rules[0].groups[0]":      {func(r *rules.Rules) { whenOf(r).Groups = []string{"keiri"} }},
		"rules[0].groups[1]":      {func(r *rules.Rules) { whenOf(r).Groups = []string{"S1", "S1"} }},
		"rules[0].tools": {
			func(r *rules.Rules) {
				for _, name := range many("t%d", 101) {
					whenOf(r).Tools = append(whenOf(r).Tools, rules.Tool{Name: name})
				}
			},
			func(r *rules.Rules) { whenOf(r).Tools, whenOf(r).Only = nil, true },
		},
		"rules[0].tools[0]": {
			func(r *rules.Rules) { whenOf(r).Tools[0].Name = "" },
			func(r *rules.Rules) { whenOf(r).Tools[0].Name = strings.Repeat("a", 101) },
			func(r *rules.Rules) { whenOf(r).Tools[0].Address = "rooms" },
			func(r *rules.Rules) { whenOf(r).Tools[0].Address = "https://" + strings.Repeat("a", 500) },
		},
		"rules[0].people[0]":    {func(r *rules.Rules) { whenOf(r).People = []string{"sato"} }},
		"rules[0].labels":       {func(r *rules.Rules) { whenOf(r).Labels[""] = []string{"旅費"} }},
		"rules[0].labels.費目":    {func(r *rules.Rules) { whenOf(r).Labels["費目"] = nil }},
		"rules[0].labels.費目[1]": {func(r *rules.Rules) { whenOf(r).Labels["費目"][1] = "旅費" }},
		"rules[0].from": {
			func(r *rules.Rules) { whenOf(r).From = "-1" },
			func(r *rules.Rules) { whenOf(r).From = "100,000" },
		},
		"rules[0].currency": {func(r *rules.Rules) { whenOf(r).Currency = "" }},
	})
}

func TestProblemsOfRoutes(t *testing.T) {
	refuseEach(t, map[string][]func(*rules.Rules){
		"rules[0].stages": {
			func(r *rules.Rules) {
				routeOf(r).Stages = append(routeOf(r).Stages, slices.Repeat([]rules.Stage{channel()}, 4)...)
			},
		},
		"rules[0].tells":             {func(r *rules.Rules) { routeOf(r).Tells = "U1" }},
		"rules[0].stages[0]":         {func(r *rules.Rules) { routeOf(r).Stages[0].People = nil }},
		"rules[0].stages[4].channel": {func(r *rules.Rules) { routeOf(r).Stages[4].People = []string{"U1"} }},
		"rules[0].stages[0].name":    {func(r *rules.Rules) { routeOf(r).Stages[0].Name = "" }},
		"rules[0].stages[0].need": {
			func(r *rules.Rules) { routeOf(r).Stages[0].Need = 3 }, func(r *rules.Rules) { routeOf(r).Stages[0].Need = -1 },
		},
		"rules[0].stages[1].need": {func(r *rules.Rules) { routeOf(r).Stages[1].Need = 51 }},
		"rules[0].stages[2].need": {func(r *rules.Rules) { routeOf(r).Stages[2].Need = 2 }},
		"rules[0].stages[4].need": {
			func(r *rules.Rules) { routeOf(r).Stages[4].Need = 0 }, func(r *rules.Rules) { routeOf(r).Stages[4].Need = 2 },
		},
		"rules[0].stages[0].people": {func(r *rules.Rules) { routeOf(r).Stages[0].People = many("U%d", 51) }},
		"rules[0].stages[0].people[1]": {
			func(r *rules.Rules) { routeOf(r).Stages[0].People = []string{"U1", "@sato"} },
			func(r *rules.Rules) { routeOf(r).Stages[0].People = []string{"U1", "U1"} },
		},
		"rules[0].stages[1].group": {func(r *rules.Rules) { routeOf(r).Stages[1].Group = "keiri" }},
		"rules[0].stages[2].superior": {
			func(r *rules.Rules) { routeOf(r).Stages[2].Superior = -1 },
			func(r *rules.Rules) { routeOf(r).Stages[2].Superior = 3 },
		},
		"rules[0].stages[3].department": {func(r *rules.Rules) { routeOf(r).Stages[3].Department = " " }},
		"rules[0].stages[3].position":   {func(r *rules.Rules) { routeOf(r).Stages[3].Position = "a\nb" }},
	})
}

// An error says how much is allowed.
func TestProblemsNameTheLimit(t *testing.T) {
	r := whole()
	r.Rules[0].Stages[1].Need = 51
	expect.Is(t, r.Problems(known).Err().Error(), "rules[0].stages[1].need between 0 50")
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
	expect.Has(t, of(r.Rules[:100]...).Problems(known).Err().Error(), "rules large 102400")
}

// What is exactly at its limit can be saved.
func TestLimitsAreAllowed(t *testing.T) {
	r := whole()
	r.Rules[0].Name, r.Rules[1].Refuse = strings.Repeat("あ", 80), strings.Repeat("あ", 1000)
	when, route := whenOf(r), routeOf(r)
	when.Channels, when.From, when.Below = many("C%d", 100), "1", "999999999999999.999999"
	when.Only, when.Tools = true, []rules.Tool{
		{Name: "t", Address: "https://" + strings.Repeat("a", 492)}, {Name: strings.Repeat("a", 100)},
	}
	for _, name := range many("t%d", 98) {
		when.Tools = append(when.Tools, rules.Tool{Name: name})
	}
	route.Stages[0].People, route.Stages[0].Need = many("U%d", 42), 42
	saved(t, r)
	when.Channels = []string{rules.Direct}
	saved(t, r)
}

// What is said of a rule for writes, or of those of a department, in a company.
func TestFindings(t *testing.T) {
	ofSales := rules.Conditions{Departments: []string{"sales"}}
	all := func(c *company) {}
	found := func(k rules.FindingKind, stage int, who string) []rules.Finding {
		return []rules.Finding{{Kind: k, Rule: id(2), Stage: stage, Who: who}}
	}
	nobody := func(stage int) []rules.Finding { return found(rules.FindingNobody, stage, "") }
	for name, c := range map[string]struct {
		change func(*company)
		rule   rules.Rule
		want   []rules.Finding
	}{
		"all is well": {all, rule(2, ofSales, group(2), head(), superior(1), channel()), nil},
		"a group has too few": {func(c *company) { c.group = []string{"A"} }, rule(2, writing(), superior(1), group(2)),
			nobody(2)},
		"a group is empty":      {func(c *company) { c.group = nil }, rule(2, writing(), group(0)), nobody(1)},
		"a post is vacant":      {func(c *company) { c.holders = nil }, rule(2, writing(), head()), nobody(1)},
		"whoever is found left": {func(c *company) { c.barred = []string{"D"} }, rule(2, writing(), head()), nobody(1)},
		"another may be above":  {func(c *company) { c.holders = nil }, rule(2, writing(), nearest("部長")), nil},
		"one account twice": {func(c *company) { c.group = []string{"A", "A"} }, rule(2, writing(), group(2)),
			nobody(1)},
		"together they are enough": {all, rule(2, writing(), either(3, group(1), head())), nil},
		"an unknown post": {func(c *company) { c.unknown = []string{"部長 of sales"} },
			rule(2, writing(), people(1, "U1"), head()), found(rules.FindingUnknown, 2, "部長 (sales)")},
		"an unknown department": {func(c *company) { c.unknown = []string{"sales"} }, rule(2, ofSales, people(1, "U1")),
			found(rules.FindingUnknown, 0, "sales")},
		"a manager, no organisation": {func(c *company) { c.org = "" }, rule(2, writing(), superior(1)),
			found(rules.FindingUnknown, 1, "stage superior")},
		"a position, no organisation": {func(c *company) { c.org = "" }, rule(2, writing(), nearest("部長")),
			found(rules.FindingUnknown, 1, "部長")},
	} {
		d := &company{org: "v1", group: []string{"A", "B"}, holders: map[string][]string{"": {"D"}}}
		c.change(d)
		t.Log(name)
		expect.Same(t, of(c.rule).Findings(d), c.want, cmpopts.EquateEmpty())
	}
}
