package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ringi/shared/legible"
)

// Limits of what a model may write, in characters.
const (
	MaxTitle       = 150
	MaxDescription = 3000
	MaxPolicy      = 8000 // as Slack counts: people stamp what a card shows, and it shows all of that
	MaxSummary     = 2000
	MaxRemarks     = 2000
	MaxSteps       = 60
	// MaxStepText is the limit of a step's description and of its expected output.
	MaxStepText = 1000
	// MaxStepsBytes is the limit of all steps as JSON; a row holds 400 KB.
	MaxStepsBytes = 200_000
)

// line makes one line of a text: spaces and line ends of any kind become one space.
func line(s string) string { return strings.Join(strings.Fields(prose(s)), " ") }

// prose keeps a text's line ends, takes out what nobody would see, and trims it:
// control characters, those that turn the reading direction or have no width, and
// selectors of variants where there is none, and empty lines behind the first in a row.
// Words can hide in each of them.
func prose(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	before := ' '
	s = strings.Map(func(r rune) rune {
		was := before
		before = r
		switch {
		case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d': // the last two join letters and emoji
			return r
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.Is(unicode.Variation_Selector, r):
			if unicode.Is(unicode.Han, was) || r >= '\ufe0e' && r <= '\ufe0f' && shows(was) {
				return r
			}
			return -1
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(legible.Paragraphs(s))
}

// shows reports whether there is something to see of a character.
func shows(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) && !strings.ContainsRune("\u2800\u115f\u1160\u3164\uffa0", r)
}

// bounded names a field that shows nothing or is too long.
func bounded(field, s string, limit int) []string {
	switch n := utf8.RuneCountInString(s); {
	case !strings.ContainsFunc(s, shows):
		return []string{field + " is empty"}
	case n > limit:
		return []string{fmt.Sprintf("%s has %d characters, the limit is %d", field, n, limit)}
	}
	return nil
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// inSlack is how long a text is as Slack counts it: escaped, in UTF-16 units.
func inSlack(s string) int { return len(utf16.Encode([]rune(escapes.Replace(s)))) }

// clip cuts a text to a number of characters, the last of them an ellipsis.
func clip(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit-1]) + "…"
}
