package card

import (
	"encoding/json"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/task"
)

// below says for each table that was written how many older rows stand below it, since people
// could take them for part of the result. A result without a count gives no line; one whose rows
// could not be counted gives a line that says so.
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
