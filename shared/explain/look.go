package explain

import (
	"encoding/json"
	"slices"
	"strings"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// look is how a step is shown.
type look struct {
	own                *catalog.File
	mark               *rules.Mark // nil: none of this version
	party, item, words string
	names              map[string]language.Texts // of arguments, by pointer
	taken              map[string]bool           // names that no other argument has without quotation marks
	declared           []string                  // pointers of a server's schema, in its order
	titles             map[string]string         // that it gives them
}

func lookOf(s *task.Step) look {
	k := look{mark: s.Marked(), taken: map[string]bool{}, titles: map[string]string{}}
	var declared [][2]string
	_ = json.Unmarshal([]byte(s.Declared), &declared) // without it arguments are called as in the call
	for _, x := range declared {
		k.declared, k.titles[x[0]] = append(k.declared, x[0]), x[1]
	}
	for _, name := range rules.OwnNames {
		k.taken[legible.Folded(name)] = true
	}
	if f, own := catalog.Named(s.Tool); own {
		k.own, k.party, k.item, k.words, k.names = &f, f.Shown.Party, f.Shown.Item, f.Shown.Words, f.Shown.Names
	}
	for _, names := range k.names {
		for _, name := range names {
			k.taken[legible.Folded(name)] = true
		}
	}
	return k
}

// place returns which argument of a server's schema stands at a pointer, in its order; undeclared ones are last.
func (k *look) place(pointer string) int {
	if at := slices.Index(k.declared, pointer); at >= 0 {
		return at
	}
	return len(k.declared)
}

// Table is a list of objects without nested values.
type Table struct {
	Name    string // of the list, unless the mark names it
	Columns []Column
	Long    bool       // cells are phrases
	Rows    [][]string // a missing value is empty, and an empty text where no value of its column is missing
}

// Column is a member of a table's rows. Number: all its values are numbers.
type Column struct {
	Name   string
	Number bool
}

// owned reports whether a text is a name that surfaces give to what no argument is.
func (*look) owned(text string) bool {
	said := legible.Folded(strings.Trim(text, " \u3000:："))
	return slices.ContainsFunc(rules.OwnNames, func(name string) bool { return legible.Folded(name) == said })
}
