package main

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// After ExtractTask the run comes here whatever it answered. What is not due changes nothing, goes where the rows lead,
// and counts no failure a second time.
func TestDraftsAfterExtractTaskOnlyWhatIsDue(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, tt := range map[string]struct {
		bring      func(w *pipelinetest.World)
		said, next string
		calls      int
	}{
		"a task": {func(w *pipelinetest.World) { w.Extracted() }, task.StateDraftPrompt, task.StateAwaitPromptApproval, 1},
		"a plain answer": {func(w *pipelinetest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Extracted(a.Head.Run, task.Extract{Kind: task.KindHelp, Sentence: "できること"}, w.Now())
			})
		}, task.StateFinish, task.StateFinish, 0},
		"a pause": {func(w *pipelinetest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.WaitUntil(a.Head.Run, a.Generating(), w.Now().Add(time.Minute), w.Now())
			})
		}, task.StatePause, task.StatePause, 0},
		"a failure": {func(w *pipelinetest.World) {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(a.Head.Run, a.Generating(), task.ReasonModelKey, "", w.Now())
			})
		}, task.StateFail, task.StateFail, 0},
		"a gate that waits": {func(w *pipelinetest.World) { w.Prompted(tenancy.DefaultSettings()) },
			task.StateDraftPrompt, task.StateAwaitPromptApproval, 0},
		"a task that was cancelled since": {func(w *pipelinetest.World) { w.Extracted(); w.Cancel() },
			task.StateDraftPrompt, task.StateFinish, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, g := server.World(t), &modeltest.Demo{}
			tt.bring(w)
			before := w.Load()
			in := w.In()
			in.Next = tt.said
			counted := expect.Metrics(t, func() {
				for range 2 {
					out := expect.Value(pipeline.Edge(handler(w, g).Handle)(t.Context(), in))(t)
					expect.That(t, out.Next == tt.next && g.Calls == tt.calls, "%+v after %d calls", out, g.Calls)
				}
			})
			expect.That(t, !strings.Contains(counted, "RunFailed"), "ExtractTask has counted the failure: %s", counted)
			expect.That(t, tt.calls > 0 || w.Load().Head.Rev == before.Head.Rev, "it has changed the task")
		})
	}
}
