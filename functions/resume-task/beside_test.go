package main

import (
	"testing"

	"ringi/shared/pipeline/pipelinetest"
	"ringi/shared/task"
)

// A message in a thread where people have something to decide may be an answer to
// that: they are asked, and until they say so no model is.
func TestAMessageBesideAGateThatWaits(t *testing.T) {
	server := pipelinetest.Start(t)
	off := task.DefaultSettings()
	off.PromptApprovalRequired = false
	for _, tt := range []struct {
		name  string
		bring func(w *pipelinetest.World) (waits, reply *pipelinetest.World)
		asks  bool
	}{
		{"a policy waits", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(task.DefaultSettings())
			return w, w.Reply()
		}, true},
		{"the policy of a request that is itself a reply", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			first := w.Reply()
			first.Prompted(task.DefaultSettings())
			w.Cancel()
			return first, w.Reply()
		}, true},
		{"steps wait", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Planned(task.DefaultSettings(), pipelinetest.Step(1, "list_employees", task.Read, `{}`))
			return w, w.Reply()
		}, true},
		{"a gate that asks nobody", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(off)
			return w, w.Reply()
		}, false},
		{"a policy is being drafted", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Extracted()
			return w, w.Reply()
		}, false},
		{"the task of the thread is over", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(task.DefaultSettings())
			w.Cancel()
			return w, w.Reply()
		}, false},
		{"a policy waits in another thread", func(w *pipelinetest.World) (_, _ *pipelinetest.World) {
			w.Prompted(task.DefaultSettings())
			return w, w.Another().Reply()
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			waits, reply := tt.bring(server.World(t))
			want := task.StateExtractTask
			if tt.asks {
				want = task.StateFinish
			}
			for range 2 {
				if next, err := handler(reply).Handle(t.Context(), reply.In()); err != nil || next.State != want {
					t.Fatalf("%+v, %v, want %s", next, err, want)
				}
			}
			a := reply.Load()
			if (a.Choosing() != nil) != tt.asks {
				t.Fatalf("%+v", a.Choice)
			}
			if b, _ := waits.Load().BesideOf(); tt.asks && a.Choice.Beside != b {
				t.Errorf("asks about %+v, and %+v waits", a.Choice.Beside, b)
			}
		})
	}
}
