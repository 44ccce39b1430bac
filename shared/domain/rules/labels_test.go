package rules_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// labelled is a call whose 費目 has these values; without one it isn't known.
func labelled(values ...string) rules.Call {
	c := writes(pay, yen("1"))
	c.Labels = map[string][]string{"費目": values}
	return c
}

func kinds(list ...string) rules.Conditions {
	return rules.Conditions{Labels: map[string][]string{"費目": list}}
}

// A rule takes what its list names. What nobody knows, what no rule lists and what is only partly meant is refused,
// with the label's name, by the first rule that could take it.
func TestRulesByLabels(t *testing.T) {
	r := of(rule(1, kinds("旅費", "交際費"), people(1, "A")), rule(2, kinds("契約"), people(1, "B")),
		rule(3, rules.Conditions{}, people(1, "D")))
	for name, c := range map[string]struct {
		calls []rules.Call
		rule  string
		takes bool
	}{
		"a listed value":           {[]rules.Call{labelled("旅費")}, id(1), true},
		"two of them":              {[]rules.Call{labelled("旅費", "交際費")}, id(1), true},
		"of two calls":             {[]rules.Call{labelled("旅費"), labelled("交際費")}, id(1), true},
		"beside a call without it": {[]rules.Call{labelled("旅費"), writes(dm, rules.Nothing())}, id(1), true},
		"of another rule":          {[]rules.Call{labelled("契約")}, id(2), true},
		"no call has it":           {[]rules.Call{writes(pay, yen("1"))}, id(3), true},
		"unknown":                  {[]rules.Call{labelled()}, id(1), false},
		"unknown of one call":      {[]rules.Call{labelled("契約"), labelled()}, id(1), false},
		"unlisted":                 {[]rules.Call{labelled("雑費")}, id(1), false},
		"written otherwise":        {[]rules.Call{labelled("旅費 ")}, id(1), false},
		"of two rules":             {[]rules.Call{labelled("旅費", "契約")}, id(1), false},
	} {
		a := r.Match(asked(c.calls...))
		expect.That(t, a.Rule.ID == c.rule && a.Refused != c.takes, "%s: %+v", name, a)
		expect.Is(t, a.Unlabelled, map[bool]string{false: "費目"}[c.takes], name)
	}
	// A rule that doesn't take it anyway refuses nothing.
	elsewhere := kinds("旅費")
	elsewhere.Channels = []string{rules.Direct}
	a := of(rule(1, elsewhere, people(1, "A")), rule(2, rules.Conditions{}, people(1, "B"))).Match(asked(labelled()))
	expect.That(t, a.Rule.ID == id(2) && !a.Refused, "%+v", a)
}

// The values of a label are texts, numbers as they are written, or lists of these. One that isn't known leaves all
// unknown.
func TestTheValuesOfALabel(t *testing.T) {
	const arguments = `{"to":"C1","cc":["a","b"],"items":[{"kind":"x"},{"kind":"y"}],"n":8.0,
		"ref":{"$ref":"step-1.result.id"},"empty":"","none":[],"null":null,"flag":true,"mixed":["a",true]}`
	for pointer, want := range map[string][]string{"/to": {"C1"}, "/cc": {"a", "b"}, "/cc/*": {"a", "b"},
		"/items/*/kind": {"x", "y"}, "/n": {"8.0"}, "/ref": nil, "/empty": nil, "/none": nil, "/null": nil, "/flag": nil,
		"/mixed": nil, "/gone": nil, "/items/*": nil} {
		m := &rules.Mark{Version: "v1", LabelledBy: []rules.Label{{Name: "費目", Pointer: pointer}}}
		got := m.LabelsOf("v1", arguments)
		_, has := got["費目"]
		expect.That(t, has && strings.Join(got["費目"], "|") == strings.Join(want, "|"), "%s: %v", pointer, got)
		expect.Is(t, len(m.LabelsOf("v2", arguments)["費目"]), 0, "another version")
	}
	expect.Is(t, len((*rules.Mark)(nil).LabelsOf("v1", aggregate.JSON("{}"))), 0)
}

// Who asks is met by account, by department or by group. Where nobody knows the department, a rule for one refuses, as
// it does where the organisation doesn't have it.
func TestRulesByWhoAsks(t *testing.T) {
	of3 := of(rule(1, rules.Conditions{People: []string{"R"}, Departments: []string{"sales"}},
		people(1, "A")), rule(2, rules.Conditions{Groups: []string{"S9"}}, people(1, "A")),
		rule(3, rules.Conditions{}, people(1, "B")))
	for name, c := range map[string]struct {
		user                string
		departments, groups []string
		unknown             []string
		rule                string
		unsure              bool
	}{
		"by account":            {"R", nil, nil, nil, id(1), false},
		"by department":         {"X", []string{"x", "sales"}, nil, nil, id(1), false},
		"of another department": {"X", []string{"x"}, nil, nil, id(3), false},
		"by group":              {"X", []string{"x"}, []string{"S9"}, nil, id(2), false},
		"nobody knows":          {"X", nil, nil, nil, id(1), true},
		"unknown":               {"X", []string{"x"}, nil, []string{"sales"}, id(1), true},
	} {
		f := asked(writes(pay, yen("1")))
		f.Requester, f.Askers = c.user, nil
		f.Organised, f.Departments, f.Groups, f.Unknown = true, c.departments, c.groups, c.unknown
		a := of3.Match(f)
		expect.That(t, a.Rule.ID == c.rule && a.Unsure == c.unsure && a.Refused == c.unsure, "%s: %+v", name, a)
	}
}

func TestWhichWriteIsToldFirst(t *testing.T) {
	money, none, unknown := yen("5"), rules.Nothing(), rules.Unknown(rules.WhyUnmarked)
	for name, c := range map[string]struct {
		acts    []rules.Act
		amounts []rules.Amount
		lead    int
		sum     rules.Amount
	}{
		"none":                {nil, nil, -1, none},
		"what moves money":    {[]rules.Act{"message", "", "order"}, []rules.Amount{none, none, money}, 2, money},
		"what is no message":  {[]rules.Act{"message", "sheet"}, []rules.Amount{none, none}, 1, none},
		"a message":           {[]rules.Act{"message", "message"}, []rules.Amount{none, none}, 0, none},
		"money, known or not": {[]rules.Act{"", "order"}, []rules.Amount{unknown, money}, 1, unknown},
	} {
		lead, sum := rules.Lead(c.acts, c.amounts)
		expect.That(t, lead == c.lead && sum == c.sum, "%s: %d, %+v", name, lead, sum)
	}
}
