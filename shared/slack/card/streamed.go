package card

import (
	"strings"

	"ringi/shared/words/legible"
)

// unlinked breaks Markdown's links with a label, of both forms. It also changes what looks like code here: Markdown may
// see no code in it, as after a backslash or within other code.
var unlinked = strings.NewReplacer("](", "] (", "][", "] [", "]:", "] :", "://", ": //")

// Streamed is the beginning of an agent's words as Slack shows them while there is more to come: as Markdown, which its
// streaming takes. It mentions nobody, has no links, for which Slack would fetch previews while a model still writes,
// and what is shown stays as the text grows.
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
