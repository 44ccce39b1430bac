package card

import (
	"encoding/json"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/task"
	"ringi/shared/words/lazy"
)

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

// below says for each table that was written how many older rows stand below it, since people could take them for part
// of the result. A result without a count gives no line; one whose rows could not be counted gives a line that says so.
func (d drawing) below(r attempt) []slack.Block {
	var out []string
	for _, s := range r.steps {
		row := r.rows[s.StepID]
		if s.Tool != sheetTool || row == nil || row.Status != task.StepCompleted || row.Result == nil {
			continue
		}
		members := resultOf(row)
		count, known := members["rows_below"]
		if !known {
			continue
		}
		n, counted := count.(json.Number)
		more, _ := members["more_below"].(bool)
		switch {
		case !counted:
			out = append(out, fill(d.w.RowsBelowUnread, "step", s.Order))
		case more:
			out = append(out, fill(d.w.RowsBelowOver, "step", s.Order, "n", inline(n.String(), maxTool)))
		case n != "0":
			out = append(out, fill(d.w.RowsBelow, "step", s.Order, "n", inline(n.String(), maxTool)))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return sectioned(pages(strings.Join(out, "\n"), maxSection)...)
}
