package teamconfig

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// Finding is a mistake in a file, or, as a warning, a part that has no effect.
type Finding struct {
	File    string `json:"file"`  // relative to the workspace
	Field   string `json:"field"` // relative to the file that was asked for: members[0].model; empty: the file as a whole
	Value   string `json:"value"` // as it is written in the file, cut; empty: not set
	Message string `json:"message"`
	Warning bool   `json:"warning"`
	Err     error  `json:"-"` // why a file can't be read; nil: it was
}

// maxSaid is a finding's length as a text, in characters. Rows and answers hold findings, and a file may be one long
// name.
const maxSaid = 1000

// String names the file, the field, what is wrong and the value.
func (f Finding) String() string {
	s := f.File
	if f.Field != "" {
		s += ": " + f.Field
	}
	s += ": " + f.Message
	if f.Value != "" {
		s += ", got " + f.Value
	}
	return legible.Beginning(s, maxSaid)
}

// Valid reports whether none of the findings is more than a warning.
func Valid(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return !f.Warning })
}

// written is a value in the file's form, short enough for a message.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return fmt.Sprintf("%q", legible.Beginning(v, maxShown))
	case map[string]any:
		return "a table"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return legible.Beginning(fmt.Sprint(v), maxShown)
}

// maxShown is how much of a value a message repeats, in characters.
const maxShown = 80

// repeated lists the names that occur more than once, each as often as it occurs; empty when all differ. The form is
// that of a Python list, which other tools parse.
func repeated(names []string) string {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	var twice []string
	for _, n := range names {
		if count[n] > 1 {
			twice = append(twice, "'"+legible.Beginning(n, maxShown)+"'")
		}
	}
	if twice == nil {
		return ""
	}
	return "[" + strings.Join(twice, ", ") + "]"
}
