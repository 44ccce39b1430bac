package card

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// units counts as Slack may count: in UTF-16, never less than in characters.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// cut shortens escaped text to limit units, "..." included. It cuts neither
// within an entity nor between a letter or an emoji and what belongs to it.
func cut(s string, limit int) string {
	if units(s) <= limit {
		return s
	}
	room := limit - len(ellipsis)
	whole, used, joined := 0, 0, false // whole: where the last letter began
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '&' {
			if end := strings.IndexByte(s[i:], ';'); end > 0 && end < len("&amp;") {
				size = end + 1
			}
		}
		belongs := joined || extends(r)
		if !belongs {
			whole = i
		}
		used += units(s[i : i+size])
		if used > room {
			if belongs && whole > 0 {
				return s[:whole] + ellipsis
			}
			return s[:i] + ellipsis
		}
		joined = r == zwj
		i += size
	}
	return s
}

// extends reports whether a rune belongs to the one before it.
func extends(r rune) bool {
	return r == zwj || r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Variation_Selector) || r >= 0x1f3fb && r <= 0x1f3ff
}
