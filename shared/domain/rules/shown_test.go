package rules_test

import (
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

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
