package card

import (
	"strings"

	"ringi/shared/legible"
)

// Streamed is the beginning of an agent's words as Slack shows them while there is more to come: as Markdown, which its
// streaming takes. It calls nobody, no link hides where it leads, and what is shown stays as the text grows.
func Streamed(text string) string {
	pieces := strings.Split(text, "```")
	for i, p := range pieces {
		if i%2 == 1 {
			pieces[i] = breakMentions(escape(legible.Visible(p)))
		} else if strings.TrimSpace(p) != "" {
			p = strings.ReplaceAll(legible.Paragraphs(clean(p)), "~", "～")
			pieces[i] = breakMentions(escape(strings.ReplaceAll(p, "](", "] (")))
		}
	}
	return strings.Join(pieces, "```")
}
