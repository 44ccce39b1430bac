package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/domain/task"
	"ringi/shared/words/lazy"
)

// maxLinks is how many results a card links to.
const maxLinks = 5

var addressForm = lazy.Regexp(`^https://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?:/[A-Za-z0-9._~!$'()*+,;=:@%/?&#-]*)?$`)

// links are the addresses that completed steps returned as their url. Nothing else on a
// card is a link: an address in a text stays text. Each is its own label.
func (d drawing) links(r attempt) []slack.Block {
	var out []string
	for _, s := range r.steps {
		if url := Address(r.rows[s.StepID]); url != "" && len(out) < maxLinks {
			out = append(out, fill(d.w.Result, "step", s.Order, "url", "<"+escape(url)+">"))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []slack.Block{contextLine(out...)}
}

// resultOf are the members of what a step returned, none where it is no object.
func resultOf(row *task.StepResult) map[string]any {
	v, _ := decoded(string(row.Result.JSON))
	members, _ := v.(map[string]any)
	return members
}
