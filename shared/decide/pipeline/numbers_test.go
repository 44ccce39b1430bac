package pipeline

import (
	"context"
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// A year of which all numbers are given is not tried again, as one is whose number another has taken.
func TestNumberingEndsWithTheYear(t *testing.T) {
	for last, want := range map[int]int{0: 3, task.MostNumbers: 2} {
		tries := 0
		read := func(context.Context) (task.Series, error) { return task.Series{Year: 2026, Last: last}, nil }
		_, err := Numbering(t.Context(), task.Series{}, read, func(of task.Series) (int, error) {
			if tries++; of.Lacks() == nil && tries == 2 {
				return 0, task.ErrNumber // another was faster
			}
			return 0, of.Lacks()
		})
		expect.That(t, tries == want && (err == nil) == (last == 0), "the last is %d: %d tries, %v", last, tries, err)
	}
}
