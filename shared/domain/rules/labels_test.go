package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

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
		calls           []rules.Call
		only, some, not bool
	}{
		"a listed one":                 {[]rules.Call{labelled("旅費")}, true, true, false},
		"in other width":               {[]rules.Call{labelled("ﾘｮﾋ")}, true, true, false},
		"with a message at the end":    {[]rules.Call{labelled("旅費"), message, reads()}, true, true, false},
		"two listed ones":              {[]rules.Call{labelled("旅費", "リョヒ")}, true, true, false},
		"another one":                  {[]rules.Call{labelled("交際費")}, false, false, true},
		"another one beside":           {[]rules.Call{labelled("旅費"), labelled("交際費")}, false, true, false},
		"another one of the same call": {[]rules.Call{labelled("旅費", "交際費")}, false, true, false},
		"nobody knows":                 {[]rules.Call{labelled()}, false, false, false},
		"nobody knows of one":          {[]rules.Call{labelled("旅費"), labelled()}, false, true, false},
		"no call has the label":        {[]rules.Call{message, writes(pay, yen("1"))}, false, false, false},
		"no call":                      {nil, false, false, false},
	} {
		f := asked(c.calls...)
		expect.Is(t, takes(kinds(rules.UseOnly, "旅費", "リョヒ"), f), c.only, name)
		expect.Is(t, takes(kinds(rules.UseSome, "旅費", "リョヒ"), f), c.some, name)
		expect.Is(t, takes(kinds(rules.UseNot, "旅費", "リョヒ"), f), c.not, name)
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
		"the same":         {rule(1, kinds(rules.UseSome, "交際費"), b), []rules.Stage{named}, true},
		"one more":         {rule(1, kinds(rules.UseOnly, "交際費"), b), []rules.Stage{a, b}, true},
		"one after it":     {rule(1, kinds(rules.UseOnly, "交際費"), b), []rules.Stage{b, a}, true},
		"another one":      {rule(1, kinds(rules.UseSome, "交際費"), b), []rules.Stage{a}, false},
		"one fewer":        {rule(1, kinds(rules.UseOnly, "交際費"), a, b), []rules.Stage{b}, false},
		"in another order": {rule(1, kinds(rules.UseSome, "交際費"), a, b), []rules.Stage{b, a}, false},
		"fewer stamps":     {rule(1, kinds(rules.UseSome, "交際費"), two), []rules.Stage{people(1, refuse, "A", "B")}, false},
		"where others may be asked instead": {rule(1, kinds(rules.UseSome, "交際費"), b),
			[]rules.Stage{insteadOf(b, ofUsers("A"))}, false},
		"the same order": {rule(1, kinds(rules.UseSome, "交際費"), insteadOf(b, ofUsers("A"))),
			[]rules.Stage{insteadOf(b, ofUsers("A"))}, true},
		"of one that refuses": {deny, []rules.Stage{a, b}, false},
		"which is another place": {rule(1, rules.Conditions{Labels: deny.When.Labels, Places: &rules.Places{Direct: true}}, b),
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
	both := rules.Labelled{Name: "b", Is: rules.UseOnly, List: []string{"8"}, AtLeast: "8"}
	for field, c := range map[string]rules.Conditions{
		at + "labels[0].name":     {Labels: []rules.Labelled{{Name: "", Is: rules.UseOnly, List: []string{"a"}}}},
		at + "labels[0].is":       kinds(rules.UseWriting, "a"),
		at + "labels[0].list":     kinds(rules.UseOnly),
		at + "labels[1].list":     {Labels: []rules.Labelled{kinds(rules.UseOnly, "a").Labels[0], both}},
		at + "labels[0].at_least": {Labels: []rules.Labelled{{Name: "a", Is: rules.UseOnly, AtLeast: "8日"}}},
		at + "labels[0].below":    {Labels: []rules.Labelled{{Name: "a", Is: rules.UseOnly, AtLeast: "8", Below: "8.0"}}},
		at + "labels[0].list[1]":  kinds(rules.UseOnly, "a", "a"),
		at + "labels[1].name": {Labels: append(kinds(rules.UseOnly, "a").Labels, kinds(rules.UseSome,
			"b").Labels...)},
		at + "requester":              {Requester: &rules.Requester{}},
		at + "requester.positions[0]": {Requester: &rules.Requester{Positions: []string{" 課長"}}},
		at + "requester.positions[1]": {Requester: &rules.Requester{Positions: []string{"課長", "課長"}}},
	} {
		expect.Same(t, fieldsOf(of(rule(1, c, people(1, refuse, "U1"))).Problems(known)), []string{field})
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

// A kind that can be taken for a listed one is surely neither that nor another one.
func TestAKindThatLooksLikeAListedOneAsksNoLess(t *testing.T) {
	likes := func(listed, v string) bool {
		a := of(rule(1, kinds(rules.UseSome, listed), people(2, refuse, "A", "B")),
			rule(2, rules.Conditions{}, people(1, refuse, "A"))).Match(asked(labelled(v)))
		return a.Refused && !takes(kinds(rules.UseNot, listed), asked(labelled(v)))
	}
	for v, listed := range map[string]string{"夕クシー代": "タクシー代", "A‐1": "A-1", "A−1": "A-1", "A–1": "A-1",
		"2026−04": "2026-04", "デ－タ": "データ", "デ−タ": "データ", "力一ド": "カード", "\u0391社": "A社", "\u0410社": "A社",
		"\u0392社": "B社", "SaaS·ツール": "SaaS・ツール", "10〜20": "10~20", "10∼20": "10〜20", "A∕B": "A/B",
		"接待❨社外❩": "接待(社外)", "A-l": "A-1", "第O類": "第0類"} {
		expect.That(t, likes(listed, v), "%q isn't taken for %q", v, listed)
	}
	for v, listed := range map[string]string{"\u03b1線": "\u03b2線", "旅費": "交際費", "A-2": "A-1", "10〜30": "10〜20"} {
		expect.That(t, !likes(listed, v), "%q is taken for %q", v, listed)
	}
}

// What a rule that might take a request asks beside its stages, another one asks, too.
func TestAKindNobodyKnowsLosesNothingThatARuleAsks(t *testing.T) {
	for name, asks := range map[string]func(x *rules.Rule){"number": func(x *rules.Rule) { x.Numbered = true },
		"readers": func(x *rules.Rule) { x.Route.Readers = &rules.Readers{People: []string{"U1"}} },
		"a reader's post": func(x *rules.Rule) {
			x.Route.Readers = &rules.Readers{Posts: []rules.Who{posts("課長", "部長").Who}}
		}} {
		might, other := rule(1, kinds(rules.UseSome, "契約"), people(1, refuse, "A")),
			rule(2, rules.Conditions{}, people(1, refuse, "A"))
		asks(&might)
		f := asked(labelled())
		a := of(might, other).Match(f)
		expect.That(t, a.Refused, "%s: by %s", name, a.Rule.Name)
		asks(&other)
		a = of(might, other).Match(f)
		expect.That(t, !a.Refused, "%s, asked by both: refused", name)
	}
}

// A number is one however it is written. Of what is no number alone nobody knows which one it says, so what decides
// instead asks no less.
func TestAKindMayBeANumber(t *testing.T) {
	days := func(least, below rules.Decimal, list ...string) rules.Conditions {
		return rules.Conditions{Labels: []rules.Labelled{{Name: "費目", Is: rules.UseOnly, List: list, AtLeast: least,
			Below: below}}}
	}
	for name, c := range map[string]struct {
		when                   rules.Conditions
		takes, leaves, unknown []string
	}{
		"a list": {days("", "", "8", "9.5", "1000"), []string{"8", "8.0", "08", " ８ ", "9.50", "1,000"},
			[]string{"7", "8.01", "9", "0", "100"}, []string{"8日", "八日", "-8", "8e0", "eight", "9,5", "1.000"}},
		"texts": {days("", "", "8日", "旅費"), []string{"8日", "８日"}, []string{"9日", "交際費"}, []string{"8", "9"}},
		"both bounds": {days("8", "11"), []string{"8", "8.0", "08", "10.5"}, []string{"7.99", "11", "11.0", "0", "1,000"},
			[]string{"8日", "", "1.000", "1234567890123456"}},
		"from":  {days("1000", ""), []string{"1000", "1,000"}, []string{"999.5"}, []string{"千", "$ref"}},
		"below": {days("", "11"), []string{"0", "10.999999"}, []string{"11"}, []string{"少し", "10.9999999"}},
	} {
		r := of(rule(1, c.when, people(1, refuse, "U2")), rule(2, rules.Conditions{}, people(1, refuse, "U1")))
		expect.NoError(t, r.Validate(known))
		match := func(values ...string) rules.Answer { return r.Match(asked(labelled(values...))) }
		for _, v := range c.takes {
			expect.Is(t, match(v).Rule.ID, id(1), "%s: %q", name, v)
			expect.That(t, match(v, c.leaves[0]).Rule.ID == id(2), "%s: %q is all that counts", name, v)
		}
		for _, v := range c.leaves {
			expect.Is(t, match(v).Rule.ID, id(2), "%s: %q", name, v)
		}
		some := r.Rules[0]
		some.When.Labels = slices.Clone(some.When.Labels)
		some.When.Labels[0].Is = rules.UseSome
		for _, v := range c.unknown {
			expect.That(t, match(v).Refused, "%s: %q is known", name, v)
			a := of(some, r.Rules[1]).Match(asked(labelled(v, c.leaves[0])))
			expect.That(t, a.Refused && a.Unlabelled == "費目", "%s: %q is known beside another", name, v)
		}
	}
}

// Whoever asks gets to nobody who asks less by a value that nobody knows, or by one beside another: neither where "all
// but these" asks less than what follows, nor where it asks more.
func TestAllButSomeKindsLeaveNoWayAround(t *testing.T) {
	a, b, c := people(1, refuse, "U1"), people(1, refuse, "U2"), people(1, refuse, "U3")
	less := saved(t, of(rule(1, kinds(rules.UseNot, "交際費", "8"), a), rule(2, rules.Conditions{}, a, b)))
	more := saved(t, of(rule(1, kinds(rules.UseNot, "交際費", "8"), a, b), rule(2, rules.Conditions{}, a)))
	other := saved(t, of(rule(1, kinds(rules.UseNot, "交際費", "8"), a, b), rule(2, rules.Conditions{}, c)))
	for _, x := range []struct {
		values            []string
		less, more, other string
	}{
		{[]string{"9"}, id(1), id(1), id(1)}, {[]string{"9", "10"}, id(1), id(1), id(1)},
		{[]string{"交際費"}, id(2), id(2), id(2)}, {[]string{"８.0", "交際 費"}, id(2), id(2), id(2)},
		{[]string{"9", "交際費"}, id(2), "", ""}, {nil, id(2), "", ""}, {[]string{"8日"}, id(2), "", ""},
		{[]string{"交際費", "8日"}, id(2), "", ""},
	} {
		f := asked(labelled(x.values...))
		for want, r := range map[*string]*rules.Rules{&x.less: less, &x.more: more, &x.other: other} {
			answer := r.Match(f)
			expect.That(t, answer.Refused == (*want == "") && (answer.Refused || answer.Rule.ID == *want), "%q: %+v", x.values,
				answer)
		}
	}
	expect.That(t, more.Match(asked(writes(dm, rules.Nothing()))).Rule.ID == id(2), "a call without the label counts")
}

// Whatever is asked with one or two values, a condition with bounds decides as their numbers say, and one that covers
// another takes all that the other does.
func TestBoundsOfNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(1, 12)
		drawn := func() (c rules.Conditions, holds func(n int) bool) {
			l := rules.Labelled{Name: "費目", Is: rapid.SampledFrom([]rules.Use{rules.UseOnly, rules.UseSome, rules.UseNot}).Draw(t,
				"is")}
			least, below := number.Draw(t, "least"), number.Draw(t, "below")
			switch rapid.IntRange(0, 5).Draw(t, "form") {
			case 0:
				l.AtLeast, below = rules.Decimal(fmt.Sprint(least)), 1000
			case 1:
				l.Below, least = rules.Decimal(fmt.Sprint(below)), 0
			case 4:
				l.Above, l.AtMost = rules.Decimal(fmt.Sprint(least)), rules.Decimal(fmt.Sprint(below+least, ".0"))
				least, below = least+1, below+least+1
			case 5:
				l.AtMost, least = rules.Decimal(fmt.Sprint(below)), 0
				below++
			case 2:
				l.List, below = []string{fmt.Sprint("0", least)}, least+1
			default:
				below += least
				l.AtLeast, l.Below = rules.Decimal(fmt.Sprint(least)), rules.Decimal(fmt.Sprint(below, ".0"))
			}
			return rules.Conditions{Labels: []rules.Labelled{l}}, func(n int) bool { return n >= least && n < below }
		}
		c, holds := drawn()
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		f := asked(labelled(fmt.Sprint(a), fmt.Sprint(b, ".00")))
		want := map[rules.Use]bool{rules.UseOnly: holds(a) && holds(b), rules.UseSome: holds(a) || holds(b),
			rules.UseNot: !holds(a) && !holds(b)}[c.Labels[0].Is]
		expect.Is(t, takes(c, f), want)
	})
}
