package tenancy

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
)

// MatterKind is a kind of matter on which people ask for a decision, such as 支出.
type MatterKind struct {
	Name string `json:"name"`
}

// Limits of the kinds. Slack's lists take 100 choices of at most 75 characters.
const (
	MaxMatters    = 50
	MaxMatterName = 40 // characters
)

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

// Problems returns what is wrong with the kind's name.
func (m MatterKind) Problems() (all aggregate.Problems) {
	all.Unless(rules.IsName(m.Name, MaxMatterName), "name", "matter")
	return all
}
