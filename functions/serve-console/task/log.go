package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Use is the usage of model calls.
type Use struct {
	aggregate.Usage
	At     time.Time
	What   string // kind of the row they made: TASK, PROMPT, PROCESS, EXECUTION; empty: none
	Number int    // of its version
	Kept   bool   // what was sent was kept
	Teams  bool   // a contest's calls; the usage is named by its execution_id, and its page lists them
}

func uses(a *task.Aggregate) []Use {
	held := map[string]bool{}
	for _, p := range a.Prompts {
		if p.Contest != nil {
			held[p.Contest.ExecutionID] = true
		}
	}
	var out []Use
	for _, u := range a.Uses {
		what, rest, _ := strings.Cut(u.Made, "#")
		number, _, _ := strings.Cut(rest, "#")
		n, _ := strconv.Atoi(number)
		x := Use{Usage: u.Usage, At: u.CreatedAt, What: what, Number: n, Kept: u.Kept(), Teams: held[u.ID]}
		x.Provider, x.Model, x.Prompt = legible.OneLine(x.Provider), legible.OneLine(x.Model), legible.OneLine(x.Prompt)
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b Use) int { return a.At.Compare(b.At) })
	return out
}

// Key names a step's row in an address.
func Key(process, attempt, order int) string { return fmt.Sprintf("%d-%d-%d", process, attempt, order) }

// StepAt returns the row that a key names, or nil.
func StepAt(a *task.Aggregate, key string) *task.StepResult {
	for _, s := range a.Steps {
		if Key(s.ProcessVersion, s.Attempt, s.Order) == key {
			return s
		}
	}
	return nil
}
