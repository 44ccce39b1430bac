package legible

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Folded returns a name in the form by which file systems and people confuse names: two names with the same form differ
// only in case, in how accents and Hangul are composed, or in width and style (case-folded NFKC).
func Folded(name string) string {
	// NFKD leaves base letters and marks, each of which folds to one letter; only these two fold to more.
	name = strings.NewReplacer("ß", "ss", "ẞ", "ss").Replace(norm.NFKD.String(name))
	return norm.NFKC.String(norm.NFKD.String(strings.Map(folded, name)))
}

// Narrow returns a text without differences of width and style (NFKC).
func Narrow(text string) string { return norm.NFKC.String(text) }

// folded returns the smallest of the letters that differ from r only in case.
func folded(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}
