package intake

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// Given returns what people say in a message themselves: its text without what they only show, as code, in a quote or
// struck through. Slack's clients send typed messages as rich_text blocks, which count; the text counts for messages
// without them.
func Given(text string, blocks json.RawMessage) string {
	var all []rich
	var said strings.Builder
	known := false
	if json.Unmarshal(blocks, &all) == nil {
		for _, b := range all {
			if b.Type == "rich_text" {
				known = b.given(&said) || known
			}
		}
	}
	if known {
		return strings.TrimSpace(said.String())
	}
	return strings.TrimSpace(withoutMarked(text))
}

// Says reports whether a text has anything that a request may consist of: a letter, a digit or an emoji.
func Says(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
	})
}

// rich is a part of a rich_text block (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block).
type rich struct {
	Type     string `json:"type"`
	Elements []rich `json:"elements"`
	Text     string `json:"text"`
	User     string `json:"user_id"`
	Style    any    `json:"style"` // of a list it is a word
}

// given writes what a part says and reports whether it has any content.
func (r rich) given(to *strings.Builder) (content bool) {
	style, _ := r.Style.(map[string]any)
	switch {
	case r.Type == "rich_text_quote" || r.Type == "rich_text_preformatted":
		return len(r.Elements) > 0
	case style["code"] == true || style["strike"] == true:
		return true
	case r.Type == "user":
		to.WriteString("<@" + r.User + ">")
		return true
	case strings.HasPrefix(r.Type, "rich_text"):
		for _, e := range r.Elements {
			content = e.given(to) || content
		}
		to.WriteByte('\n')
		return content
	}
	to.WriteString(r.Text)
	if r.Text == "" { // an emoji, a link, a date: something to read
		to.WriteString(r.Type)
	}
	return true
}

var (
	fenced = regexp.MustCompile("(?s)```.+?```")
	coded  = regexp.MustCompile("`[^`\n]+`")
	// quotedRest is a quote of everything that follows, quoted of one line. Slack escapes the mark.
	quotedRest = regexp.MustCompile(`(?ms)^[ \t]*(?:&gt;|>){3}.*\z`)
	quoted     = regexp.MustCompile(`(?m)^[ \t]*(?:&gt;|>).*$`)
	// struck stands between marks that touch the text and no other word: "4/1~4/15" has none.
	struck = regexp.MustCompile(`(^|[^\pL\pN~<|/])~[^\s~](?:[^~\n]*[^\s~])?~($|[^\pL\pN~])`)
)

// withoutMarked removes what a text marks as code, as a quote or as struck through.
func withoutMarked(text string) string {
	for _, shown := range []*regexp.Regexp{fenced, quotedRest, quoted, coded} {
		text = shown.ReplaceAllString(text, " ")
	}
	return struck.ReplaceAllString(text, "$1 $2")
}
