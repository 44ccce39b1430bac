package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestAStepThatMustBeLookedAtRunsOnlyWithWhatWasSeen(t *testing.T) {
	claimWith := func(arguments string, needs bool) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			c := call(a, now)
			c.Arguments, c.ArgumentsHash, c.NeedsGate = aggregate.Blob{JSON: aggregate.JSON(arguments)}, aggregate.HashOf(arguments), needs
			return a.ClaimStep(1, c, now)
		}
	}
	shown := `{"month":4}`

	s := checked(t)
	s.refused(claimWith(shown, false), aggregate.ErrMoved) // even if the caller did not ask for a gate
	current := func(want int) {
		t.Helper()
		a := s.load()
		expect.Is(t, a.CurrentStep(a.Execution()), want, "at step")
	}
	current(1)
	s.do(s.openGate)
	current(2)
	s.refused(claimWith(shown, true), aggregate.ErrMoved)
	s.nothing(s.openGate)
	s.do(s.approveStep)
	stops(t, s, claimWith(`{"month":5}`, true), ReasonStepsChanged)
	s.do(claimWith(shown, true), s.finish(done))

	t.Run("a gate that was opened counts, whoever wanted it", func(t *testing.T) {
		s := running(t)
		s.do(s.openGate)
		s.refused(claimWith(shown, false), aggregate.ErrMoved)
		s.do(s.approveStep)
		stops(t, s, claimWith(`{"month":5}`, false), ReasonStepsChanged)
		s.do(claimWith(shown, false))
	})
	t.Run("no gate opens for a call that has begun", func(t *testing.T) {
		s := running(t)
		s.do(s.claim)
		s.refused(s.openGate, aggregate.ErrMoved)
	})
	t.Run("nor for another step", func(t *testing.T) {
		s := running(t)
		s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.OpenStepGate(1, 2, aggregate.Blob{}, "", now)
		}, aggregate.ErrMoved)
	})
}

func TestWhichStepsNeedALook(t *testing.T) {
	for _, tt := range []struct {
		name    string
		step    Step
		auto    bool
		dynamic bool
		want    bool
	}{
		{"a read", Step{Access: aggregate.Read}, true, false, false},
		{"a write", Step{Access: aggregate.Write}, true, false, false},
		{"a read that asks for it", Step{Access: aggregate.Read, RequiresHumanCheck: true}, true, false, true},
		{"a write, when tools are not approved by themselves", Step{Access: aggregate.Write}, false, false, true},
		{"a read, when tools are not approved by themselves", Step{Access: aggregate.Read}, false, false, false},
		{"a write to where an earlier result says", Step{Access: aggregate.Write}, true, true, true},
		{"a read from where an earlier result says", Step{Access: aggregate.Read}, true, true, false},
	} {
		expect.Is(t, NeedsGate(tt.step, aggregate.Terms{AutoApproveTools: tt.auto}, tt.dynamic), tt.want, "%s", tt.name)
	}
}

func TestARejectedStepEndsTheTaskAndKeepsWhatIsDone(t *testing.T) {
	s := waitingStep(t)
	s.do(s.rejectStep)
	a := s.load()
	if e := a.Head.Ended; e == nil || e.As != TaskCancelled || e.By != suzuki || e.Reason != ReasonStepRejected {
		t.Errorf("ended %+v", e)
	}
	if e := a.Execution(); e.Status != ExecutionCancelled || len(e.Results) != 1 || e.Results[0].Status != StepCompleted {
		t.Errorf("execution %s, results %+v", e.Status, e.Results)
	}
	g := a.Gates[0]
	expect.Is(t, g.RejectionReason, "宛先が違う", "reason")
}

func TestAGateBelongsToItsAttempt(t *testing.T) {
	s := waitingStep(t)
	s.do(s.approveStep, s.claim, s.finish(failed), s.fail, s.retry, s.start)
	s.refused(s.claim, aggregate.ErrMoved)
	s.do(s.openGate)
	open, waits := s.load().OpenGate()
	expect.That(t, waits && open.Key == GateKey(1, 2, 2) && open.Kind == CardStep, "%+v waits: %v", open, waits)
	first := s.load().Gates[0]
	s.refused(buttons["approve"](s, first.ID, person(tanaka)), aggregate.ErrDecided{Status: "approved", By: suzuki, At: *first.ApprovedAt})
}

func TestNothingFailsBehindAPersonsBackWhileAGateWaits(t *testing.T) {
	s := waitingStep(t)
	s.nothing(s.fail)
	s.nothing(s.giveUp)
	_, err := s.load().RestartRun(1, s.now)
	expect.Fails(t, err, aggregate.ErrSuperseded, "restart")
	s.do(s.approveStep)
}
