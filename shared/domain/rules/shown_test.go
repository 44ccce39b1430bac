package rules_test

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

func TestTheRowsOfAProductHaveAmounts(t *testing.T) {
	m := productOf("/items/*/quantity", "/items/*/unit_price")
	rows := aggregate.JSON(`{"items":[{"quantity":2,"unit_price":"1,000"},{"quantity":1,"unit_price":0.5}]}`)
	expect.Same(t, m.Subtotals("v1", rows), []rules.Amount{yen("2000"), yen("0.5")})
	for name, c := range map[string]struct {
		mark      *rules.Mark
		arguments aggregate.JSON
	}{
		"no mark": {nil, rows}, "a sum": {sumOf("/items/*/quantity"), rows}, "no rows": {m, `{"items":[]}`},
		"a factor beside the rows": {productOf("/a", "/b"), `{"a":1,"b":2}`},
		"one that isn't known":     {m, `{"items":[{"quantity":2,"unit_price":"?"},{"quantity":1,"unit_price":1}]}`},
	} {
		expect.That(t, c.mark.Subtotals("v1", c.arguments) == nil, "%s has subtotals", name)
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
