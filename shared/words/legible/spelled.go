package legible

import (
	"fmt"
	"ringi/shared/words/language"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	ideographicSpace = '\u3000'
	emojiStyle       = '\ufe0f' // shows a character as a picture
	textStyle        = '\ufe0e' // shows a character in its plain form
)

// Spelled returns a text in which nothing is hidden. A space at the beginning or end of a line or next to another blank
// becomes ␣. A character that is invisible, or looks like a space without being one, becomes its number, ⟨U+200B⟩. More
// than MaxBlanks of one of these in a row are counted, ⟨␣ ×2800⟩. A letter that looks like another one gets its number
// behind it, a⟨U+0430⟩, and so does the last letter of a right-to-left word that would reorder digits and signs after
// it. Line ends are kept. Different texts have different spellings, because ␣, ⏎ and ⟨ themselves are written as their
// numbers.
func Spelled(s string) string {
	var b strings.Builder
	sign, times := "", 0 // that stands for a character, and is to be written
	end := func() {
		if times > MaxBlanks {
			fmt.Fprintf(&b, "⟨%s ×%d⟩", strings.Trim(sign, "⟨⟩"), times)
		} else {
			b.WriteString(strings.Repeat(sign, times))
		}
		times = 0
	}
	before, latin := '\n', false // latin: the word of r has ASCII letters or digits
	for i, r := range s {
		if !ofWord(before) && ofWord(r) {
			latin = strings.ContainsFunc(wordAt(s, i), plain)
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		after := '\n'
		if rest := s[i+size:]; rest != "" {
			after, _ = utf8.DecodeRuneInString(rest)
		}
		alone := !Blank(before) && !Blank(after)
		next := ""
		switch {
		case r == utf8.RuneError && size == 1:
			next = fmt.Sprintf("⟨0x%02X⟩", s[i])
		case r == ' ' && !alone:
			next = "␣"
		case r == '\n', r == ' ', r == ideographicSpace && alone, joins(r, before, after), !spells(r):
		default:
			next = fmt.Sprintf("⟨U+%04X⟩", r)
			r = '⟩'
		}
		if next != sign {
			end()
		}
		if sign = next; sign != "" {
			times++
		} else {
			b.WriteRune(r)
			if imitates(r, before, latin) || RightToLeft(r) && turns(s[i+size:]) {
				fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			}
		}
		before = r
	}
	end()
	return b.String()
}

var lineEnds = language.Regexp{Text: `\n+`}

// OneLine is Spelled in one line: a line end becomes ⏎, and more than three in a row are counted.
func OneLine(s string) string {
	s = lineEnds.Get().ReplaceAllStringFunc(Spelled(s), func(ends string) string {
		if n := len(ends); n > 3 {
			return fmt.Sprintf(" ⟨⏎ ×%d⟩ ", n)
		}
		return strings.Repeat(" ⏎", len(ends)) + " "
	})
	return strings.Trim(s, " ")
}

// spells reports whether a character is written as its number unless its neighbours make it visible.
func spells(r rune) bool {
	return r == '␣' || r == '⏎' || r == '⟨' || r == utf8.RuneError || r != '\n' && r != ' ' &&
		(Ignorable(r) || Blank(r) || strikes(r))
}

// joins reports whether a character forms one picture with the emoji next to it.
func joins(r, before, after rune) bool {
	picture := unicode.In(before, unicode.So, unicode.Sk) || before == emojiStyle
	return picture && (r == emojiStyle && before != emojiStyle || r == zwj && unicode.Is(unicode.So, after))
}
