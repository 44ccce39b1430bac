package rules_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// A rule below the floor isn't saved. One that can't write outside, or only moves less, isn't below it.
func TestTheFloor(t *testing.T) {
	two := rules.Floor{Stamps: 2, HandsFrom: &rules.Money{Value: "100000", Currency: "JPY"}}
	one := rules.Floor{Stamps: 1}
	hands := rules.Floor{Stamps: 1, HandsFrom: two.HandsFrom}
	alone := policy(0, people(1, rules.EmptyRefuse, "U1"))
	dollars := under(writing(), "100")
	dollars.Amount.Currency = "USD"
	for name, c := range map[string]struct {
		floor rules.Floor
		when  rules.Conditions
		route *rules.Policy
		field string
	}{
		"one stamp":               {one, writing(), alone, ""},
		"too few stamps":          {rules.Floor{Stamps: 2}, writing(), alone, "rules[0].route.stages"},
		"two stamps of one stage": {two, writing(), policy(2, people(2, rules.EmptyRefuse, "U1", "U2")), ""},
		"two stamps by one hand": {
			two, writing(), policy(1, people(2, rules.EmptyRefuse, "U1", "U2")), "rules[0].route.hands",
		},
		"the channel alone": {one, writing(), policy(0, channel()), "rules[0].route.stages"},
		"two channels": {
			one, rules.Conditions{}, policy(0, channel(), channel()), "rules[0].route.stages",
		},
		"the channel and another": {one, writing(), policy(0, channel(), people(1, rules.EmptyRefuse, "U1")), ""},
		"one hand":                {hands, writing(), alone, "rules[0].route.hands"},
		"two hands by default": {
			hands, writing(), policy(0, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U2")), "",
		},
		"one hand below the amount":        {hands, under(writing(), "100000"), alone, ""},
		"one hand, a bit above the amount": {hands, under(writing(), "100000.01"), alone, "rules[0].route.hands"},
		"one hand, from an amount":         {hands, from(writing(), "1"), alone, "rules[0].route.hands"},
		"one hand, in another currency":    {hands, dollars, alone, "rules[0].route.hands"},
		"only reads":                       {two, only(read), policy(0, channel()), ""},
		"some reads":                       {one, some(read), policy(0, channel()), "rules[0].route.stages"},
		"only reads and a write":           {one, only(read, dm), policy(0, channel()), "rules[0].route.stages"},
		"only a tool that nobody knows": {
			one, only(rules.Tool{Name: "list"}), policy(0, channel()), "rules[0].route.stages",
		},
		"no stages": {hands, writing(), policy(0), "rules[0].route.stages"},
		"a refusal": {two, writing(), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := of(rules.Rule{ID: id(1), Name: "rule", When: c.when, Outcome: rules.Outcome{Route: c.route}})
			if r.Floor = c.floor; c.route == nil {
				r.Rules[0].Refuse = "No."
			}
			fields := fieldsOf(r.Problems(known))
			expect.Is(t, strings.Join(fields, " "), c.field)
		})
	}
}

// Who asks for a step's own approval holds the stamps that count for it against the floor.
func TestTheFloorOfARequest(t *testing.T) {
	f := rules.Floor{HandsFrom: &rules.Money{Value: "100000", Currency: "JPY"}}
	small, large := asked(writes(pay, yen("99999"))), asked(writes(pay, yen("100000")))
	unknown := asked(writes(pay, rules.Amount{}))
	for _, c := range []struct {
		f             *rules.Facts
		stamps, hands int
		allowed       bool
	}{
		{asked(reads()), 0, 0, true}, {asked(rules.Call{Tool: read, Access: aggregate.Read}), 0, 0, true},
		{small, 0, 0, false}, {small, 1, 1, true}, {large, 2, 1, false}, {large, 2, 2, true},
		{unknown, 1, 1, false}, {unknown, 2, 2, true},
	} {
		expect.Is(t, f.Allows(c.f, c.stamps, c.hands), c.allowed, "%+v", c)
	}
	f.Stamps = 2
	expect.That(t, !f.Allows(small, 1, 1) && f.Allows(small, 2, 1), "two stamps")
}

// Case 3: a number of different people that the policy's own names can't reach isn't saved.
func TestHandsThatNobodyCanReach(t *testing.T) {
	for name, c := range map[string]struct {
		route *rules.Policy
		ok    bool
	}{
		"one person twice": {
			policy(2, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1")), false,
		},
		"one person twice, by default": {
			policy(0, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1")), false,
		},
		"one hand is enough": {
			policy(1, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1")), true,
		},
		"somebody above": {policy(2, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyUp, "U1")), true},
		"left out, then one": {
			policy(0, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptySkip, "U1")), true,
		},
		"left out, but two asked": {
			policy(2, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptySkip, "U1")), false,
		},
		"a group may have another": {policy(2, people(1, rules.EmptyRefuse, "U1"), group(1, rules.EmptyRefuse)), true},
		"the channel has another":  {policy(2, people(1, rules.EmptyRefuse, "U1"), channel()), true},
		"three of two": {
			policy(3, people(1, rules.EmptyRefuse, "U1", "U2"), people(2, rules.EmptyRefuse, "U1", "U2")), false,
		},
		"two of one stamp":        {policy(2, people(1, rules.EmptyRefuse, "U1", "U2")), false},
		"two of all of a group":   {policy(2, group(0, rules.EmptyRefuse)), true},
		"all of a group, and one": {policy(51, group(0, rules.EmptyRefuse)), false},
		"the channel has one other": {
			policy(3, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1"), channel()), false,
		},
		"a group has one other": {
			policy(3, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1"), group(1, rules.EmptyRefuse)),
			false,
		},
		"all of three": {
			policy(3, people(1, rules.EmptyRefuse, "U1"), people(0, rules.EmptyRefuse, "U1", "U2", "U3")), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := of(rules.Rule{ID: id(1), Name: "rule", When: writing(), Outcome: rules.Outcome{Route: c.route}})
			expect.Is(t, r.Validate(known) == nil, c.ok)
		})
	}
}
