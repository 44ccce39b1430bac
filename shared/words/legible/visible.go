package legible

import (
	"encoding/json"
	"ringi/shared/words/language"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text as people see it: without characters that are invisible or reorder the text around them, with
// "\n" line ends, and with spaces for letters that are drawn empty. Models get the same text, so that nothing is
// addressed to them that people don't see.
func Visible(s string) string { return visible(s, ' ') }

// VisibleCode is Visible but keeps tabs, which code and tables need.
func VisibleCode(s string) string { return visible(s, '\t') }

// visible is Visible with tab in place of tabs.
func visible(s string, tab rune) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	before, forms := '\n', 0 // before: the previous character; forms: letters so far with a variation
	return strings.Map(func(r rune) rune {
		seen := r
		switch {
		case everyday(r):
		case r == '\t':
			seen = tab
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f':
			seen = '\n'
		case Joiner(r) && !fits(r, before) || strikes(r) && !unicode.Is(unicode.Sm, before):
			return -1
		case Joiner(r):
			if unicode.Is(unicode.Variation_Selector, r) && r != emojiStyle && r != textStyle {
				if forms++; forms > maxForms {
					return -1
				}
			}
		case r != '\u3000' && Blank(r):
			seen = ' '
		case Ignorable(r):
			return -1
		}
		before = seen
		return seen
	}, s)
}

// maxForms is how many letters of a text may have a variation, as some in names do. Each could carry one of 256 hidden
// values.
const maxForms = 32

// plainScripts have no letters that joiners change.
var plainScripts = []*unicode.RangeTable{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Greek, unicode.Cyrillic}

// fits reports whether a joiner changes how the characters around it look. Elsewhere it could only carry a hidden
// message.
func fits(joiner, before rune) bool {
	switch {
	case joiner == emojiStyle || joiner == textStyle:
		return !Joiner(before) && !unicode.IsMark(before) && (!unicode.IsLetter(before) || before == 'ℹ')
	case joiner == zwj && (before == emojiStyle || unicode.In(before, unicode.So, unicode.Sk)):
		return true
	case joiner == zwj || joiner == zwnj:
		return before > unicode.MaxLatin1 && !Joiner(before) && !unicode.In(before, plainScripts...) &&
			!unicode.In(before, unicode.P, unicode.N, unicode.Z)
	case joiner < 0x2000:
		return unicode.Is(unicode.Mongolian, before)
	}
	return unicode.Is(unicode.Han, before)
}

// strikes reports whether a mark is drawn across the letter before it. People take such words as deleted, but models
// read them.
func strikes(r rune) bool {
	switch r {
	case 0x1dfb, 0x20d2, 0x20d3, 0x20d8, 0x20d9, 0x20da, 0x20e0, 0x20e5, 0x20e6, 0x20ea, 0x20eb:
		return true
	}
	return r >= 0x334 && r <= 0x338
}

// MaxBlanks is how many blanks in a row are kept: no indentation is deeper.
const MaxBlanks = 8

// Paragraphs returns a text with at most one empty line and MaxBlanks blanks in a row, because nobody looks for text
// after thousands of them. A line without visible characters counts as empty.
func Paragraphs(s string) string {
	s = fewBlanks(s)
	var out []string
	empty := false
	for l := range strings.SplitSeq(s, "\n") {
		was := empty
		if empty = !Text(l); empty && was {
			continue
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// fewBlanks removes blanks after MaxBlanks in a row. Only a visible character or a line end ends a row of blanks;
// combining marks without a letter count as blanks. A joiner next to a visible character is kept.
func fewBlanks(s string) string {
	var b strings.Builder
	blanks, shown, joined := 0, false, false // shown: the previous character is a letter or belongs to one
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		after, _ := utf8.DecodeRuneInString(s[i+size:])
		was := joined
		joined = Joiner(r)
		switch {
		case r == '\n' || Shows(r):
			blanks, shown = 0, r != '\n'
		case joined:
			if (!shown || was) && (i+size == len(s) || !Shows(after)) {
				continue
			}
		case Blank(r) || !shown:
			shown = false
			if blanks++; blanks > MaxBlanks {
				continue
			}
		}
		b.WriteString(s[i : i+size])
	}
	return b.String()
}

var literal = language.Regexp{Text: `"(?:[^"\\]|\\.)*"`}

// JSON applies VisibleCode to all texts of valid JSON, including members' names.
func JSON(text []byte) []byte {
	return literal.Get().ReplaceAllFunc(text, func(quoted []byte) []byte {
		var s string
		if json.Unmarshal(quoted, &s) != nil { // never fails for valid JSON
			return quoted
		}
		seen := VisibleCode(s)
		if seen == s {
			return quoted
		}
		b, err := json.Marshal(seen)
		if err != nil { // never fails for a text
			return quoted
		}
		return b
	})
}
