package card

import (
	"regexp"
	"slices"
	"strings"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// maxMarkdown is how many characters all markdown blocks of a message may have together
// (https://docs.slack.dev/reference/block-kit/blocks/markdown-block), and maxSaid how many of them the notification
// has.
const maxMarkdown, maxSaid = 12_000, 3600

// said writes an agent's Markdown for Slack's markdown block. Nothing in it mentions anybody, hides where a link leads,
// looks like a mark of Ringi's, or has characters that nobody sees. Code stays code, and ends where it ended; links
// are broken in it, too, for cells of a table are told apart before code is.
func said(text string) string {
	var out strings.Builder
	for _, p := range legible.MarkdownPieces(text) {
		switch p.Kind {
		case legible.Block:
			if out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
				out.WriteByte('\n')
			}
			out.WriteString(legible.Fenced(marked.Replace(legible.Code(p.Text)), p.Language) + "\n")
		case legible.Span:
			out.WriteString(legible.Ticked(unlinked.Replace(marked.Replace(strings.ReplaceAll(legible.Code(p.Text),
				"\n", " ")))))
		default:
			prose := breakMentions(unticking.Replace(strings.Map(unmarked, legible.Visible(p.Text))))
			if strings.HasSuffix(prose, `\`) { // it would escape the tick that follows
				prose += joiner
			}
			out.WriteString(unlinked.Replace(marked.Replace(prose)))
		}
	}
	return cut(strings.TrimRight(out.String(), " \n"), maxMarkdown)
}

// marked escapes what Slack would read as a mention, a link or a tag.
var marked = strings.NewReplacer("&", "&amp;", "<", "&lt;")

// unticking replaces what would begin code or strike out text.
var unticking = strings.NewReplacer("\\`", "｀", "`", "｀", "~", "～")

// unlinked breaks Markdown's links and pictures, whose words would hide the address. An address alone stays a link.
var unlinked = strings.NewReplacer("](", "]"+joiner+"(", "][", "]"+joiner+"[", "]:", "]"+joiner+":")

// linked is a link of ours in a markdown block.
func linked(words, address string) string {
	return "[" + strings.NewReplacer("[", "［", "]", "］").Replace(words) + "](" + address + ")"
}

// shownCode escapes code for a fence. Slack's own formatting knows no longer fence, so three backticks in a row are
// kept apart.
func shownCode(code string) string {
	return fenceForm.Get().ReplaceAllStringFunc(escape(legible.Code(code)), func(ticks string) string {
		return strings.Join(strings.Split(ticks, ""), joiner)
	})
}

// Passage is a part of a message on a page, which has no formatting but code and, in agents' prose, bold text.
type Passage struct {
	Text   string
	Code   bool // within a line
	Block  bool // in lines of its own
	Strong bool
}

// Passages splits a message into prose and code, with the same characters as its cards. A text of nothing has none.
func Passages(text string) []Passage { return passagesOf(text, nil) }

// Answered is Passages for an agent's answer, with its bold text.
func Answered(text string) []Passage { return passagesOf(text, boldForm.Get()) }

// boldForm is bold text of Markdown within a line, and the text around it.
var boldForm = language.Regexp{Text: `\*\*([^*\s](?:[^*\n]*[^*\s])?)\*\*`}

func passagesOf(text string, bold *regexp.Regexp) (out []Passage) {
	var pieces []legible.Piece
	for _, p := range legible.MarkdownPieces(strings.TrimRight(text, " \t\n")) {
		if n := len(pieces); n > 0 && p.Kind == legible.Prose && pieces[n-1].Kind == legible.Prose {
			pieces[n-1].Text += p.Text
			continue
		}
		pieces = append(pieces, p)
	}
	for i, p := range pieces {
		switch p.Kind {
		case legible.Block:
			out = append(out, Passage{Text: legible.Code(p.Text), Block: true})
			continue
		case legible.Span:
			out = append(out, Passage{Text: strings.ReplaceAll(legible.Code(p.Text), "\n", " "), Code: true})
			continue
		}
		prose, at := breakMentions(unticking.Replace(strings.Map(unmarked, legible.Visible(p.Text)))), 0
		if i == 0 || pieces[i-1].Kind == legible.Block {
			prose = strings.TrimLeft(prose, "\n")
		}
		if i+1 < len(pieces) && pieces[i+1].Kind == legible.Block {
			prose = strings.TrimRight(prose, "\n")
		}
		if bold != nil {
			for _, m := range bold.FindAllStringSubmatchIndex(prose, -1) {
				out = append(out, Passage{Text: prose[at:m[0]]}, Passage{Text: prose[m[2]:m[3]], Strong: true})
				at = m[1]
			}
		}
		out = append(out, Passage{Text: prose[at:]})
	}
	out = slices.DeleteFunc(out, func(p Passage) bool { return p.Text == "" })
	if !slices.ContainsFunc(out, func(p Passage) bool { return p.Code || p.Block || legible.Text(p.Text) }) {
		return nil
	}
	return out
}
