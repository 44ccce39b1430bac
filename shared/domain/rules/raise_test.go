package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// mayRaise names whom a stage's people may add.
func mayRaise(s rules.Stage, all ...rules.Who) rules.Stage {
	for i, w := range all {
		s.Raises = append(s.Raises, rules.Raise{When: fmt.Sprint("case ", i+1), Who: w})
	}
	return s
}

// 特に重要と認めるときは市長: a stage offers whom the rule names, as the gate opens, and asks nobody more.
func TestAStageOffersWhomItsPeopleMayAdd(t *testing.T) {
	post := func(position string) rules.Who {
		return rules.Who{Kind: rules.WhoPosition, Positions: []string{position}, Department: "sales"}
	}
	manager := rules.Who{Kind: rules.WhoManager, Level: 2}
	one, far := people(1, refuse, "X"), rules.Who{Kind: rules.WhoManager, Level: 9}
	first, line := rules.Who{Kind: rules.WhoManager, Level: 1}, people(1, refuse, "A")
	reports := func(users ...string) change { // each to the next
		return func(c *company, _ *rules.Facts) {
			for i := 1; i < len(users); i++ {
				c.managers[users[i-1]] = users[i]
			}
		}
	}
	renamed, twice := with(heads(), unnamed("次長 of sales")), mayRaise(people(1, skip, "X"), post("部長"))
	crowd := func(c *company, _ *rules.Facts) { c.group = strings.Split("abcdefghijkl", "") }
	crowded := "[case 1: a case 1: b case 1: c case 1: d case 1: e case 1: f case 1: g case 1: h case 1: -many case 2: Y]"
	for name, c := range map[string]struct {
		policy *rules.Policy
		change change
		want   string
	}{
		"a post":                      {policy(0, mayRaise(one, post("部長"))), nil, "[case 1: D]"},
		"of two cases":                {policy(0, mayRaise(one, post("部長"), ofUsers("Y"))), nil, "[case 1: D case 2: Y]"},
		"each of several":             {policy(0, mayRaise(one, ofUsers("Y", "Z"))), nil, "[case 1: Y case 1: Z]"},
		"who is above the requester":  {policy(0, mayRaise(line, manager)), nil, "[case 1: B]"},
		"who is above its people":     {policy(0, mayRaise(one, manager)), reports("X", "P", "Q"), "[case 1: Q]"},
		"above each of several, once": {policy(0, mayRaise(people(1, refuse, "X", "Y"), first)), reports("X", "Y", "Q"), "[case 1: Q]"},
		"the requester above them":    {policy(0, mayRaise(one, first)), reports("X", "R"), "[case 1: -own]"},
		"who is below the requester":  {policy(0, mayRaise(one, first)), reports("X", "Y", "R"), "[case 1: -below]"},
		"nobody above":                {policy(0, mayRaise(one, far)), nil, "[case 1: -vacant]"},
		"who stands over a vacant":    {policy(0, mayRaise(one, post("部長"))), heads(), "[case 1: P]"},
		"nobody over a vacant one":    {policy(0, mayRaise(one, post("次長"))), heads(), "[case 1: -vacant]"},
		"a post of another name":      {policy(0, mayRaise(one, post("次長"))), renamed, "[case 1: -unknown]"},
		"the requester's own":         {policy(0, mayRaise(one, post("部長"))), heads("R"), "[case 1: -own]"},
		"another asker's":             {policy(0, mayRaise(one, post("部長"))), alsoAsk("D"), "[case 1: -askers]"},
		"more than fit":               {policy(0, mayRaise(one, group(1, refuse).Who, ofUsers("Y"))), crowd, crowded},
		"who has left":                {policy(0, mayRaise(one, post("部長"))), gone("D"), "[case 1: -standing]"},
		"who is asked later anyway":   {policy(0, mayRaise(one, post("部長")), people(1, refuse, "D")), nil, "[]"},
		"at a stage that is left out": {policy(1, people(1, refuse, "X"), twice), nil, "[]"},
		"at a stage of several": {policy(0, mayRaise(beside(one, rules.Source{Who: ofUsers("Y"), Need: 1}), post("部長"))), nil,
			"[case 1: D]"},
	} {
		d, f := staff(), asked(writes(pay, yen("1")))
		if c.change != nil {
			c.change(d, f)
		}
		route := expect.Value(c.policy.Resolve(f, rules.Floor{Stamps: 1}, d))(t)
		bare := *c.policy
		bare.Stages = nil
		said := []string{}
		for i, s := range route.Stages {
			for _, x := range s.Raises {
				who := x.To.User
				if x.LeftOut != "" {
					who = "-" + x.LeftOut
				}
				expect.That(t, (x.To == circulation.Person{}) == (x.LeftOut != "") && (x.LeftOut != "" || x.To.Via != ""), "%+v", x)
				said = append(said, x.When+": "+who)
			}
			without := c.policy.Stages[i]
			without.Raises = nil
			bare.Stages = append(bare.Stages, without)
		}
		expect.Is(t, fmt.Sprint(said), c.want, name)
		expect.Is(t, drawn(expect.Value(bare.Resolve(f, rules.Floor{Stamps: 1}, d))(t)), drawn(route), name)
	}
	expect.That(t, !policy(0, mayRaise(one, manager)).OfIDs() && policy(0, mayRaise(one, ofUsers("Y"))).OfIDs(), "")
	labelled := rules.Who{Kind: rules.WhoPosition, Positions: []string{"部長"}, Label: "関係部"}
	expect.Same(t, policy(0, mayRaise(one, labelled)).Labels(), []string{"関係部"})
	findEach(t, map[string]finding{"an unknown post": {staffed(func(c *company) { c.unknown = []string{"次長 of sales"} }),
		rule(2, writing(), mayRaise(people(1, refuse, "A"), post("次長"))),
		[]rules.Finding{{Kind: rules.FindingUnraised, Rule: id(2), Stage: 1, Who: "次長 (営業部)"}}}})
}

func unnamed(posts ...string) change {
	return func(c *company, _ *rules.Facts) { c.unknown = posts }
}

func TestWhomAStageMayOffer(t *testing.T) {
	at := "rules[0].route.stages[0].may_raise"
	one, x := people(1, refuse, "UX"), ofUsers("UY")
	deep, nameless := x, mayRaise(one, x)
	deep.Instead = []rules.Who{ofUsers("UZ")}
	nameless.Raises[0].When = ""
	for name, c := range map[string]struct {
		stages []rules.Stage
		wrong  []string
	}{
		"people": {[]rules.Stage{mayRaise(one, x)}, nil},
		"most":   {[]rules.Stage{mayRaise(one, x, x, x, x, x)}, []string{at}},
		"too many": {[]rules.Stage{mayRaise(one, x, ofUsers("U1", "U2", "U3", "U4", "U5", "U6", "U7", "U8", "U9"))},
			[]string{at}},
		"without when": {[]rules.Stage{nameless}, []string{at + "[0].when"}},
		"the channel":  {[]rules.Stage{mayRaise(one, rules.Who{Kind: rules.WhoChannel})}, []string{at + "[0].who.kind"}},
		"an order":     {[]rules.Stage{mayRaise(one, deep)}, []string{at + "[0].who.instead"}},
		"of a channel": {[]rules.Stage{mayRaise(channel(), x)}, []string{at}},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, fieldsOf(of(rule(1, only(read), c.stages...)).Problems(known)), c.wrong)
		})
	}
}
