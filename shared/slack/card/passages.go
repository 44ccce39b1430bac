package card

import (
	"slices"
	"strings"
	"unicode"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Passage is a part of a message on a page, which has no formatting but code and, in agents' prose, bold text.
type Passage struct {
	Text   string
	Code   bool // within a line
	Block  bool // in lines of its own
	Strong bool
}

// Passages splits a message into prose and code, with the same characters as its cards. A text of nothing has none.
func Passages(text string) []Passage { return passagesOf(text, false) }

// Answered is Passages for an agent's answer, with the bold text that its card has.
func Answered(text string) []Passage { return passagesOf(text, true) }

func passagesOf(text string, bold bool) (out []Passage) {
	pieces := legible.MarkdownPieces(strings.TrimRight(text, " \t\n"))
	for len(pieces) > 0 {
		if pieces[0].Kind == legible.Block {
			out = append(out, Passage{Text: legible.Code(pieces[0].Text), Block: true})
			pieces = pieces[1:]
			continue
		}
		end := slices.IndexFunc(pieces, func(p legible.Piece) bool { return p.Kind == legible.Block })
		if end < 0 {
			end = len(pieces)
		}
		p := proseOf(pieces[:end])
		if bold {
			p.text = strengthened(p.text)
		}
		out = append(out, p.passages()...)
		pieces = pieces[end:]
	}
	if !slices.ContainsFunc(out, func(p Passage) bool { return p.Code || p.Block || legible.Text(p.Text) }) {
		return nil
	}
	return out
}

// strengthened marks the bold text of prose by strongMark, and leaves other stars and underscores as they are.
func strengthened(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = emphasized(line, false)
	}
	return strings.NewReplacer(starMark, "*", underscoreMark, "_", edgeMark, "", looseMark, strongMark).
		Replace(strings.Join(lines, "\n"))
}

// passages splits prose at the code within its lines and around bold text.
func (p prose) passages() (out []Passage) {
	text, strong := strings.Trim(p.text, "\n"), false
	for i, part := range strings.Split(text, slot) {
		plain := i > 0 && p.plain[i-1]
		if i > 0 && !plain {
			code := strings.ReplaceAll(legible.Code(p.codes[i-1]), "\n", " ")
			out = append(out, Passage{Text: code, Code: true, Strong: strong})
		}
		for n, words := range strings.Split(part, strongMark) {
			strong = strong != (n > 0)
			switch {
			case plain && n == 0 && out[len(out)-1].Strong == strong:
				out[len(out)-1].Text += slot + words
			case plain && n == 0:
				out = append(out, Passage{Text: slot + words, Strong: strong})
			case i == 0 && n == 0 || words != "" || n == 0 && i < len(p.plain) && p.plain[i]:
				out = append(out, Passage{Text: strings.Trim(words, joiner), Strong: strong})
			}
		}
	}
	return out
}

// streamed is the Markdown that Slack's streaming takes. It shows what the answer's card shows and
// nothing else: what would be a link, a list, a table, a divider or code by indentation is text. Bold text that
// Markdown
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
