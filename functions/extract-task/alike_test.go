package main

import (
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/task"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// A request like one of the last 30 days says so before anything is drafted, and goes on all the same.
func TestARequestLikeAnEarlierOneSaysSo(t *testing.T) {
	w := pipelinetest.Start(t).World(t)
	extracted := func(w *pipelinetest.World) *task.Task {
		next, err := handler(w, &modeltest.Demo{}).Handle(t.Context(), w.In())
		expect.That(t, err == nil && next.State == task.StateDraftPrompt, "%+v, %v", next, err)
		return w.Load().Task
	}
	first := extracted(w)
	expect.That(t, first.Alike == nil, "%+v", first.Alike)
	second := extracted(w.Another())
	expect.That(t, second.Title == first.Title && second.Alike != nil && second.Alike.TaskID == first.ID &&
		second.Alike.At.Equal(first.CreatedAt), "%+v", second.Alike)
}
