package tenancy

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// MatterKind is a kind of matter on which people ask for a decision, such as 支出.
type MatterKind struct {
	Name string `json:"name"`
}

// MatterField is a further field of the form, by which rules tell decisions apart, such as 行先 or 日数.
type MatterField struct {
	Name    string   `json:"name"`
	Values  []string `json:"values,omitempty"`  // what people choose from
	Several bool     `json:"several,omitempty"` // people may choose more than one
	Number  bool     `json:"number,omitempty"`  // people type a number instead
}

// MatterCurrency is a unit in which an amount may be typed, such as GBP.
type MatterCurrency struct {
	Code string `json:"code"` // of ISO 4217
}

// Limits of the form. Slack's lists take 100 choices of at most 75 characters. A mark has rules.MaxPointers labels, of
// which one is of the kind.
const (
	MaxMatters      = 50
	MaxMatterName   = 40 // characters, also of a field
	MaxMatterFields = rules.MaxPointers - 1
	MaxMatterValues = 50 // of a field
	MaxMatterValue  = 60 // characters

	MaxMatterCurrencies = 50
)

// Rules of the form: for the name of a kind of matter, of a field, or of a series of documents, and for a field's
// values.
const (
	RuleMatter       Rule = "matter"
	RuleMatterTaken  Rule = "matter_taken"
	RuleMatterValues Rule = "matter_values"
	RuleCurrency     Rule = "currency"
)

// Key is what the forms call the field: none of their own is called so.
func (f MatterField) Key() string { return "field:" + f.Name }

var builtInMatters = language.InEach([]string{"支出", "契約", "人事", "規程", "その他"},
	[]string{"Spending", "Contract", "People", "Regulation", "Other"})

// MatterNames returns the kinds of matters that a form offers: the settings', or the built-in ones.
func (s Settings) MatterNames() (names []string) {
	for _, m := range s.Matters {
		names = append(names, m.Name)
	}
	if names == nil {
		return builtInMatters.In(s.Locale)
	}
	return names
}

var builtInCurrencies = []string{"JPY", "USD", "EUR"}

// Currencies returns the units that a form offers for its amount, the usual one first: the settings', or the built-in
// ones.
func (s Settings) Currencies() (codes []string) {
	for _, c := range s.MatterCurrencies {
		codes = append(codes, c.Code)
	}
	if codes == nil {
		return builtInCurrencies
	}
	return codes
}

func currencyProblems(all []MatterCurrency) (out []Problem) {
	for i, c := range all {
		if _, known := rules.DecimalsOf(c.Code); !known || slices.Contains(all[:i], c) {
			out = append(out, Problem{Field: fmt.Sprintf("matter_currencies[%d].code", i), Rule: RuleCurrency})
		}
	}
	return out
}

// isMatterName reports whether a text is a short name on one line.
func isMatterName(name string) bool { return rules.IsName(name, MaxMatterName) }

func matterProblems(all []MatterKind) (out []Problem) {
	for i, m := range all {
		field := fmt.Sprintf("matters[%d].name", i)
		if !isMatterName(m.Name) {
			out = append(out, Problem{Field: field, Rule: RuleMatter})
		} else if slices.Contains(all[:i], m) {
			out = append(out, Problem{Field: field, Rule: RuleMatterTaken})
		}
	}
	return out
}

// fieldProblems checks the further fields. What one is called is a pointer's last part, and people read it beside the
// form's own fields.
func fieldProblems(all []MatterField) (out []Problem) {
	taken := map[string]bool{}
	form, _ := catalog.Named(catalog.Decide)
	for _, names := range form.Shown.Names {
		for _, name := range names {
			taken[legible.Folded(name)] = true
		}
	}
	for _, name := range append([]string{"*", "$ref"}, rules.OwnNames...) {
		taken[legible.Folded(name)] = true
	}
	for i, f := range all {
		at, name := fmt.Sprintf("matter_fields[%d].", i), legible.Folded(f.Name)
		if !isMatterName(f.Name) {
			out = append(out, Problem{Field: at + "name", Rule: RuleMatter})
		} else if taken[name] {
			out = append(out, Problem{Field: at + "name", Rule: RuleMatterTaken})
		}
		if taken[name] = true; !f.hasValues() {
			out = append(out, Problem{Field: at + "values", Rule: RuleMatterValues})
		}
	}
	return out
}

// hasValues reports whether the field has values that people and rules tell apart, as many as can be chosen from; a
// number has none.
func (f MatterField) hasValues() bool {
	seen := map[string]bool{}
	for _, v := range f.Values {
		same := legible.Folded(strings.ReplaceAll(v, " ", ""))
		if !rules.IsName(v, MaxMatterValue) || strings.ContainsAny(v, MatterComma) || seen[same] {
			return false
		}
		seen[same] = true
	}
	return f.Number == (len(f.Values) == 0) && len(f.Values) <= MaxMatterValues && !(f.Number && f.Several)
}

// MatterComma are the marks that no value has: they stand between values as they are typed.
const MatterComma = "、,"

// SplitValues returns the values of a text that has a mark between them.
func SplitValues(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(MatterComma, r) })
}

// JoinValues is the text of several values.
func JoinValues(values []string) string { return strings.Join(values, "、") }
