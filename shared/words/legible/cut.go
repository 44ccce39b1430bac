package legible

import "unicode/utf8"

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
