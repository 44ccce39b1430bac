package sandbox_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/aggregate"
	"ringi/shared/expect"
	"ringi/shared/task"
)

// Whatever state a row or a run is in, the panel has a word for it in both languages.
func TestThePanelHasAWordForEveryStatus(t *testing.T) {
	text := expect.Value(os.ReadFile("ui/i18n.js"))(t)
	_, words, _ := strings.Cut(string(text), "const statusWords = {")
	words, _, _ = strings.Cut(words, "\n};")
	all := []string{string(task.TaskAnswered), string(task.TaskRefused), aggregate.Superseded().Outcome, "asked", "parked", "waiting"}
	for s := range task.TaskMoves {
		all = append(all, string(s))
	}
	for s := range aggregate.GateMoves {
		all = append(all, string(s))
	}
	for s := range task.ExecutionMoves {
		all = append(all, string(s))
	}
	for s := range task.StepMoves {
		all = append(all, string(s))
	}
	for _, s := range all {
		if n := len(regexp.MustCompile(`[{ ]`+s+`: "[^"]`).FindAllString(words, -1)); n != 2 {
			t.Errorf("%s has %d words, want one in each language", s, n)
		}
	}
}
