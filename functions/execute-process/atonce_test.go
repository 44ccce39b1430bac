package main

import (
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// After a gate the run comes here whatever was decided. Only approved steps are called; everything else changes nothing
// and goes where the rows lead, by ResumeTask where a version is drafted anew.
func TestExecutesAtOnceOnlyWhatIsDue(t *testing.T) {
	server := pipelinetest.Start(t)
	reject := func(w *world) {
		w.Planned(tenancy.DefaultSettings(), w.read(1), w.write(2))
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return decide.Reject("一件ずつ")(a, a.Process().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
		})
	}
	for name, tt := range map[string]struct {
		bring   func(w *world)
		next    string
		written int
	}{
		"the steps are approved": {func(w *world) { w.approved(w.read(1), w.write(2)) }, task.StateFinish, 1},
		"the steps are rejected": {reject, task.StateResumeTask, 0},
		"the gate still waits": {func(w *world) { w.Planned(tenancy.DefaultSettings(), w.read(1), w.write(2)) },
			task.StateAwaitProcessApproval, 0},
		"the task is cancelled": {func(w *world) { w.approved(w.write(1)); w.Cancel() }, task.StateFinish, 0},
		"the task has failed": {func(w *world) {
			w.approved(w.write(1))
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.StartExecution(a.Head.Run, w.Now()) })
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.FailExecution(a.Head.Run, task.ReasonRunFailed, "", w.Now())
			})
		}, task.StateFail, 0},
		"there is no room": {func(w *world) {
			w.approved(w.write(1))
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.PauseRun(a.Head.Run, w.Now().Add(time.Minute), w.Now())
			})
		}, task.StatePause, 0},
		"another run has taken over": {func(w *world) { w.approved(w.write(1)); w.Restart() }, task.StateFinish, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, server)
			tt.bring(w)
			before := w.Load()
			in := pipeline.Input{Tenant: w.Ref.Tenant, Task: w.Ref.ID, RunAtOnce: before.Head.Run}
			if name == "another run has taken over" {
				in.RunAtOnce--
			}
			for range 2 {
				out := expect.Value(pipeline.Edge(w.h.Handle)(t.Context(), in))(t)
				expect.Is(t, out.Next, tt.next)
			}
			w.written(tt.written)
			after := w.Load()
			expect.That(t, tt.written > 0 || after.Head.Rev == before.Head.Rev,
				"revision %d, and nothing was to be done after %d", after.Head.Rev, before.Head.Rev)
		})
	}
}
