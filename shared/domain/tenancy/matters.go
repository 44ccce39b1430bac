package tenancy

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// MatterKind is a kind of matter on which people ask for a decision, such as 支出.
type MatterKind struct {
	Name string `json:"name"`
}

// Limits of the kinds of matters. Slack's list takes 100.
const (
	MaxMatters    = 50
	MaxMatterName = 40 // characters
)

// RuleMatter is broken by the name of a kind of matter, or of a series of documents.
const RuleMatter Rule = "matter"

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

// isMatterName reports whether a text is a short name on one line.
func isMatterName(name string) bool {
	return name != "" && name == legible.OneLine(name) && utf8.RuneCountInString(name) <= MaxMatterName
}

func matterProblems(all []MatterKind) (out []Problem) {
	for i, m := range all {
		field := fmt.Sprintf("matters[%d].name", i)
		if !isMatterName(m.Name) {
			out = append(out, Problem{Field: field, Rule: RuleMatter})
		} else if slices.Contains(all[:i], m) {
			out = append(out, Problem{Field: field, Rule: RuleTaken})
		}
	}
	return out
}
