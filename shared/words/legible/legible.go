// Package legible decides which characters of a text people can see. Prompts, stored texts and cards all follow this
// rule: otherwise a text could have words for the model that people don't see.
package legible

import (
	"strings"
	"unicode"
)

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// MaxRun is how many marks and joiners in a row belong to one letter. It is the limit of Unicode's stream-safe text
// format (UAX #15, section 13), and no script needs more.
const MaxRun = 30

// Ignorable reports whether a character is invisible and has no width: Unicode's Default_Ignorable_Code_Point, control
// characters and private use.
func Ignorable(r rune) bool {
	switch {
	case everyday(r):
		return false
	case r < 0x80:
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // visible, drawn around digits
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// everyday reports whether a character is one of the most frequent: printable ASCII, kana and kanji. They are visible,
// so they need no lookup in Unicode's tables.
func everyday(r rune) bool {
	return r > ' ' && r < 0x7f || r >= 'ぁ' && r <= 'ゖ' || r >= 'ァ' && r <= 'ヺ' || r >= '一' && r <= '鿿'
}

// Blank reports whether a character has a width but is invisible: a space of any kind, or a letter or symbol that is
// drawn empty.
func Blank(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0': // Hangul fillers
		return true
	case '\u2800', '\U0001d159', '\U00016fe4': // Braille without dots, a null notehead, a Khitan filler
		return true
	case '\U00013441', '\U00013442', '\ufffc': // Egyptian blanks, full and half; the object replacement character
		return true
	}
	return unicode.IsSpace(r)
}

// Shows reports whether a character is visible by itself.
func Shows(r rune) bool {
	return everyday(r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		!Ignorable(r) && !Blank(r) && !unicode.IsMark(r) && unicode.IsGraphic(r)
}

// Text reports whether a text has a visible character.
func Text(s string) bool {
	for _, r := range s {
		if Shows(r) {
			return true
		}
	}
	return false
}

// Joiner reports whether a character is invisible but changes how adjacent letters or emoji look.
func Joiner(r rune) bool {
	return r == zwj || r == zwnj || unicode.Is(unicode.Variation_Selector, r)
}

// RightToLeft reports whether a character is written from right to left. It covers all ranges that Unicode reserves for
// such scripts (DerivedBidiClass.txt, R and AL), including scripts of later versions.
func RightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8ff, r >= 0xfb1d && r <= 0xfdff, r >= 0xfe70 && r <= 0xfefe:
		return true
	}
	return r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// Isolated returns a text that can't change the direction of text around it.
func Isolated(s string) string {
	if !strings.ContainsFunc(s, RightToLeft) {
		return s
	}
	return "\u2068" + s + "\u2069"
}
