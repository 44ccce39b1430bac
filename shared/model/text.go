package model

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

// Limits of what a model may write, in characters.
const (
	MaxTitle       = 150
	MaxDescription = 3000
	MaxPolicy      = 8000 // characters as Slack counts them, because a card shows the whole policy
	MaxSummary     = 2000
	MaxRemarks     = 2000
	// MaxStepText is the limit of a step's description and of its expected output.
	MaxStepText = 1000
	// MaxStepsBytes is the limit of all steps as JSON; an item in DynamoDB holds 400 KB.
	MaxStepsBytes = 200_000
)

// line joins a text into one line: each run of spaces and line ends becomes one space.
func line(s string) string { return strings.Join(strings.Fields(prose(s)), " ") }

// maxNamed is the length to which names and ids of a vendor's server are cut.
const maxNamed = 150

// Named formats a name from a vendor's server for rows and logs: one line of at most 150 characters.
func Named(s string) string {
	return legible.First(line(s), maxNamed)
}

// RequestID returns a request id from a vendor's server for rows and logs, or an empty text if it can't be one. It is
// never cut, because vendors look up only complete ids.
func RequestID(s string) string {
	if len(s) > maxNamed || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return s
}

// prose trims a text, and removes invisible characters and repeated empty lines.
func prose(s string) string { return strings.TrimSpace(legible.Paragraphs(legible.Visible(s))) }

// bounded returns the problem of a field that is blank or too long.
func bounded(field, s string, limit int) []string {
	switch n := utf8.RuneCountInString(s); {
	case !legible.Text(s):
		return []string{field + " is empty"}
	case n > limit:
		return []string{fmt.Sprintf("%s has %d characters, the limit is %d", field, n, limit)}
	}
	return nil
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// inSlack is the length of a text as Slack counts: escaped, in UTF-16 units.
func inSlack(s string) int { return len(utf16.Encode([]rune(escapes.Replace(s)))) }

const (
	// maxEarlier bounds the reasons of rejections that a prompt repeats in full, in estimated tokens.
	maxEarlier = 16_000
	// maxOldReason is the length to which older reasons are cut, in characters.
	maxOldReason = 100
)

// estimate is an upper estimate of a text's tokens. OpenAI counts about four characters of English as one token
// (help.openai.com, "What are tokens and how to count them?"). Code and JSON have about three characters to a token,
// Japanese about one.
func estimate(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+2)/3 + other
}

// tokens estimates the tokens of a request.
func (r Request) tokens() int {
	n := estimate(r.System) + estimate(r.Standing) + estimate(string(r.Schema))
	for _, t := range r.Tools {
		n += estimate(t.Name) + estimate(t.Description) + estimate(string(t.Schema))
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += estimate(p.Text)
			switch {
			case p.Image != nil:
				n += ImageTokens
			case p.Call != nil:
				n += p.Call.tokens()
			case p.Result != nil:
				n += estimate(p.Result.Text)
			}
		}
	}
	return n
}

// tokens estimates the tokens of a call with what its vendor hung on it.
func (c Call) tokens() int {
	return estimate(c.Name) + estimate(string(c.Input)) + estimate(string(c.Hung()))
}

// ImageTokens is what vendors count for a large image.
const ImageTokens = 1_600

// earlier shortens the reasons of rejected versions, oldest first, for a prompt. As soon as the newer reasons add up to
// maxEarlier, each older one is cut to maxOldReason characters. whole reports whether version i is repeated with its
// content: only the newest is.
func earlier(all []string) (reasons []string, whole func(i int) bool) {
	reasons = slices.Clone(all)
	sum := 0
	for i := len(all) - 1; i >= 0; i-- {
		if sum += estimate(all[i]); sum > maxEarlier && i < len(all)-1 {
			reasons[i] = legible.Beginning(all[i], maxOldReason)
		}
	}
	return reasons, func(i int) bool { return i == len(all)-1 }
}
