package task

import (
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// Effects says what steps would do, in the card's words.
func (r Reader) Effects(planned []task.Step) []string {
	lines := explain.StepLines(r.Locale, planned)
	out := make([]string, len(lines))
	for i, pieces := range lines {
		out[i] = r.effect(pieces)
	}
	return out
}
