package explain

import (
	"strings"

	"ringi/shared/domain/files"
	"ringi/shared/words/legible"
)

// Beside is a draft in which the lines stand out that another one has nowhere, and, where they stood, the other one's
// that it lacks.
func Beside(draft, other string) (text string, differs bool) {
	is, was, at, lines := legible.Beside(draft, other), legible.Beside(other, draft), 0, []string(nil)
	add := func(mark string, some []legible.Line, both bool) {
		for _, line := range some {
			if line.Alone {
				lines, differs = append(lines, mark+line.Text), true
			} else if both {
				lines = append(lines, line.Text)
			}
		}
	}
	for _, s := range files.Compare(strings.Split(other, "\n"), strings.Split(draft, "\n")) {
		add("➕ ", is[at:s.Y0], true)
		add("➖ ", was[s.X0:s.X1], false)
		at = s.Y0
	}
	add("➕ ", is[at:], true)
	return strings.Join(lines, "\n"), differs
}
