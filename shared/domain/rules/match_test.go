package rules_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

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
