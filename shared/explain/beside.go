package explain

import (
	"strings"

	"ringi/shared/domain/files"
	"ringi/shared/words/legible"
)

// Beside is a draft in which the lines stand out that another one has nowhere, and, where they stood, the other one's
// that it lacks.
func Beside(draft, other string) (text string, differs bool) {
	was, is, lines, at := strings.Split(other, "\n"), legible.Beside(draft, other), []string(nil), 0
	lacks := map[string]int{} // how many of the other one's lines
	for _, line := range legible.Beside(other, draft) {
		if line.Alone {
			lacks[line.Text]++
		}
	}
	add := func(some []legible.Line) {
		for _, line := range some {
			mark := ""
			if line.Alone {
				mark, differs = "➕ ", true
			}
			lines = append(lines, mark+line.Text)
		}
	}
	for _, s := range files.Compare(was, strings.Split(draft, "\n")) {
		add(is[at:s.Y0])
		for _, line := range was[s.X0:s.X1] {
			if lacks[line] > 0 {
				lacks[line]--
				lines, differs = append(lines, "➖ "+line), true
			}
		}
		at = s.Y0
	}
	add(is[at:])
	return strings.Join(lines, "\n"), differs
}
