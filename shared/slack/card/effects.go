package card

import (
	"fmt"
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/explain/line"
)

// effects draws what each step would do, one line for each, made from the tool and the planned arguments; no model has
// written any of it. Values are shown whole, without characters that can't be seen.
func (d drawing) effects(steps []task.Step, most int) body {
	if len(steps) == 0 {
		return body{}
	}
	lines := []string{d.w.Effects}
	for i, pieces := range line.Of(d.w.Locale, steps) {
		var b strings.Builder
		for _, p := range pieces {
			b.WriteString(d.piece(p))
		}
		lines = append(lines, fmt.Sprintf("%d. %s", steps[i].Order, b.String()))
	}
	return d.sections(codePages(strings.Join(lines, "\n"), maxSection), most)
}

// piece draws a part of a line; a person's id stands beside the name.
func (d drawing) piece(p line.Piece) string {
	switch p.Kind {
	case line.Words:
		return p.Text
	case line.Person:
		return fmt.Sprintf("%s (%s)", d.w.mention(p.Text), p.Text)
	}
	return asWritten(p.Text)
}
