package explain

import (
	"encoding/json"
	"slices"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// look is how a step is shown.
type look struct {
	own                *catalog.File
	party, item, words string
	names              map[string]language.Texts // of arguments, by pointer
	taken              map[string]bool           // names that no other argument has without quotation marks
	declared           []string                  // pointers of a server's schema, in its order
	titles             map[string]string         // that it gives them
}

func lookOf(s *task.Step) look {
	k := look{taken: map[string]bool{}, titles: map[string]string{}}
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
