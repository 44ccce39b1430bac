package rules

import (
	"encoding/json"
	"math/big"
	"strings"

	"ringi/shared/words/language"
)

// Amount is what a request is about in money: a number in one currency, or not known. The zero value isn't known.
type Amount struct {
	Value    Decimal `json:"value,omitempty"`    // empty: not known
	Currency string  `json:"currency,omitempty"` // three letters; empty of an amount of nothing
	Why      Why     `json:"why,omitempty"`      // why it isn't known
}

// Why says why an amount isn't known.
type Why string

const (
	WhyUnmarked   Why = "unmarked" // nobody said where the tool's arguments have an amount
	WhyMark       Why = "mark"     // it is wrong, or was made for another version of the tool
	WhyArguments  Why = "arguments"
	WhyMissing    Why = "missing"    // nothing is at the pointer
	WhyRows       Why = "rows"       // a list is empty, or no list is where the pointer goes through one
	WhyReference  Why = "reference"  // the value comes from an earlier step's result
	WhyNotNumber  Why = "not_number" // not written in one of the forms that can't be misread
	WhyNegative   Why = "negative"
	WhyCurrencies Why = "currencies" // several in one request
	WhyLarge      Why = "large"      // more digits than a number may have
)

// Whys are all reasons.
var Whys = []Why{
	WhyUnmarked, WhyMark, WhyArguments, WhyMissing, WhyRows, WhyReference, WhyNotNumber, WhyNegative, WhyCurrencies,
	WhyLarge,
}

// Nothing is the amount of what moves no money.
func Nothing() Amount { return Amount{Value: "0"} }

// Moves reports whether money may move. Without steps there is no amount, and none does.
func (a Amount) Moves() bool { return a != (Amount{}) && a != Nothing() }

// Unknown returns an amount that isn't known.
func Unknown(why Why) Amount { return Amount{Why: why} }

// Known reports whether the amount is a number in a currency, or nothing.
func (a Amount) Known() bool { return a.Value.Valid() && (a.Currency != "" || a.Value == "0") }

// Plus returns the sum. It isn't known if one of the amounts isn't, or if they are in two currencies.
func (a Amount) Plus(b Amount) Amount {
	switch {
	case !a.Known():
		return Unknown(a.reason())
	case !b.Known():
		return Unknown(b.reason())
	case a.Currency == "":
		return b
	case b.Currency == "":
		return a
	case a.Currency != b.Currency:
		return Unknown(WhyCurrencies)
	}
	sum := a.Value.rat()
	return known(decimal(sum.Add(sum, b.Value.rat())), a.Currency)
}

// Unmarked reports whether nobody said that money is moved, nor that none is.
func (a Amount) Unmarked() bool { return !a.Known() && a.reason() == WhyUnmarked }

func (a Amount) reason() Why {
	if a.Why == "" {
		return WhyUnmarked
	}
	return a.Why
}

func known(d Decimal, currency string) Amount {
	if !d.Valid() {
		return Unknown(WhyLarge)
	}
	return Amount{Value: d, Currency: currency}
}

// AtLeast reports whether the amount is this much or more. One that isn't known is, and so is one in another currency.
func (a Amount) AtLeast(d Decimal, currency string) bool {
	return !a.comparable(currency) || a.Value.least(d)
}

// Below reports whether the amount is less. One that isn't known is not, nor is one in another currency.
func (a Amount) Below(d Decimal, currency string) bool {
	return a.comparable(currency) && a.Value.below(d)
}

func (a Amount) comparable(currency string) bool {
	return a.Known() && (a.Currency == currency || a.Currency == "")
}

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
