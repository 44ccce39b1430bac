package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what a model may write, in characters.
const (
	MaxTitle       = 150
	MaxDescription = 3000
	MaxPolicy      = 12_000
	MaxSummary     = 2000
	MaxSteps       = 60
	// MaxStepText is the limit of a step's description and of its expected output.
	MaxStepText = 1000
	// MaxStepsBytes is the limit of all steps as JSON; a row holds 400 KB.
	MaxStepsBytes = 200_000
)

// line makes one line of a text: control characters, line ends included, become spaces.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// prose keeps a text's line ends, takes its other control characters out, and trims it.
func prose(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// bounded names a field that is empty or too long.
func bounded(field, s string, limit int) []string {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return []string{field + " is empty"}
	case n > limit:
		return []string{fmt.Sprintf("%s has %d characters, the limit is %d", field, n, limit)}
	}
	return nil
}

// clip cuts a text to a number of characters, the last of them an ellipsis.
func clip(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit-1]) + "…"
}
