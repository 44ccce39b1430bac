package inbound

import (
	"ringi/shared/words/language"
	"strings"
	"unicode"
)

// Typed returns what people typed, as Slack's clients send it in rich_text blocks; "" for a message without them.
func (m Message) Typed() string { return m.typed(false) }

// Given returns what people say in a message themselves: without what they only show, as code, in a quote or struck
// through. What they typed counts; the text counts for messages that have no rich text.
func (m Message) Given() string {
	if m.Typed() == "" {
		return strings.TrimSpace(withoutMarked(m.Text))
	}
	return m.typed(true)
}

func (m Message) typed(given bool) string {
	s := sight{given: given}
	for _, b := range objects(m.Blocks) {
		if b["type"] == "rich_text" {
			s.rich(b)
		}
	}
	return strings.Join(s.lines, "\n")
}

// Says reports whether a text has anything that a request may consist of: a letter, a digit or an emoji.
func SaysSomething(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
	})
}

var (
	fenced = language.Regexp{Text: "(?s)```.+?```"}
	coded  = language.Regexp{Text: "`[^`\n]+`"}
	// quotedRest is a quote of everything that follows, quoted of one line. Slack escapes the mark.
	quotedRest = language.Regexp{Text: `(?ms)^[ \t]*(?:&gt;|>){3}.*\z`}
	quoted     = language.Regexp{Text: `(?m)^[ \t]*(?:&gt;|>).*$`}
	// struck stands between marks that touch the text and no other word: "4/1~4/15" has none.
	struck = language.Regexp{Text: `(^|[^\pL\pN~<|/])~[^\s~](?:[^~\n]*[^\s~])?~($|[^\pL\pN~])`}
	// struckInFile is how shared/model/round marks it.
	struckInFile = language.Regexp{Text: `~~[^~\n]+~~`}
)

// withoutMarked removes what a text marks as code, as a quote or as struck through.
func withoutMarked(text string) string {
	for _, shown := range []*language.Regexp{&fenced, &quotedRest, &quoted, &coded} {
		text = shown.Get().ReplaceAllString(text, " ")
	}
	return struck.Get().ReplaceAllString(text, "$1 $2")
}

// WithoutStruck removes what a forwarded message (~) or a file (~~) strikes through.
func WithoutStruck(text string) string {
	return struck.Get().ReplaceAllString(struckInFile.Get().ReplaceAllString(text, " "), "$1 $2")
}

var (
	// dated is a date with what people see where it can't be formatted, labelled a group or link with its label.
	dated    = language.Regexp{Text: `<!date\^[^|<>]*\|([^<>]*)>`}
	labelled = language.Regexp{Text: `<!subteam\^[A-Z0-9]+\|(@?[^<>]+)>`}
	link     = language.Regexp{Text: `<((?:https?://|mailto:|tel:)[^|<>]+)(?:\|([^<>]+))?>`}
)

// people writes what a text marks for Slack as people see it.
func people(text string) string {
	text = dated.Get().ReplaceAllString(text, "$1")
	text = labelled.Get().ReplaceAllString(text, "$1")
	return link.Get().ReplaceAllStringFunc(text, func(of string) string {
		parts := link.Get().FindStringSubmatch(of)
		return linked(parts[1], parts[2])
	})
}
