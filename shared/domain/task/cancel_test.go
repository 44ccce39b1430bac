package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestACancelledTaskLeavesNothingOpen(t *testing.T) {
	for _, state := range states {
		s := state.reach(t)
		if s.head.Ended != nil {
			continue
		}
		t.Run(state.name, func(t *testing.T) {
			before := s.load()
			s.do(s.cancel)
			a := s.load()
			want := &Ended{As: TaskCancelled, By: requester, At: s.head.ChangedAt, Reason: ReasonByPerson}
			expect.Same(t, want, a.Head.Ended)
			if a.Head.Parked != nil || a.Head.PausedUntil != nil {
				t.Errorf("still parked or paused: %+v", a.Head)
			}
			if a.Task != nil && a.Task.Status != TaskCancelled {
				t.Errorf("the task is %s", a.Task.Status)
			}
			for key, r := range a.Rows() {
				if status, _, _ := gateOf(r); status == aggregate.PendingApproval {
					t.Errorf("%s waits still", key)
				}
			}
			actions := []aggregate.Action{AuditTaskCancelled}
			if e := a.Execution(); e != nil {
				actions = []aggregate.Action{AuditExecutionCancelled, AuditTaskCancelled}
				if e.Status != ExecutionCancelled || e.CancelledBy != requester || !e.CancelledAt.Equal(s.head.ChangedAt) {
					t.Errorf("the execution is %s by %q", e.Status, e.CancelledBy)
				}
				if len(e.Results) != len(before.StepsOf(before.Execution())) {
					t.Errorf("keeps %d results of %d steps", len(e.Results), len(before.StepsOf(before.Execution())))
				}
			}
			var got []aggregate.Action
			for _, entry := range s.audit[len(s.audit)-len(actions):] {
				got = append(got, entry.Action)
			}
			expect.Same(t, actions, got)
			s.nothing(s.cancel)
			s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.End(person(suzuki), s.policy, now)
			},
				aggregate.ErrDecided{Status: "cancelled", By: requester, At: s.head.Ended.At, Reason: ReasonByPerson})
		})
	}
}

func TestCancellingOverACallThatIsOutTellsItsOutcomeLater(t *testing.T) {
	over := func(t testing.TB) *story {
		s := running(t)
		return s.do(s.claim, s.finish(done), s.claim, s.cancelExecution)
	}
	status := func(s *story) StepStatus { return s.load().Execution().Results[1].Status }

	t.Run("while it is out, no other call begins and nothing is settled", func(t *testing.T) {
		s := over(t)
		if got := status(s); got != StepRunning {
			t.Errorf("kept as %s", got)
		}
		s.refused(s.claim, aggregate.ErrSuperseded)
		s.refused(s.settle, aggregate.ErrInFlight)
	})
	t.Run("it answers", func(t *testing.T) {
		s := over(t)
		s.do(s.finish(done))
		if got := status(s); got != StepCompleted {
			t.Errorf("kept as %s", got)
		}
		s.refused(s.settle, aggregate.ErrNotDue)
	})
	t.Run("it never answers", func(t *testing.T) {
		s := over(t)
		s.now = s.now.Add(2 * time.Minute)
		s.do(s.settle)
		if got := status(s); got != StepUnknown {
			t.Errorf("kept as %s", got)
		}
		s.refused(s.settle, aggregate.ErrNotDue)
	})
	t.Run("it answers after all", func(t *testing.T) {
		s := over(t)
		s.now = s.now.Add(2 * time.Minute)
		s.do(s.settle, s.finish(failed))
		if got := status(s); got != StepFailed {
			t.Errorf("kept as %s", got)
		}
		if e := s.load().Execution(); e.Status != ExecutionCancelled || s.head.Ended.As != TaskCancelled {
			t.Errorf("execution %s, ended %+v", e.Status, s.head.Ended)
		}
	})
}

func TestTheCancelButtonOfAnOldAttemptSaysSo(t *testing.T) {
	s := running(t)
	old := s.load().Execution().ID
	s.do(s.claim, s.finish(failed), s.fail, s.retry)
	s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.CancelExecution(old, person(suzuki), s.policy, now)
	}, aggregate.ErrNotLatest{Latest: 2})
	s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.CancelExecution("01JS0000000000000000000000", person(suzuki), s.policy, now)
	}, aggregate.ErrNotFound)
}

func TestAGateExpiresAfterItsTimeAndNotBefore(t *testing.T) {
	for name, from := range map[string]func(testing.TB) *story{"prompt": waitingPrompt, "process": waitingProcess, "step": waitingStep} {
		t.Run(name, func(t *testing.T) {
			s := from(t)
			open, _ := s.load().OpenGate()
			s.refused(s.expire, aggregate.ErrNotDue)
			s.now = *open.Terms.DecideBy
			s.refused(s.expire, aggregate.ErrNotDue)
			s.now = s.now.Add(time.Millisecond)
			s.do(s.expire)
			a := s.load()
			status, v, _ := gateOf(a.Rows()[open.Key])
			if status != aggregate.Expired || v != (aggregate.Verdict{}) {
				t.Errorf("the gate is %s, %+v", status, v)
			}
			want := &Ended{As: TaskCancelled, At: s.head.ChangedAt, Reason: ReasonExpired}
			expect.Same(t, want, a.Head.Ended)
			last := s.audit[len(s.audit)-1]
			if last.Action != AuditTaskExpired || last.ActorType != aggregate.ActorSystem || last.Details != `{"hours":168}` {
				t.Errorf("recorded %+v", last)
			}
			if e := a.Execution(); e != nil && (e.Status != ExecutionCancelled || last.ResourceID != e.ID) {
				t.Errorf("execution %s, recorded for %s", e.Status, last.ResourceID)
			}
			s.refused(s.expire, aggregate.ErrNotDue)
		})
	}
}

func TestUntilTheSweeperExpiresAGateAClickCounts(t *testing.T) {
	s := waitingPrompt(t)
	s.now = s.now.Add(200 * time.Hour)
	saw := s.load()
	expiry := expect.Value(saw.Expire(s.now))(t)
	s.do(s.approvePrompt)
	if err := s.commit(saw.Head, expiry); err == nil {
		t.Error("the expiry commits over the approval")
	}
	s.refused(s.expire, aggregate.ErrNotDue)
	if got := s.load().Prompt().Status; got != aggregate.Approved {
		t.Errorf("the prompt is %s", got)
	}
}
