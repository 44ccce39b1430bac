package rules

import (
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
)

// yen is the currency that a form has until somebody types another.
const yen = "JPY"

// units are what a typed amount may end with, and the zeros for it.
var units = []struct{ unit, zeros string }{{"億", "00000000"}, {"万", "0000"}}

// amountTyped reads an amount as people type it, such as 10万円 or ¥100,000. What it can't read stays, and is refused.
func amountTyped(text string) rules.Decimal {
	text = strings.Trim(web.Digits(text), "¥￥円")
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.unit); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			text = rest + u.zeros
		}
	}
	return rules.Decimal(text)
}
