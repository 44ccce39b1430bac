package card

import (
	"strings"

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
			prose := legible.Spoken(p.Text)
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
