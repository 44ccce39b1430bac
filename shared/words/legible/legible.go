// Package legible says which characters of a text people can see. What models read, what is stored and
// what cards show follows this one rule; otherwise a text could have words for the model that people don't see.
package legible

import (
	"strings"
	"unicode"
)

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// MaxRun is how many marks and joiners in a row belong to one letter. No script needs
// more: it is the limit of Unicode's stream-safe text format (UAX #15, section 13).
const MaxRun = 30

// Ignorable reports whether a character shows nothing and takes no room: Unicode's
// Default_Ignorable_Code_Point, control characters, and those of private use.
func Ignorable(r rune) bool {
	switch {
	case everyday(r):
		return false
	case r < 0x80:
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // they are drawn, around digits
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// everyday reports whether a character is one of those that most texts here are made of: signs and letters of ASCII,
// kana and kanji. All of them show, and a look at Unicode's tables is spared.
func everyday(r rune) bool {
	return r > ' ' && r < 0x7f || r >= 'ぁ' && r <= 'ゖ' || r >= 'ァ' && r <= 'ヺ' || r >= '一' && r <= '鿿'
}

// Blank reports whether a character takes room and shows nothing in it: a space of any
// kind, or one of the letters and symbols that are drawn empty.
func Blank(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0': // Hangul fillers
		return true
	case '\u2800', '\U0001d159', '\U00016fe4': // Braille without dots, a null notehead, a Khitan filler
		return true
	case '\U00013441', '\U00013442', '\ufffc': // Egyptian blanks, full and half; the place of an object that is not there
		return true
	}
	return unicode.IsSpace(r)
}

// Shows reports whether there is something to see of a character that stands alone.
func Shows(r rune) bool {
	return everyday(r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		!Ignorable(r) && !Blank(r) && !unicode.IsMark(r) && unicode.IsGraphic(r)
}

// Text reports whether there is something to see of a text.
func Text(s string) bool {
	for _, r := range s {
		if Shows(r) {
			return true
		}
	}
	return false
}

// Joiner reports whether a character shows nothing itself, but changes how the letters or emoji beside it look.
func Joiner(r rune) bool {
	return r == zwj || r == zwnj || unicode.Is(unicode.Variation_Selector, r)
}

// RightToLeft reports whether a character is written from right to left. These are all
// the ranges that Unicode keeps for such scripts (DerivedBidiClass.txt, R and AL), so that
// scripts of later versions are among them.
func RightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8ff, r >= 0xfb1d && r <= 0xfdff, r >= 0xfe70 && r <= 0xfefe:
		return true
	}
	return r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// Isolated is a text that does not turn what stands beside it, where it is written from right to left.
func Isolated(s string) string {
	if !strings.ContainsFunc(s, RightToLeft) {
		return s
	}
	return "\u2068" + s + "\u2069"
}
