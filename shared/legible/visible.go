package legible

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"ringi/shared/lazy"
)

// Visible is a text as people see it: without characters that show nothing or reorder their
// surroundings, with "\n" line ends, and with spaces for letters that are drawn empty. Models
// get the same text, so that nothing can be addressed to them that people don't see.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	joined := false
	return strings.Map(func(r rune) rune {
		before := joined
		joined = Joiner(r)
		switch {
		case r > ' ' && r < 0x7f:
			return r
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f':
			return '\n'
		case joined && before && r != zwj: // a second one in a row changes nothing
			return -1
		case joined:
			return r
		case r != '\u3000' && Blank(r):
			return ' '
		case Ignorable(r):
			return -1
		}
		return r
	}, s)
}

// MaxBlanks is how many blanks in a row a text keeps: no indentation is deeper.
const MaxBlanks = 8

// Paragraphs is a text with at most one empty line in a row, and MaxBlanks blanks: behind
// thousands of them nobody looks for the next words. A line that shows nothing is an empty one.
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

// fewBlanks leaves away blanks behind MaxBlanks in a row, which only a character that shows
// something ends, or a line; marks of nothing are blanks. A joiner stays beside what shows.
func fewBlanks(s string) string {
	var b strings.Builder
	blanks, shown, joined := 0, false, false // shown: what stands before is a letter, or belongs to one
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

var literal = lazy.Regexp(`"(?:[^"\\]|\\.)*"`)

// JSON is valid JSON with each of its texts, names of members too, as people see it.
func JSON(text []byte) []byte {
	return literal().ReplaceAllFunc(text, func(quoted []byte) []byte {
		var s string
		if json.Unmarshal(quoted, &s) != nil { // of valid JSON each can be read
			return quoted
		}
		seen := Visible(s)
		if seen == s {
			return quoted
		}
		b, err := json.Marshal(seen)
		if err != nil { // a text never fails
			return quoted
		}
		return b
	})
}
