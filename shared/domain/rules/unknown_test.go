package rules_test

import (
	"errors"
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// Whatever the reason why an amount isn't known, it meets every condition on "at least" and none on "below", alone and
// beside amounts that are known, and the floor asks it for two hands.
func TestAnUnknownAmountMeetsEveryAtLeastAndNoBelow(t *testing.T) {
	floor := rules.Floor{Stamps: 1, HandsFrom: &rules.Money{Value: "999999999999999", Currency: "JPY"}}
	for _, why := range append([]rules.Why{""}, rules.Whys...) {
		a := rules.Unknown(why)
		if why == "" {
			a = rules.Amount{}
		}
		for _, calls := range [][]rules.Call{
			{writes(pay, a)}, {writes(pay, a), writes(pay, yen("1"))}, {reads(), writes(pay, yen("1")), writes(pay, a)},
		} {
			for _, currency := range []string{"JPY", "USD"} {
				for _, limit := range []rules.Decimal{"1", "100000", "999999999999999"} {
					for between, meets := range map[rules.Between]bool{
						{AtLeast: limit, Currency: currency}:                           true,
						{Below: limit, Currency: currency}:                             false,
						{AtLeast: "0.01", Below: limit + ".5", Currency: currency}:     false,
						{AtLeast: limit, Below: limit + "0", Currency: currency}:       false,
						{AtLeast: "999999999999998", Currency: currency}:               true,
						{Below: "999999999999999", AtLeast: "", Currency: currency}:    false,
						{Below: "0.01", Currency: currency}:                            false,
						{AtLeast: "1", Below: "999999999999999.9", Currency: currency}: false,
					} {
						f := asked(calls...)
						answer := of(rule(1, rules.Conditions{Amount: &between}, people(1, refuse, "A"))).Match(f)
						expect.That(t, (answer.Rule.ID == id(1)) == meets, "%s of %d calls: %+v takes it: %t", why, len(calls), between,
							!meets)
					}
				}
			}
			f := asked(calls...)
			expect.That(t, !floor.Allows(f, 2, 1) && floor.Allows(f, 2, 2), "%s: the floor takes one hand", why)
		}
	}
}

// The organisation has the post by no such name, so somebody else may hold it: who stands above and takes its place is
// nobody's second time, before or after.
func TestWhoFillsAPostWithoutItsNameStampsAtTheirOwnStage(t *testing.T) {
	renamed := func(c *company, _ *rules.Facts) { c.holders, c.unknown = nil, []string{"部長 of sales"} }
	post := head(rules.Empty{Vacant: rules.ThenUp, Own: rules.ThenUp, Twice: rules.ThenSkip})
	below := func(c *company, f *rules.Facts) { renamed(c, f); c.managers["P"] = "Q" }
	alone := func(c *company, f *rules.Facts) { renamed(c, f); c.over = nil }
	held := func(c *company, f *rules.Facts) { renamed(c, f); c.unknown = nil }
	resolveEach(t, map[string]resolving{
		"two hands":       {policy(0, post, people(1, skip, "P")), renamed, "refused 2 hands"},
		"two hands, up":   {policy(0, post, people(1, up, "P")), below, "P/1 P,Q/1 hands 2"},
		"one hand":        {policy(1, post, people(1, skip, "P")), renamed, "P/1 P/1 hands 1"},
		"in this order":   {policy(1, people(1, skip, "P"), post), renamed, "P/1 P/1 hands 1"},
		"and really gone": {policy(0, post, people(1, skip, "P")), held, "P/1 -twice hands 1"},
		"nobody is above": {policy(0, post), alone, "refused 1 unknown"},
	})
	d := staff()
	renamed(d, nil)
	route := expect.Value(policy(1, post).Resolve(asked(writes(pay, yen("1"))), rules.Floor{}, d))(t)
	expect.Is(t, route.Stages[0].Filled, rules.LeftUnknown)
	_, err := policy(0, post, people(1, skip, "P")).Resolve(asked(writes(pay, yen("1"))), rules.Floor{}, &company{
		org: "v1", unknown: d.unknown})
	no, _ := errors.AsType[*rules.Unresolved](err)
	expect.Must(t, no != nil, "%v", err)
	expect.Is(t, no.What, "部長 (sales)")
}

// A tenant without an organisation has accounts and groups only.
func TestWithoutAnOrganisation(t *testing.T) {
	d := &company{group: []string{"G", "H"}, managers: map[string]string{"R": "A"}}
	f := asked(writes(pay, yen("1")))
	two := policy(0, group(1, rules.EmptyUp), people(1, rules.EmptyUp, "X"))
	route := expect.Value(two.Resolve(f, rules.Floor{}, d))(t)
	expect.Is(t, drawn(route), "G,H/1 X/1 hands 2")
	expect.Is(t, route.Org, "")
	for _, empty := range []rules.Empty{rules.EmptyUp, rules.EmptySkip, rules.EmptyRefuse} {
		expect.Is(t, resolved(policy(1, people(1, refuse, "A"), manager(1, empty)), f, rules.Floor{}, d), "refused 2 above")
	}
	expect.Is(t, resolved(policy(0, people(1, rules.EmptyUp, "R")), f, rules.Floor{}, d), "refused 1 own")
}
