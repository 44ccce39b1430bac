package legible

import "unicode/utf8"

// First is the first most characters of a text, all of it when there are no more.
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

// FirstBytes is the beginning of a text, at most most bytes of whole characters.
func FirstBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Beginning is First with an ellipsis behind what is cut.
func Beginning(s string, most int) string {
	if first := First(s, most); first != s {
		return first + "…"
	}
	return s
}

// Clip is a text of at most most characters, the last of them an ellipsis where it is cut.
func Clip(s string, most int) string {
	if First(s, most) == s {
		return s
	}
	return First(s, most-1) + "…"
}
