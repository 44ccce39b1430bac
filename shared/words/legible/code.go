package legible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code returns code as people read it: as it is, with "\n" line ends. Only a character that is invisible, ends a line
// without being a line end, or changes how others are drawn becomes its number, ⟨U+202E⟩. Blanks stay, since code has
// many, also no-break spaces. Unlike Spelled, it doesn't tell apart everything that looks alike: nobody stamps this.
func Code(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	before, forms := '\n', 0
	for i, r := range s {
		switch {
		case everyday(r) || r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r':
			b.WriteByte('\n')
		case r == utf8.RuneError && invalidAt(s, i):
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
		case fits(r, before) && Joiner(r) && forms < maxForms:
			if r != emojiStyle && r != textStyle && r != zwj && r != zwnj {
				forms++
			}
			b.WriteRune(r)
		case strikes(r) && !unicode.Is(unicode.Sm, before), Ignorable(r), Blank(r) && !unicode.Is(unicode.Zs, r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// invalidAt reports whether the byte at i is no UTF-8.
func invalidAt(s string, i int) bool {
	_, size := utf8.DecodeRuneInString(s[i:])
	return size == 1
}
