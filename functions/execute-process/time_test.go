package main

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// span is an invocation with the function's full time, by the handler's clock.
type span struct {
	context.Context
	w   *world
	end time.Time // by the handler's clock
}

func (w *world) span() span {
	return span{w.T.Context(), w, w.h.Now().Add(functionTime)}
}

// Deadline uses the real clock, as contexts do.
func (s span) Deadline() (time.Time, bool) { return time.Now().Add(s.end.Sub(s.w.h.Now())), true }

// slow are tools whose calls take some time by the handler's clock.
type slow struct {
	Tools
	w     *world
	takes time.Duration
	had   []time.Duration // the time that each call had
}

func (s *slow) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	a := s.w.Load()
	held := a.StepOf(a.Execution(), a.NextStep(a.Execution()).Order)
	has := held.Claim.LeaseUntil.Add(-claimSpare).Sub(s.w.h.Now())
	s.had = append(s.had, has)
	if has < s.takes {
		s.w.later(has)
		return nil, &explain.CallError{Outcome: explain.CallUnknown, Problem: explain.ProblemTimeout,
			Detail: "it took too long"}
	}
	v, err := s.Tools.Run(ctx, c)
	s.w.later(s.takes)
	return v, err
}

// whole checks that each of n calls had its tool's full timeout, except for the time of a claim.
func (s *slow) whole(t *testing.T, n int, timeout time.Duration) {
	t.Helper()
	expect.Is(t, len(s.had), n, "calls")
	for i, had := range s.had {
		expect.That(t, had >= timeout-2*claimWithin, "call %d had %s of its %s", i+1, had, timeout)
	}
}

// rounds invokes the function as the state machine does, until the next state is another.
func (w *world) rounds() (n int, next aggregate.Next) {
	w.T.Helper()
	for n = 1; n < 20; n++ {
		next = w.goesWell(func() (aggregate.Next, error) { return w.h.Handle(w.span(), w.In()) })
		if next.State == task.StatePause {
			w.later(time.Duration(next.WaitSeconds) * time.Second)
		} else if next.State != task.StateExecuteProcess {
			return n, next
		}
	}
	w.T.Fatalf("it goes round and round: %+v", next)
	return n, next
}

func TestACallHasItsToolsWholeTimeout(t *testing.T) {
	server := pipelinetest.Start(t)
	t.Run("five reads of 30 s each", func(t *testing.T) {
		w := newWorld(t, server)
		s := &slow{Tools: w.h.Tools, w: w, takes: 30 * time.Second}
		w.h.Tools = s
		w.approved(w.read(1), w.read(2), w.read(3), w.read(4), w.read(5))
		if n, next := w.rounds(); n != 2 || next.State != task.StateFinish {
			t.Errorf("after %d invocations: %+v", n, next)
		}
		w.ends(task.ExecutionCompleted, "", slices.Repeat([]task.StepStatus{task.StepCompleted}, 5)...)
		s.whole(t, 5, time.Minute)
	})
	t.Run("a managed session's, which rests for it", func(t *testing.T) {
		m := newSessionWorld(t, server)
		s := &slow{Tools: m.h.Tools, w: m.world, takes: 50 * time.Second}
		m.h.Tools = s
		m.approved(m.read(1), m.lone(2), m.lone(3))
		m.agents.Before = func(op string) {
			if op == models.ListEvents {
				m.later(15 * time.Second) // it thinks
			}
		}
		if _, next := m.rounds(); next.State != task.StateFinish {
			t.Errorf("%+v", next)
		}
		m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted, task.StepCompleted)
		s.whole(t, 3, time.Minute)
	})
	t.Run("a fresh invocation gives what it has", func(t *testing.T) {
		w := newWorld(t, server)
		s := &slow{Tools: w.h.Tools, w: w, takes: time.Second}
		w.h.Tools = s
		w.approved(w.lone(1), w.lone(2))
		ctx := w.span()
		ctx.end = w.h.Now().Add(40 * time.Second)
		next, err := w.h.Handle(ctx, w.In())
		expect.That(t, err == nil && next.State == task.StateExecuteProcess, "%+v, %v, want to come round again", next, err)
		w.ends(task.ExecutionRunning, "", task.StepCompleted)
		expect.That(t, len(s.had) == 1 && s.had[0] <= 25*time.Second && s.had[0] >= 20*time.Second, "calls had %s", s.had)
	})
}
