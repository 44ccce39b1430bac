package teamconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Finding is a mistake in a file or, as a warning, a part of it without effect.
type Finding struct {
	File    string `json:"file"`  // relative to the workspace
	Field   string `json:"field"` // relative to the file that was asked for: members[0].model; empty: the file as a whole
	Value   string `json:"value"` // as it is written in the file, cut; empty: not set
	Message string `json:"message"`
	Warning bool   `json:"warning"`
	Err     error  `json:"-"` // why a file can't be read; nil: it was
}

// maxSaid bounds a finding's text, in characters, because rows and answers hold findings and a name may be very long.
const maxSaid = 1000

// String returns In English.
func (f Finding) String() string { return f.In(language.English) }

// In returns the file, the field, the mistake and the value as one text.
func (f Finding) In(locale string) string {
	s := f.File
	if f.Field != "" {
		s += ": " + f.Field
	}
	s += ": " + in(locale, f.Message)
	if f.Value != "" {
		s += words.In(locale).got + in(locale, f.Value)
	}
	return legible.Beginning(s, maxSaid)
}

// Valid reports whether all findings are only warnings.
func Valid(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return !f.Warning })
}

// Texts returns the texts of mistakes and of warnings in a language: of each the first most, and then how many more. It
// returns errorclass.ErrUnavailable if a file can't be read now, which is no mistake in it.
func Texts(found []Finding, most int, locale string) (mistakes, warnings []string, err error) {
	for _, f := range found {
		switch {
		case errors.Is(f.Err, explain.ErrUnavailable):
			return nil, nil, fmt.Errorf("read %.200s: %w", f.File, f.Err)
		case f.Warning:
			warnings = append(warnings, f.In(locale))
		default:
			mistakes = append(mistakes, f.In(locale))
		}
	}
	bounded := func(all []string) []string {
		if n := len(all) - most; n > 0 {
			return append(all[:most], fmt.Sprintf(words.In(locale).more, n))
		}
		return all
	}
	return bounded(mistakes), bounded(warnings), nil
}

// written returns a value as a file would write it, short enough for a message.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if agent.LikeKey(strings.TrimSpace(v)) {
			return "what looks like a key"
		}
		return fmt.Sprintf("%q", legible.Beginning(v, maxShown))
	case map[string]any:
		return "a table"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	}
	return legible.Beginning(fmt.Sprint(v), maxShown)
}

// maxShown is how much of a value a message quotes, in characters.
const maxShown = 80

// repeated lists the names that occur more than once, each as often as it occurs. It returns an empty text if all names
// differ. The format is that of a Python list, which other tools parse.
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
