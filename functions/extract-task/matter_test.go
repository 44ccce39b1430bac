package main

import (
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/task"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// A form says itself what it is about: no model reads it.
func TestAFormIsATask(t *testing.T) {
	w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{}
	w.ReceiveForm()
	next, err := handler(w, g).Handle(t.Context(), w.In())
	a := w.Load()
	expect.That(t, err == nil && next.State == task.StateDraftPrompt && a.Task.Title == pipelinetest.Form.Title &&
		a.Task.Description == pipelinetest.Form.Description && g.Calls == 0, "%+v, %v: %+v", next, err, a.Task)
}
