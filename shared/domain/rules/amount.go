package rules

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
