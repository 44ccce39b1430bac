package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
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

// meeting is a condition, a request, and whether the request meets it.
type meeting struct {
	when rules.Conditions
	f    *rules.Facts
	want bool
}

func matchEach(t *testing.T, table map[string]meeting) {
	t.Helper()
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			a := of(rule(1, c.when, people(1, "A"))).Match(c.f)
			expect.Is(t, !a.Last, c.want)
		})
	}
}

// Each condition on who asks and where, alone, against requests that meet it and requests that don't.
func TestConditionsOnWhoAsksAndWhere(t *testing.T) {
	in := func(change func(*rules.Facts)) *rules.Facts {
		f := asked(writes(pay, yen("1")))
		change(f)
		return f
	}
	one := asked(writes(pay, yen("1")))
	direct := in(func(f *rules.Facts) { f.Place = rules.Place{Channel: "C1", Direct: true} })
	ofSales := in(func(f *rules.Facts) {
		f.Organised, f.Departments, f.Groups = true, []string{"sales-1", "sales"}, []string{"S9"}
	})
	unorganised := in(func(f *rules.Facts) { f.Departments = []string{"sales"} })
	call := in(func(f *rules.Facts) { f.Kind = rules.KindCall })
	sales := rules.Conditions{Departments: []string{"sales"}}
	channels := rules.Conditions{Channels: []string{"C0", "C1"}}
	steps := rules.Conditions{Asks: []rules.Kind{rules.KindSteps}}
	matchEach(t, map[string]meeting{
		"no condition":                      {rules.Conditions{}, one, true},
		"no condition, only reads":          {rules.Conditions{}, asked(reads()), false},
		"a call that runs elsewhere":        {rules.Conditions{}, &rules.Facts{Kind: rules.KindCall}, true},
		"a step is no steps":                {steps, in(func(f *rules.Facts) { f.Kind = rules.KindStep }), false},
		"steps":                             {steps, one, true},
		"a call is no steps":                {steps, call, false},
		"in the channel":                    {channels, one, true},
		"in another channel":                {channels, in(func(f *rules.Facts) { f.Place.Channel = "C2" }), false},
		"a direct message is in no channel": {channels, direct, false},
		"a direct message":                  {rules.Conditions{Channels: []string{rules.Direct}}, direct, true},
		"a channel is no direct message":    {rules.Conditions{Channels: []string{rules.Direct}}, one, false},
		"a department below":                {sales, ofSales, true},
		"a group":                           {rules.Conditions{Groups: []string{"S9"}}, ofSales, true},
		"another group":                     {rules.Conditions{Groups: []string{"S8"}}, ofSales, false},
		"another department":                {rules.Conditions{Departments: []string{"hr"}}, ofSales, false},
	})
	for name, f := range map[string]*rules.Facts{"no department": one, "no organisation stands": unorganised} {
		a := of(rule(1, sales, people(1, "A")), rule(2, rules.Conditions{}, people(1, "B"))).Match(f)
		expect.That(t, a.Refused && a.Unsure && a.Rule.ID == id(1), "%s: a rule after the one in doubt: %+v", name, a)
	}
}

// A rule whose department is none of the organisation's may be about the requester, under another code: no later rule
// decides, which might ask less, and the answer names the department.
func TestARuleOfAnUnknownDepartmentRefuses(t *testing.T) {
	of10 := rules.Conditions{Departments: []string{"0010", "００２０"}}
	r := of(rule(1, of10, people(1, "A")), rule(2, rules.Conditions{}, people(1, "B")))
	f := asked(writes(pay, yen("1")))
	f.Organised, f.Departments = true, []string{"10"}
	expect.Is(t, r.Match(f).Rule.ID, id(2), "the organisation has both")
	f.Unknown = []string{"0010"}
	answer := r.Match(f)
	expect.That(t, answer.Rule.ID == id(1) && answer.Refused && answer.Unsure && answer.Unknown == "0010", "%+v", answer)
	f.Departments = []string{"0020"}
	expect.That(t, !r.Match(f).Refused && r.Match(f).Rule.ID == id(1), "of another of its departments")
}

func TestConditionsOnCalls(t *testing.T) {
	none, one := asked(), asked(writes(pay, yen("99999.99")))
	both := asked(writes(pay, yen("100000")), writes(dm, rules.Nothing()))
	dollars := asked(writes(pay, rules.Amount{Value: "5", Currency: "USD"}))
	matchEach(t, map[string]meeting{
		"some, among others":                    {some(pay), both, true},
		"some, none of them":                    {some(sheet, read), both, false},
		"only, with another":                    {only(pay), both, false},
		"only, all listed":                      {only(pay, dm), both, true},
		"only, reads count, too":                {only(pay), asked(writes(pay, yen("1")), reads()), false},
		"only, no call":                         {only(pay), none, false},
		"writes":                                {writing(), both, true},
		"reads only":                            {writing(), asked(reads()), false},
		"no access said is a write":             {writing(), asked(rules.Call{Tool: pay}), true},
		"exactly the amount":                    {from(rules.Conditions{}, "100000"), both, true},
		"a hundredth less":                      {from(rules.Conditions{}, "100000"), one, false},
		"exactly the amount is not below":       {under(rules.Conditions{}, "100000"), both, false},
		"a hundredth less is below":             {under(rules.Conditions{}, "100000"), one, true},
		"another currency is at least all":      {from(rules.Conditions{}, "100000"), dollars, true},
		"another currency is below nothing":     {under(rules.Conditions{}, "100000"), dollars, false},
		"nothing is below":                      {under(some(read), "1"), asked(reads()), true},
		"nothing is not at least":               {from(rules.Conditions{}, "1"), asked(reads()), false},
		"a bound that is no number":             {from(rules.Conditions{}, "1/3"), one, false},
		"a bound that is no number, below":      {under(rules.Conditions{}, "1e9"), one, false},
		"two conditions, one of which is unmet": {under(some(pay), "100000"), both, false},
	})
}

// Case 8: the order decides, and a refusal that comes later doesn't count; what no rule takes falls to the last.
func TestTheFirstRuleDecides(t *testing.T) {
	r := of(
		rule(1, from(some(pay), "100000"), superior(1), head()),
		rules.Rule{ID: id(2), Name: "no payments", Conditions: some(pay), Outcome: rules.Outcome{Refuse: "Ask accounting."}},
		rule(3, only(dm), people(1, "A")),
	)
	a := r.Match(asked(writes(pay, yen("100000"))))
	expect.Same(t, a, rules.Answer{Rule: circulation.Rule{ID: id(1), Name: "rule 1", Revision: 7},
		Outcome: r.Rules[0].Outcome})
	a = r.Match(asked(writes(pay, yen("1")), writes(dm, rules.Nothing())))
	expect.Same(t, a, rules.Answer{Rule: circulation.Rule{ID: id(2), Name: "no payments", Revision: 7},
		Outcome: r.Rules[1].Outcome, Refused: true})
	expect.Is(t, r.Match(asked(writes(dm, rules.Nothing()))).Rule.ID, id(3))

	a = r.Match(asked(writes(dm, rules.Nothing()), writes(sheet, rules.Nothing())))
	expect.That(t, a.Last && a.Refused && a.Stages == nil && a.Rule == circulation.Rule{ID: rules.LastID, Revision: 7},
		"a tool beside those of the only rule: %+v", a)
	a = r.Match(asked(reads()))
	expect.That(t, a.Last && !a.Refused && len(a.Stages) == 1 && a.Stages[0].Channel,
		"reading asks one person of the channel: %+v", a)
}

// Case 13: the same server under another name, or with its address spelled otherwise, is the same tool. Another
// server's tool of that name is not, and falls to the last rule.
func TestAToolIsItsAddressAndName(t *testing.T) {
	r := of(rule(1, some(pay), people(1, "A")))
	for address, same := range map[string]bool{
		"https://rooms.example.com/mcp":      true,
		"HTTPS://Rooms.Example.com:443/mcp/": true,
		"https://rooms.example.com./mcp":     true,
		"https://rooms.example.com/MCP":      false,
		"https://rooms2.example.com/mcp":     false,
		"http://rooms.example.com/mcp":       false,
		"https://rooms.example.com:8443/mcp": false,
		"https://rooms.example.com/%zz":      false,
		"":                                   false,
	} {
		a := r.Match(asked(writes(rules.Tool{Address: address, Name: "pay"}, yen("1"))))
		expect.Is(t, a.Rule.ID == id(1), same, "%s", address)
		expect.Is(t, a.Refused, !same, "%s", address)
	}
	expect.That(t, r.Match(asked(writes(rules.Tool{Address: pay.Address, Name: "Pay"}, yen("1")))).Refused, "another name")
}

func TestRulesAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawnRules(t)
		text := expect.Value(json.Marshal(r))(t)
		var again rules.Rules
		expect.NoError(t, json.Unmarshal(text, &again))
		expect.Is(t, string(expect.Value(json.Marshal(again))(t)), string(text))
		f := drawnFacts(t)
		expect.Same(t, again.Match(f), r.Match(f))
	})
}

// Every request has exactly one answer, always the same: that of the first rule that takes it when it is alone.
func TestMatchIsTotalAndTakesTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := drawnRules(t), drawnFacts(t)
		a := r.Match(f)
		expect.Same(t, r.Match(f), a)
		expect.That(t, a.Refused == (len(a.Stages) == 0), "%+v", a)
		// A value that another rule lists is a known one, so each rule stands beside one that lists all and takes nothing.
		beside := rules.Rule{ID: id(len(r.Rules)), Conditions: rules.Conditions{Asks: []rules.Kind{"none"},
			Labels: map[string][]string{}}}
		for _, x := range r.Rules {
			for name, list := range x.Labels {
				beside.Labels[name] = append(beside.Labels[name], list...)
			}
		}
		want := rules.LastID
		for i := len(r.Rules) - 1; i >= 0; i-- {
			if alone := of(r.Rules[i], beside); !alone.Match(f).Last {
				want = r.Rules[i].ID
			}
		}
		expect.Is(t, a.Rule.ID, want)
		expect.Is(t, a.Last, want == rules.LastID)
	})
}
