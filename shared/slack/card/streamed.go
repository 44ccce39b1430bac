package card

import (
	"strings"

	"ringi/shared/words/legible"
)

// unlinked breaks Markdown's inline and reference links. It also changes code that looks like a link, since Markdown
// may not see it as code, as after a backslash.
var unlinked = strings.NewReplacer("](", "] (", "][", "] [", "]:", "] :", "://", ": //")

// Streamed prepares the beginning of an agent's answer for Slack's streaming, which takes Markdown. The result has no
// mentions. It has no links, since Slack would fetch previews while the model still writes. A longer beginning never
// changes the part that is already shown.
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
