package card

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// A change that was seen before an execution began or the request ended is too late for it from then on, and no limit
// of versions is named as the reason.
func TestAChangeIsLateOnceItsTimeIsOver(t *testing.T) {
	change := func(deleted bool) *task.Aggregate {
		return &task.Aggregate{Request: &task.Request{User: "U1", Text: "営業部"}, Task: &task.Task{},
			Correction: &task.Correction{Text: "人事部", Edited: "1.0", Deleted: deleted, Author: "U2"},
			Prompts:    []*task.Prompt{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Approved}}},
			Processes:  []*task.Process{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Approved}}}}
	}
	same := func(s string) string { return s }
	for deleted, want := range map[bool]string{false: wordsOf.In("ja").ChangedLate, true: wordsOf.In("ja").DeletedLate} {
		running, ended := change(deleted), change(deleted)
		running.Executions = []*task.Execution{{ProcessVersion: 1, Attempt: 1, Status: task.ExecutionCompleted}}
		ended.Head.Ended = &task.Ended{As: task.TaskCancelled, At: time.Now()}
		for _, a := range []*task.Aggregate{running, ended} {
			expect.Is(t, Changed(a, "ja", same, same), fill(want, "text", "人事部"))
		}
	}
}
