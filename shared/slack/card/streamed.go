package card

import (
	"strings"
	"unicode"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// streamed is the Markdown that Slack's streaming takes. It shows what the answer's card shows and
// nothing else: what would be a link, a list, a table, a divider or code by indentation is text. Bold text that Markdown
// would not find is not bold yet.
var streamed = dialect{strong: "**", star: `\*`, underscore: `\_`, language: true, prose: plainMarkdown,
	ticked: func(code string) string {
		if len(code) > 1 && code[0] == ' ' && code[len(code)-1] == ' ' && strings.Trim(code, " ") != "" {
			code = " " + code + " " // Markdown removes a space from both ends
		}
		return ticked(code)
	}}

// unlinked breaks Markdown's inline and reference links, and the addresses that Slack would fetch for a preview while
// the model still writes. It breaks escapes, too.
var unlinked = strings.NewReplacer("](", "]"+joiner+"(", "][", "]"+joiner+"[", "]:", "]"+joiner+":",
	"://", ":"+joiner+"//", "www.", "www"+joiner+".", `\`, `\`+joiner)

// lineStart is what has a meaning at the beginning of a line of Markdown.
var lineStart = language.Regexp{Text: `(?m)^([ \t]|[-+#=|:[]|[0-9]{1,9}[.)])`}

func plainMarkdown(escaped string) string {
	return lineStart.Get().ReplaceAllString(unlinked.Replace(escaped), joiner+"$1")
}

// Streamed prepares the beginning of an agent's answer for Slack's streaming. It shows what the answer's card will show
// so far, without the words that the answer's rest may change, and without mentions and links. A longer beginning never
// changes the part that is already shown.
func Streamed(text string) string {
	pieces, _ := legible.SettledPieces(text)
	if n := len(pieces); n > 0 && pieces[n-1].Kind == legible.Prose { // what ends there has no blanks at its end
		pieces[n-1].Text = strings.TrimRightFunc(pieces[n-1].Text, unicode.IsSpace)
	}
	return written(pieces, true, streamed)
}
