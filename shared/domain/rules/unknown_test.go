package rules_test

import (
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
