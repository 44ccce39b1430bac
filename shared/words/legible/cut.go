package legible

import (
	"strings"
	"unicode/utf8"
)

// First returns the first most characters of a text.
func First(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}

// FirstLines is First, but ends with a whole line, or at least with a whole cell or word, so that no value is cut in
// two: half a number reads well. It is cut within one only if that would take more than half of what may be shown.
func FirstLines(s string, most int) string {
	first := First(s, most)
	if first == s || strings.HasPrefix(s[len(first):], "\n") {
		return first
	}
	for _, ends := range []string{"\n", "\t,;。、 \u3000"} {
		end := strings.LastIndexAny(first, ends)
		if end >= len(first)/2 {
			_, n := utf8.DecodeRuneInString(first[end:])
			return first[:end+n]
		}
	}
	return first
}

// FirstBytes returns the beginning of a text, at most most bytes of whole characters.
func FirstBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Beginning is First with an ellipsis added if the text was cut.
func Beginning(s string, most int) string {
	if first := First(s, most); first != s {
		return first + "…"
	}
	return s
}

// Clip cuts a text to most characters, of which the last is an ellipsis if the text was cut.
func Clip(s string, most int) string {
	if First(s, most) == s {
		return s
	}
	return First(s, most-1) + "…"
}
