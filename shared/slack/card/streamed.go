package card

import (
	"strings"

	"ringi/shared/words/legible"
)

// unlinked takes Markdown's links with a label apart, of both forms. What is code to us need not be to Markdown: a
// fence after a backslash, or within other code, is none.
var unlinked = strings.NewReplacer("](", "] (", "][", "] [", "]:", "] :", "://", ": //")

// Streamed is the beginning of an agent's words as Slack shows them while there is more to come: as Markdown, which its
// streaming takes. It calls nobody, nothing in it is a link, of which Slack would fetch a preview while a model still
// writes, and what is shown stays as the text grows.
func Streamed(text string) string {
	pieces := strings.Split(text, "```")
	for i, p := range pieces {
		if i%2 == 1 {
			pieces[i] = breakMentions(escape(legible.Visible(p)))
		} else if strings.TrimSpace(p) != "" {
			p = strings.ReplaceAll(legible.Paragraphs(clean(p)), "~", "～")
			pieces[i] = breakMentions(escape(p))
		}
	}
	return unlinked.Replace(strings.Join(pieces, "```"))
}
