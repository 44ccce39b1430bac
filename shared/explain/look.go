package explain

import (
	"cmp"
	"encoding/json"
	"slices"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// look is how a step is shown: by its tool's file or by its mark.
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
	} else if k.mark != nil {
		k.party, k.item, k.words, k.names = k.mark.Party, k.mark.Item, k.mark.Words, k.mark.Names
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

// labels are what people call destinations.
func (k *look) labels() map[string]string {
	if k.mark == nil {
		return nil
	}
	return k.mark.Labels
}

// alone reports whether what people call a destination says which one it is: none that the mark knows has that label or
// that value. Without it, somebody could plan another one that is spelled like a label.
func (k *look) alone(value string) bool {
	said := legible.Folded(cmp.Or(k.labels()[value], value))
	for other, label := range k.labels() {
		if other != value && (legible.Folded(other) == said || legible.Folded(label) == said) {
			return false
		}
	}
	return true
}
