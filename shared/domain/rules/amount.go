package rules

import (
	"encoding/json"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
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

// maxSchemas bounds how many parts of a tool's schema are looked at, and how deep they are.
const (
	maxSchemas     = 10_000
	maxSchemaDepth = 40
)

// Unsaid returns the first argument that a tool's schema calls like a currency or unit and the mark says nothing of, as
// a problem that names it. Only an amount has a currency. A schema that can't be read names none.
func (m *Mark) Unsaid(schema string) []aggregate.ErrField {
	if m.How != HowSum && m.How != HowProduct {
		return nil
	}
	s := schemas{mark: m, left: maxSchemas}
	if json.Unmarshal([]byte(schema), &s.root) != nil {
		return nil
	}
	if at := s.unsaid(s.root, "", unnamed, 0); at != "" {
		return []aggregate.ErrField{{Field: "units", Limit: UnsaidOf + at}}
	}
	return nil
}

// UnsaidOf begins the limit of an argument that a mark doesn't mention; the argument's pointer follows.
const UnsaidOf = "must say of "

func (m *Mark) mentions(pointer string) bool {
	return slices.Contains(m.Pointers, pointer) || slices.Contains(m.Units, pointer) || slices.Contains(m.Asides, pointer)
}

// schemas walks the schema of a tool's arguments.
type schemas struct {
	mark *Mark
	root any
	left int
}

// unsaid returns the first unsaid argument at or below a pointer. as says what it or one above it is called like.
func (s *schemas) unsaid(v any, pointer string, as naming, depth int) string {
	if s.left--; s.left < 0 || depth > maxSchemaDepth || s.mark.mentions(pointer) {
		return ""
	}
	of, is := v.(map[string]any)
	if !is {
		if may, _ := v.(bool); may && as != unnamed {
			return pointer
		}
		return ""
	}
	parts := s.parts(of, pointer, as)
	for _, part := range parts {
		if at := s.unsaid(part.v, part.at, part.as, depth+1); at != "" {
			return at
		}
	}
	if as != unnamed && len(parts) == 0 && maySay(of, as) {
		return pointer
	}
	return ""
}

type schemaPart struct {
	v  any
	at string
	as naming
}

// parts returns the schemas in a schema that say what stands at its pointer or below.
func (s *schemas) parts(of map[string]any, pointer string, as naming) (all []schemaPart) {
	row := pointer + "/" + rows
	add := func(at string, list ...any) {
		for _, v := range list {
			if v != nil {
				all = append(all, schemaPart{v, at, as})
			}
		}
	}
	ref, _ := of["$ref"].(string)
	add(pointer, s.target(ref), of["if"], of["then"], of["else"])
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := of[keyword].([]any)
		add(pointer, list...)
	}
	dependent, _ := of["dependentSchemas"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(dependent)) {
		add(pointer, dependent[name])
	}
	for _, keyword := range []string{"items", "prefixItems"} {
		if tuple, is := of[keyword].([]any); is {
			add(row, tuple...)
			continue
		}
		add(row, of[keyword])
	}
	members, _ := of["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all = append(all, schemaPart{members[name], pointer + "/" + Token(name), as.below(name)})
	}
	patterns, _ := of["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		at := s.mark.matching(pointer, pattern)
		all = append(all, schemaPart{patterns[pattern], at, as.below(pattern)})
	}
	return all
}

// target returns what a reference within the schema means, or nil.
func (s *schemas) target(ref string) any {
	path, is := strings.CutPrefix(ref, "#/")
	if !is {
		return nil
	}
	v := s.root
	for _, name := range Tokens(path) {
		of, _ := v.(map[string]any)
		v = of[name]
	}
	return v
}

// matching returns the pointer of the argument that the mark mentions below a pointer and whose name matches a pattern,
// or one that has the pattern in place of a name.
func (m *Mark) matching(pointer, pattern string) string {
	if form, err := regexp.Compile(pattern); err == nil {
		for _, at := range slices.Concat(m.Pointers, m.Units, m.Asides) {
			name, is := strings.CutPrefix(at, pointer+"/")
			if of := Tokens(name); is && len(of) == 1 && form.MatchString(of[0]) {
				return at
			}
		}
	}
	return pointer + "/" + Token(pattern)
}

// maySay reports whether a schema without parts allows anything that says a currency or unit: a text or, unless a
// number is how many there are, a number.
func maySay(of map[string]any, as naming) bool {
	says := func(v any) bool {
		_, text := v.(string)
		_, number := v.(float64)
		return text || number && as != counted
	}
	if only, is := of["const"]; is {
		return says(only)
	}
	kinds, _ := of["type"].([]any)
	if kind, is := of["type"].(string); is {
		kinds = []any{kind}
	}
	given, _ := of["enum"].([]any)
	other := func(kind any) bool {
		number := kind == "number" || kind == "integer"
		return kind != "boolean" && kind != "null" && (!number || as != counted)
	}
	return (len(kinds) == 0 || slices.ContainsFunc(kinds, other)) && (len(given) == 0 || slices.ContainsFunc(given, says))
}
