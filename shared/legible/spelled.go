package legible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	ideographicSpace = '\u3000'
	emojiStyle       = '\ufe0f' // the picture of a character, not its plain form
)

// Spelled is a text of which nothing hides: a space stands as ␣ at the beginning and the
// end of a line and beside another blank, and what shows nothing, or looks like a space
// and is none, as its number, ⟨U+200B⟩. Line ends stay. Two texts that differ have two
// spellings, since ␣ and ⟨ themselves are written as their numbers.
func Spelled(s string) string {
	var b strings.Builder
	before := '\n'
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		after := '\n'
		if rest := s[i+size:]; rest != "" {
			after, _ = utf8.DecodeRuneInString(rest)
		}
		alone := !Blank(before) && !Blank(after)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
		case r == ' ' && !alone:
			b.WriteRune('␣')
		case r == '\n', r == ' ', r == ideographicSpace && alone, joins(r, before, after), !spells(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			r = '⟩'
		}
		before = r
	}
	return b.String()
}

// spells reports whether a character is written as its number, unless what stands beside it makes it one that shows.
func spells(r rune) bool {
	return r == '␣' || r == '⟨' || r == utf8.RuneError || r != '\n' && r != ' ' && (Ignorable(r) || Blank(r))
}

// joins reports whether a character makes one picture of the emoji beside it.
func joins(r, before, after rune) bool {
	picture := unicode.In(before, unicode.So, unicode.Sk) || before == emojiStyle
	return picture && (r == emojiStyle && before != emojiStyle || r == zwj && unicode.Is(unicode.So, after))
}
