package rules

import (
	"encoding/json"
	"math/big"
	"ringi/shared/words/language"
	"strings"
)

// Decimal is an exact number of 0 or more as people write it, such as 298000 or 0.5: without a sign, leading zeros,
// separators or an exponent. The empty text is no number.
type Decimal string

// MaxDigits is how many digits a number may have before its point, and MaxDecimals how many after it.
const (
	MaxDigits   = 15
	MaxDecimals = 6
)

var decimalForm = language.Regexp{Text: `^(0|[1-9][0-9]{0,14})(\.[0-9]{1,6})?$`}

// Valid reports whether the text is a number within the limits.
func (d Decimal) Valid() bool { return decimalForm.Get().MatchString(string(d)) }

// rat returns the number, or nil if the text is none.
func (d Decimal) rat() *big.Rat {
	if !d.Valid() { // big.Rat also reads 1/3 and 1e9
		return nil
	}
	r, _ := new(big.Rat).SetString(string(d))
	return r
}

// decimal returns the shortest text of a number, which must be one that has finitely many decimals.
func decimal(r *big.Rat) Decimal {
	n, _ := r.FloatPrec()
	return Decimal(r.FloatString(n))
}

// least and below compare numbers. Both are false if one of the texts is no number.
func (d Decimal) least(other Decimal) bool {
	a, b := d.rat(), other.rat()
	return a != nil && b != nil && a.Cmp(b) >= 0
}

func (d Decimal) below(other Decimal) bool {
	a, b := d.rat(), other.rat()
	return a != nil && b != nil && a.Cmp(b) < 0
}

// groupedForm is a number in a text of its own, with or without commas between thousands. It has no decimals: who takes
// the digits alone, or a point for the mark of thousands, reads 999.99 as 99999.
var groupedForm = language.Regexp{Text: `^(0|[1-9][0-9]{0,14}|[1-9][0-9]{0,2}(,[0-9]{3}){1,4})$`}

// parse reads a number of arguments. A JSON number may have decimals and no exponent. A text must be a number alone, in
// ASCII digits: of 10万円, ¥100 or full-width digits nobody knows what the vendor makes.
func parse(v any) (*big.Rat, Why) {
	text := ""
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return nil, WhyReference
		}
		return nil, WhyNotNumber
	default:
		return nil, WhyNotNumber
	}
	_, isText := v.(string)
	unsigned := strings.TrimPrefix(text, "-")
	form := &decimalForm
	if isText {
		form = &groupedForm
	}
	switch {
	case !form.Get().MatchString(unsigned):
		return nil, WhyNotNumber
	case unsigned != text:
		return nil, WhyNegative
	}
	return Decimal(strings.ReplaceAll(text, ",", "")).rat(), ""
}
