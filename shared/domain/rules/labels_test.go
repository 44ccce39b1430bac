package rules_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// labelled is a write with these values at 費目; without any, of which nobody knows them.
func labelled(values ...string) rules.Call {
	c := writes(pay, yen("1"))
	c.Labels = map[string][]string{"費目": values}
	return c
}

// kinds is a condition on 費目.
func kinds(is rules.Use, list ...string) rules.Conditions {
	return rules.Conditions{Labels: []rules.Labelled{{Name: "費目", Is: is, List: list}}}
}

func takes(c rules.Conditions, f *rules.Facts) bool {
	return !of(rule(1, c, people(1, refuse, "A"))).Match(f).Last
}

func TestWhichKindsOfSpendingARuleTakes(t *testing.T) {
	message := writes(dm, rules.Nothing())
	for name, c := range map[string]struct {
		calls      []rules.Call
		only, some bool
	}{
		"a listed one":                 {[]rules.Call{labelled("旅費")}, true, true},
		"in other width":               {[]rules.Call{labelled("ﾘｮﾋ")}, true, true},
		"with a message at the end":    {[]rules.Call{labelled("旅費"), message, reads()}, true, true},
		"two listed ones":              {[]rules.Call{labelled("旅費", "リョヒ")}, true, true},
		"another one":                  {[]rules.Call{labelled("交際費")}, false, false},
		"another one beside":           {[]rules.Call{labelled("旅費"), labelled("交際費")}, false, true},
		"another one of the same call": {[]rules.Call{labelled("旅費", "交際費")}, false, true},
		"nobody knows":                 {[]rules.Call{labelled()}, false, false},
		"nobody knows of one":          {[]rules.Call{labelled("旅費"), labelled()}, false, true},
		"no call has the label":        {[]rules.Call{message, writes(pay, yen("1"))}, false, false},
		"no call":                      {nil, false, false},
	} {
		f := asked(c.calls...)
		expect.Is(t, takes(kinds(rules.UseOnly, "旅費", "リョヒ"), f), c.only, name)
		expect.Is(t, takes(kinds(rules.UseSome, "旅費", "リョヒ"), f), c.some, name)
	}
}

// What nobody knows of a label takes no stage away: what decides instead asks all that a rule asks that might take it,
// or the request is refused.
func TestAnUnknownKindOfSpendingAsksNoLess(t *testing.T) {
	a, b := people(1, refuse, "A"), people(1, refuse, "B")
	named, two := b, people(2, refuse, "A", "B")
	named.Name = "another name"
	deny := rules.Rule{ID: id(1), When: kinds(rules.UseSome, "交際費"), Outcome: rules.Outcome{Refuse: "no"}}
	for name, c := range map[string]struct {
		might rules.Rule
		later []rules.Stage
		takes bool
	}{
		"the same":            {rule(1, kinds(rules.UseSome, "交際費"), b), []rules.Stage{named}, true},
		"one more":            {rule(1, kinds(rules.UseOnly, "交際費"), b), []rules.Stage{a, b}, true},
		"one after it":        {rule(1, kinds(rules.UseOnly, "交際費"), b), []rules.Stage{b, a}, true},
		"another one":         {rule(1, kinds(rules.UseSome, "交際費"), b), []rules.Stage{a}, false},
		"one fewer":           {rule(1, kinds(rules.UseOnly, "交際費"), a, b), []rules.Stage{b}, false},
		"in another order":    {rule(1, kinds(rules.UseSome, "交際費"), a, b), []rules.Stage{b, a}, false},
		"fewer stamps":        {rule(1, kinds(rules.UseSome, "交際費"), two), []rules.Stage{people(1, refuse, "A", "B")}, false},
		"of one that refuses": {deny, []rules.Stage{a, b}, false},
		"which is another place": {rule(1, rules.Conditions{Labels: deny.When.Labels, ValidTo: "2000-01-01"}, b),
			[]rules.Stage{a}, true},
		"of a label that is known, too": {rule(1, rules.Conditions{Labels: append(kinds(rules.UseSome, "交際費").Labels,
			rules.Labelled{Name: "契約", Is: rules.UseSome, List: []string{"随意"}})}, b), []rules.Stage{a}, true},
	} {
		unknown := labelled()
		unknown.Labels["契約"] = []string{"入札"}
		r := of(c.might, rule(2, rules.Conditions{}, c.later...))
		got := r.Match(asked(unknown))
		want := rules.Answer{Rule: circulation.Rule{ID: id(1), Name: c.might.Name, Revision: 7}, Refused: true,
			Unlabelled: "費目"}
		if c.takes {
			want = r.Match(asked(labelled("旅費")))
			expect.Is(t, want.Rule.ID, id(2), name)
		}
		expect.Same(t, got, want)
		r.Rules = r.Rules[:1]
		expect.That(t, r.Match(asked(unknown)).Last, "%s: the last rule, which refuses, doesn't decide", name)
	}
	fewer := rule(2, rules.Conditions{}, a, b)
	fewer.Route.Hands = 1
	expect.Is(t, of(rule(1, kinds(rules.UseSome, "交際費"), a, b), fewer).Match(asked(labelled())).Unlabelled, "費目")
}

func TestWhatACallHasAtALabel(t *testing.T) {
	const arguments = `{"account":"旅費","id":101,"rows":[{"a":"x"},{"a":"y"}],"ref":{"$ref":"step-1.result.id"},` +
		`"empty":"","none":[],"some":["x",""],"deep":{"a":1},"yes":true,"minus":-1}`
	for pointer, want := range map[string][]string{
		"/account": {"旅費"}, "/id": {"101"}, "/rows/*/a": {"x", "y"}, "/ref": nil, "/empty": nil, "/none": nil, "/some": nil,
		"/deep": nil, "/yes": nil, "/minus": nil, "/missing": nil, "/rows": nil,
	} {
		m := &rules.Mark{Version: "v1", LabelledBy: []rules.Label{{Name: "費目", Pointer: pointer}}}
		expect.Is(t, len(m.Problems()), 0)
		expect.Same(t, m.LabelsOf("v1", arguments), map[string][]string{"費目": want})
		for version, text := range map[string]aggregate.JSON{"v2": arguments, "v1": `{"account":"旅費","ACCOUNT":"x"}`} {
			expect.Same(t, m.LabelsOf(version, text), map[string][]string{"費目": nil})
		}
		expect.That(t, m.Covers("v1", rules.Tokens(pointer)), "%s may come from an earlier step", pointer)
		expect.That(t, !m.DecidesAs(&rules.Mark{Version: "v1"}) && m.AmountOf("v1", aggregate.Write, arguments).Why != "",
			"a label decides, and says nothing of the amount")
	}
	expect.That(t, (*rules.Mark)(nil).LabelsOf("v1", arguments) == nil, "without a mark")
}

func TestLabelsThatCantBeSaved(t *testing.T) {
	long := strings.Repeat("あ", rules.MaxNamed+1)
	label := func(name, pointer string) rules.Label { return rules.Label{Name: name, Pointer: pointer} }
	for field, all := range map[string][]rules.Label{
		"labelled_by[0].name":    {label("", "/a")},
		"labelled_by[1].name":    {label("a", "/a"), label("a", "/b")},
		"labelled_by[0].pointer": {label("a", "a")},
		"labelled_by": {label("a", "/a"), label("b", "/a"), label("c", "/a"), label("d", "/a"),
			label("e", "/a")},
	} {
		expect.Same(t, fieldsOf((&rules.Mark{Version: "v1", LabelledBy: all}).Problems()), []string{field})
	}
	expect.Same(t, fieldsOf((&rules.Mark{Version: "v1", LabelledBy: []rules.Label{label(long, "/a")}}).Problems()),
		[]string{"labelled_by[0].name"})
	const at = "rules[0].when."
	for field, c := range map[string]rules.Conditions{
		at + "labels[0].name":    {Labels: []rules.Labelled{{Name: "", Is: rules.UseOnly, List: []string{"a"}}}},
		at + "labels[0].is":      kinds(rules.UseWriting, "a"),
		at + "labels[0].list":    kinds(rules.UseOnly),
		at + "labels[0].list[1]": kinds(rules.UseOnly, "a", "a"),
		at + "labels[1].name": {Labels: append(kinds(rules.UseOnly, "a").Labels, kinds(rules.UseSome,
			"b").Labels...)},
		at + "valid_from":             {ValidFrom: "2027-02-29"},
		at + "valid_to":               {ValidFrom: "2027-04-01", ValidTo: "2027-03-31"},
		at + "requester":              {Requester: &rules.Requester{}},
		at + "requester.positions[0]": {Requester: &rules.Requester{Positions: []string{" 課長"}}},
		at + "requester.positions[1]": {Requester: &rules.Requester{Positions: []string{"課長", "課長"}}},
	} {
		expect.Same(t, fieldsOf(of(rule(1, c, people(1, refuse, "U1"))).Problems(known)), []string{field})
	}
}

func TestOnWhichDaysARuleTakesRequests(t *testing.T) {
	for on, want := range map[string]bool{
		"2026-03-31": false, "2026-04-01": true, "2027-03-31": true, "2027-04-01": false, "": false,
	} {
		f := asked(writes(pay, yen("1")))
		f.On = on
		expect.Is(t, takes(rules.Conditions{ValidFrom: "2026-04-01", ValidTo: "2027-03-31"}, f), want, on)
		expect.Is(t, takes(rules.Conditions{}, f), true, on)
		expect.Is(t, takes(rules.Conditions{ValidTo: "2027-03-31"}, f), on <= "2027-03-31", on)
	}
}

func TestRulesByThePositionOfWhoAsks(t *testing.T) {
	chiefs := &rules.Requester{Positions: []string{"課長", "ﾘｰﾀﾞｰ"}}
	sales := &rules.Requester{Departments: []string{"sales"}, Positions: []string{"課長"}}
	for name, c := range map[string]struct {
		who                      *rules.Requester
		position                 string
		departments, unknown     []string
		takes, refuses, organise bool
	}{
		"one of them":                 {chiefs, "課長", []string{"x"}, nil, true, false, true},
		"in other width":              {chiefs, "リーダー", []string{"x"}, nil, true, false, true},
		"another one":                 {chiefs, "部長", []string{"x"}, nil, false, false, true},
		"none":                        {chiefs, "", []string{"x"}, nil, false, false, true},
		"in the department":           {sales, "課長", []string{"a", "sales"}, nil, true, false, true},
		"in another department":       {sales, "課長", []string{"a"}, nil, false, false, true},
		"another one there":           {sales, "部長", []string{"sales"}, nil, false, false, true},
		"which nobody has on any day": {chiefs, "部長", []string{"x"}, []string{"課長"}, false, true, true},
		"of whom nothing is known":    {chiefs, "", nil, nil, false, true, true},
		"without an organisation":     {chiefs, "課長", []string{"x"}, nil, false, true, false},
	} {
		f := asked(writes(pay, yen("1")))
		f.Position, f.Departments, f.Unknown, f.Organised = c.position, c.departments, c.unknown, c.organise
		f.Requester.Person, f.Askers[0].Person = "pR", "pR"
		a := of(rule(1, rules.Conditions{Requester: c.who}, people(1, refuse, "A"))).Match(f)
		expect.Is(t, a.Rule.ID == id(1) && !a.Refused, c.takes, name)
		expect.Is(t, a.Unsure, c.refuses, name)
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
		found := of(rule(1, c.earlier, people(1, refuse, "A")), rule(2, c.later, people(1, refuse, "A"))).Findings(staff(),
			today, "")
		hidden := false
		for _, f := range found {
			hidden = hidden || f.Kind == rules.FindingCovered
		}
		expect.Is(t, hidden, c.hides, name)
	}
}

// Whoever tries rules learns by which condition alone one of them doesn't take a request.
func TestByWhichConditionARuleMisses(t *testing.T) {
	f := asked(labelled("旅費"))
	f.On, f.Organised, f.Departments, f.Position = "2026-05-01", true, []string{"d"}, "係長"
	f.Requester.Person, f.Askers[0].Person = "pR", "pR"
	chiefs := rules.Conditions{Requester: &rules.Requester{Positions: []string{"課長"}}}
	both := kinds(rules.UseOnly, "交際費")
	both.ValidTo = "2026-04-30"
	r := of(rule(1, kinds(rules.UseOnly, "交際費"), people(1, refuse, "A")), rule(2, both, people(1, refuse, "A")),
		rule(3, rules.Conditions{ValidTo: "2026-04-30"}, people(1, refuse, "A")), rule(4, chiefs, people(1, refuse, "A")),
		rule(5, rules.Conditions{ValidFrom: "2026-05-02"}, people(1, refuse, "A")),
		rule(6, from(rules.Conditions{}, "2"), people(1, refuse, "A")), rule(7, kinds(rules.UseOnly, "旅費"),
			people(1, refuse, "A")), rule(8, kinds(rules.UseOnly, "交際費"), people(1, refuse, "A")))
	expect.Same(t, r.Missed(f), []rules.Missed{{Rule: 0, Field: "labels"}, {Rule: 2, Field: "valid_to"},
		{Rule: 3, Field: "requester"}, {Rule: 4, Field: "valid_from"}, {Rule: 5, Field: "amount"}})
}

// The rule for 交際費 asks B, everything else A. However it is written, A alone never decides about it.
func TestAKindIsKnownHoweverItIsWritten(t *testing.T) {
	r := of(rule(1, kinds(rules.UseSome, "交際費", "Travel"), people(1, refuse, "B")),
		rule(2, rules.Conditions{}, people(1, refuse, "A")))
	for _, v := range []string{"交際費 ", " 交際費", "交際 費", "交際\u200b費", "交際費\u3000", "交際費\n", "交際\u00ad費", "travel",
		"Travel\t", "Tr\u0430vel"} {
		a := r.Match(asked(labelled(v)))
		expect.That(t, a.Refused || a.Rule.ID == id(1), "%q: rule %s decides", v, a.Rule.Name)
	}
	for _, v := range []string{"旅費", "消耗品費", "α版"} {
		expect.Is(t, r.Match(asked(labelled(v))).Rule.ID, id(2), v)
	}
}

// What a rule that might take a request asks beside its stages, another one asks, too.
func TestAKindNobodyKnowsLosesNeitherNumberNorYearsNorReaders(t *testing.T) {
	for name, asks := range map[string]func(x *rules.Rule){"number": func(x *rules.Rule) { x.Numbered = true },
		"years":   func(x *rules.Rule) { x.Retain = 10 },
		"readers": func(x *rules.Rule) { x.Route.Readers = &rules.Readers{People: []string{"U1"}} }} {
		might, other := rule(1, kinds(rules.UseSome, "契約"), people(1, refuse, "A")),
			rule(2, rules.Conditions{}, people(1, refuse, "A"))
		asks(&might)
		a := of(might, other).Match(asked(labelled()))
		expect.That(t, a.Refused, "%s: by %s", name, a.Rule.Name)
		asks(&other)
		a = of(might, other).Match(asked(labelled()))
		expect.That(t, !a.Refused, "%s, asked by both: refused", name)
	}
}
