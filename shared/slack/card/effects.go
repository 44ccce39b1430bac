package card

import (
	"fmt"
	"strings"

	"ringi/shared/domain/task"
	"ringi/shared/explain/line"
)

// effects draws one line for each step, made from its tool and planned arguments. No model writes any of it. Values are
// shown completely, without invisible characters.
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

// piece draws a part of a line. It shows a person's id next to the name.
func (d drawing) piece(p line.Piece) string {
	switch p.Kind {
	case line.Words:
		return p.Text
	case line.Person:
		return fmt.Sprintf("%s (%s)", d.w.mention(p.Text), p.Text)
	}
	return asWritten(p.Text)
}
