package task

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// The moves of seed 000 chapter 3, with the ends that the design adds. All other pairs are forbidden.
const allowedMoves = `
task       extracted         running cancelled
task       running           completed failed cancelled
task       completed
task       failed            running
task       cancelled
gate       generating        pending_approval
gate       pending_approval  approved rejected expired cancelled
gate       approved
gate       rejected
gate       expired
gate       cancelled
execution  pending           running failed cancelled
execution  running           completed failed cancelled
execution  completed
execution  failed
execution  cancelled
step       running           running completed failed unknown
step       completed
step       failed
step       unknown           completed failed
`

func TestStateMachinesAllowWhatTheDataModelListsAndNothingElse(t *testing.T) {
	machines := map[string]func(from, to string) bool{
		"task":      allows(TaskMoves),
		"gate":      allows(aggregate.GateMoves),
		"execution": allows(ExecutionMoves),
		"step":      allows(StepMoves),
	}
	listed := map[string]map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(allowedMoves)) {
		f := strings.Fields(line)
		if listed[f[0]] == nil {
			listed[f[0]] = map[string][]string{}
		}
		listed[f[0]][f[1]] = f[2:]
	}
	for name, allowed := range machines {
		froms := []string{"", "no such status"}
		for from := range listed[name] {
			froms = append(froms, from)
		}
		for _, from := range froms {
			for _, to := range froms {
				got, want := allowed(from, to), slices.Contains(listed[name][from], to)
				expect.Is(t, got, want, "%s: %q to %q is allowed", name, from, to)
			}
		}
	}
	for name, size := range map[string]int{"task": len(TaskMoves), "gate": len(aggregate.GateMoves), "execution": len(ExecutionMoves), "step": len(StepMoves)} {
		expect.That(t, len(listed[name]) == size, "%s has %d statuses, %d are listed here", name, size, len(listed[name]))
	}
}

func allows[S ~string](m aggregate.Moves[S]) func(from, to string) bool {
	return func(from, to string) bool { return m.Allows(S(from), S(to)) }
}
