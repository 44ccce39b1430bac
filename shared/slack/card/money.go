package card

import "strings"

// Money writes an amount with commas, such as ¥298,000 or 1,200.50 USD. An amount of nothing is 0.
func Money(amount, currency string) string {
	whole, part, _ := strings.Cut(amount, ".")
	if part != "" {
		part = "." + part
	}
	whole = thousands(whole)
	switch currency {
	case "JPY":
		return "¥" + whole + part
	case "":
		return whole + part
	}
	return whole + part + " " + currency
}

func thousands(digits string) string {
	if len(digits) <= 3 {
		return digits
	}
	return thousands(digits[:len(digits)-3]) + "," + digits[len(digits)-3:]
}
