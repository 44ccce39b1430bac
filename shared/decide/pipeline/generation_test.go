package pipeline_test

import (
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

func fail(w *pipelinetest.World, f task.Failure) (aggregate.Next, error) {
	f.Reason = task.ReasonModelUnavailable
	return pipeline.Failed(w.T.Context(), w.StoreOverTransport(), w.In(), task.Generation{Layer: task.L1}, f, 0, w.Now())
}

func TestAGenerationThatFails(t *testing.T) {
	server := pipelinetest.Start(t)
	testFailures(t, server)
	testVendorsTime(t, server)
	testAfterAWait(t, server)
}

func testFailures(t *testing.T, server *pipelinetest.Server) {
	t.Run("what may mend is tried again by the state machine", func(t *testing.T) {
		w := server.World(t)
		_, err := fail(w, task.Failure{Transient: true})
		expect.Fails(t, err, explain.ErrModelUnavailable)
		h := w.Load().Head
		expect.That(t, h.Rev == 1, "something was written: %+v", h)
	})
	t.Run("what does not mend is parked", func(t *testing.T) {
		w := server.World(t)
		next, err := fail(w, task.Failure{})
		if p := w.Load().Head.Parked; err != nil || next.State != task.StateFail || p == nil || p.Layer != task.L1 {
			t.Errorf("%+v, %v, parked %+v", next, err, p)
		}
	})
	t.Run("a run that is not the head's records nothing", func(t *testing.T) {
		w := server.World(t)
		in := w.In()
		w.Restart()
		_, err := pipeline.Failed(t.Context(), w.Store, in, task.Generation{Layer: task.L1}, task.Failure{}, 0, w.Now())
		expect.Fails(t, err, aggregate.ErrSuperseded)
	})
	t.Run("tasks that were turned away together part", func(t *testing.T) {
		waits := map[time.Duration]bool{}
		for range 8 {
			w := server.World(t)
			expect.Value(fail(w, task.Failure{Transient: true, RetryAfter: time.Minute}))(t)
			waits[w.Load().Head.PausedUntil.Sub(w.Now())] = true
		}
		expect.That(t, len(waits) >= 3, "eight tasks wait for %v", waits)
	})
}

func testVendorsTime(t *testing.T, server *pipelinetest.Server) {
	t.Run("a vendor that asks for time gets it, an hour in all", func(t *testing.T) {
		w := server.World(t)
		for range 5 {
			next, err := fail(w, task.Failure{Transient: true, RetryAfter: 10 * time.Minute})
			expect.Must(t, err == nil && next.State == task.StatePause, "%+v, %v", next, err)
			w.Later(10 * time.Minute)
		}
		w.Later(time.Second)
		next, err := fail(w, task.Failure{Transient: true, RetryAfter: 10 * time.Minute})
		p := w.Load().Head.Parked
		expect.That(t, err == nil && next.State == task.StateFail && p != nil, "%+v, %v, parked %+v", next, err, p)
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.RetryGeneration(pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
		})
		if next, err := fail(w, task.Failure{RetryAfter: time.Millisecond}); err != nil || next.State != task.StatePause ||
			next.WaitSeconds < 5 {
			t.Errorf("%+v, %v, want a pause that deserves its name", next, err)
		}
	})
	t.Run("time without room to run is none of the vendor's hour", func(t *testing.T) {
		w := server.World(t)
		asks := func() aggregate.Next {
			next := expect.Value(fail(w, task.Failure{Transient: true, RetryAfter: 25 * time.Minute}))(t)
			w.Later(25 * time.Minute)
			return next
		}
		if next := asks(); next.State != task.StatePause {
			t.Fatalf("%+v", next)
		}
		for range 6 {
			w.Later(25 * time.Minute)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.PauseRun(a.Head.Run, w.Now().Add(5*time.Minute), w.Now())
			})
			w.Later(5 * time.Minute)
		}
		if next := asks(); next.State != task.StatePause {
			t.Errorf("after three hours without room: %+v, parked %+v", next, w.Load().Head.Parked)
		}
		if next := asks(); next.State != task.StateFail {
			t.Errorf("a vendor has more than its hour: %+v", next)
		}
	})
	t.Run("a vendor that says five seconds for an hour is asked ever more rarely", func(t *testing.T) {
		w := server.World(t)
		rounds, began, longest := 0, w.Now(), time.Duration(0)
		for w.Load().Head.Parked == nil {
			next := expect.Value(fail(w, task.Failure{Transient: true, RetryAfter: 5 * time.Second}))(t)
			if next.State != task.StatePause {
				break
			}
			wait := w.Load().Head.PausedUntil.Sub(w.Now())
			expect.Must(t, wait >= 5*time.Second, "paused for %s, the vendor asked for 5 s", wait)
			longest = max(longest, wait)
			rounds++
			w.Later(wait)
		}
		tried := w.Now().Sub(began)
		expect.That(t, rounds <= 40 && tried >= 55*time.Minute && tried <= time.Hour+time.Minute && longest >= 4*time.Minute,
			"%d rounds in %s, the longest wait %s", rounds, tried, longest)
	})
}

// A request that waited for Slack or for a choice can still be postponed for as long as any other.
func testAfterAWait(t *testing.T, server *pipelinetest.Server) {
	for name, wait := range map[string]func(w *pipelinetest.World){
		"for Slack": func(w *pipelinetest.World) { w.Later(3 * time.Hour) },
		"for a choice": func(w *pipelinetest.World) {
			a := w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Ask(1, task.ThreadGate{TaskID: "01OTHER", ID: "01PROMPT", Kind: task.CardPrompt, Version: 1},
					tenancy.DefaultSettings(), w.Now())
			})
			w.Later(3 * time.Hour)
			w.Decide(func(now *task.Aggregate) (aggregate.Change, error) {
				return now.TakeAsRequest(a.Choice.ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
			})
		},
	} {
		w := server.World(t)
		wait(w)
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: pipelinetest.Requester, Team: pipelinetest.Team}
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Accept(a.Head.Run, by, tenancy.DefaultSettings(), w.Now())
		})
		next, err := fail(w, task.Failure{Transient: true, RetryAfter: 30 * time.Second})
		expect.That(t, err == nil && next.State == task.StatePause, "%s: %+v, %v, parked %+v: somebody has to press 🔄", name,
			next, err, w.Load().Head.Parked)
	}
}
