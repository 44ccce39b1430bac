package rules

import (
	"strings"

	"ringi/shared/domain/rules"
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
	whole, part, _ := strings.Cut(string(n), ".")
	if part != "" {
		part = "." + part
	}
	if currency != yen {
		return thousands(whole) + part + " " + legible.OneLine(currency)
	}
	if tenThousands.In(s.Locale()) && part == "" {
		for _, of := range []struct{ zeros, key string }{{"00000000", "hundred_millions"}, {"0000", "ten_thousands"}} {
			if rest, ok := strings.CutSuffix(whole, of.zeros); ok && rest != "" {
				return s.In("yen", of.key, "n", thousands(rest))
			}
		}
	}
	return s.In("yen", "ones", "n", thousands(whole)+part)
}

func thousands(digits string) string {
	if len(digits) <= 3 {
		return digits
	}
	return thousands(digits[:len(digits)-3]) + "," + digits[len(digits)-3:]
}
