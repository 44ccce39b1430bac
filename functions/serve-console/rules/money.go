package rules

import (
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// tenThousands says which languages count by ten thousands.
var tenThousands = language.InEach(true, false)

// money says an amount. In languages that count by ten thousands, yen are said so where they come out even.
func (s speaker) money(n rules.Decimal, currency string) string {
	if !n.Valid() {
		return legible.OneLine(string(n))
	}
	if currency != yen {
		return commas(n) + " " + legible.OneLine(currency)
	}
	if whole := string(n); tenThousands.In(s.Locale()) && !strings.Contains(whole, ".") {
		for _, of := range []struct{ zeros, key string }{{"00000000", "hundred_millions"}, {"0000", "ten_thousands"}} {
			if rest, ok := strings.CutSuffix(whole, of.zeros); ok && rest != "" {
				return s.In("yen", of.key, "n", commas(rules.Decimal(rest)))
			}
		}
	}
	return s.In("yen", "ones", "n", commas(n))
}

// commas is an amount with a comma between thousands, as people may type it. What is no amount stays.
func commas(n rules.Decimal) string {
	if !n.Valid() {
		return string(n)
	}
	return explain.Grouped(string(n))
}

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
