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
			expect.That(t, a.Head.Parked == nil && a.Head.PausedUntil == nil, "still parked or paused: %+v", a.Head)
			expect.That(t, a.Task == nil || a.Task.Status == TaskCancelled, "the task: %+v", a.Task)
			for key, r := range a.Rows() {
				status, _, _ := gateOf(r)
				expect.That(t, status != aggregate.PendingApproval, "%s waits still", key)
			}
			actions := []aggregate.Action{AuditTaskCancelled}
			if e := a.Execution(); e != nil {
				actions = []aggregate.Action{AuditExecutionCancelled, AuditTaskCancelled}
				expect.That(t, e.Status == ExecutionCancelled && e.CancelledBy == requester &&
					e.CancelledAt.Equal(s.head.ChangedAt), "the execution is %s by %q", e.Status, e.CancelledBy)
				expect.That(t, len(e.Results) == len(before.StepsOf(before.Execution())), "keeps %d results of %d steps",
					len(e.Results), len(before.StepsOf(before.Execution())))
			}
			var got []aggregate.Action
			for _, entry := range s.audit[len(s.audit)-len(actions):] {
				got = append(got, entry.Action)
			}
			expect.Same(t, actions, got)
			s.nothing(s.cancel)
			s.refused(s.ends(person(suzuki)),
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
		expect.Is(t, status(s), StepRunning, "kept as")
		s.refused(s.claim, aggregate.ErrSuperseded)
		s.refused(s.settle, aggregate.ErrInFlight)
	})
	t.Run("it answers", func(t *testing.T) {
		s := over(t)
		s.do(s.finish(done))
		expect.Is(t, status(s), StepCompleted, "kept as")
		s.refused(s.settle, aggregate.ErrNotDue)
	})
	t.Run("it never answers", func(t *testing.T) {
		s := over(t)
		s.now = s.now.Add(2 * time.Minute)
		s.do(s.settle)
		expect.Is(t, status(s), StepUnknown, "kept as")
		s.refused(s.settle, aggregate.ErrNotDue)
	})
	t.Run("it answers after all", func(t *testing.T) {
		s := over(t)
		s.now = s.now.Add(2 * time.Minute)
		s.do(s.settle, s.finish(failed))
		expect.Is(t, status(s), StepFailed, "kept as")
		if e := s.load().Execution(); e.Status != ExecutionCancelled || s.head.Ended.As != TaskCancelled {
			t.Errorf("execution %s, ended %+v", e.Status, s.head.Ended)
		}
	})
}

func TestTheCancelButtonOfAnOldAttemptSaysSo(t *testing.T) {
	s := running(t)
	old := s.load().Execution().ID
	s.do(s.claim, s.finish(failed), s.fail, s.retry)
	s.refused(s.cancels(old, person(suzuki)), aggregate.ErrNotLatest{Latest: 2})
	s.refused(s.cancels("01JS0000000000000000000000", person(suzuki)), aggregate.ErrNotFound)
}

func TestAGateExpiresAfterItsTimeAndNotBefore(t *testing.T) {
	for name, from := range map[string]func(testing.TB) *story{"prompt": waitingPrompt, "process": waitingProcess,
		"step": waitingStep} {
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
			expect.That(t, status == aggregate.Expired && v == (aggregate.Verdict{}), "the gate is %s, %+v", status, v)
			want := &Ended{As: TaskCancelled, At: s.head.ChangedAt, Reason: ReasonExpired}
			expect.Same(t, want, a.Head.Ended)
			last := s.audit[len(s.audit)-1]
			expect.That(t, last.Action == AuditTaskExpired && last.ActorType == aggregate.ActorSystem &&
				last.Details == `{"hours":168}`, "recorded %+v", last)
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
	err := s.commit(saw.Head, expiry)
	expect.That(t, err != nil, "the expiry commits over the approval")
	s.refused(s.expire, aggregate.ErrNotDue)
	expect.Is(t, s.load().Prompt().Status, aggregate.Approved, "the prompt")
}

// undecidable lists only the requester as approver, who may not approve.
func (s *story) undecidable() *story {
	s.settings.AllowSelfApproval, s.settings.Approvers.Mode, s.settings.Approvers.Users = false, aggregate.ApproversList,
		[]string{requester}
	return s
}

func (s *story) parkedForNobody(when string) {
	s.t.Helper()
	a := s.load()
	parked := a.Head.Parked != nil && a.Head.Parked.Sentence == ReasonNobodyApproves
	expect.Must(s.t, parked && a.WaitingTerms() == nil, "%s: parked %+v, asked %+v", when, a.Head.Parked, a.WaitingTerms())
}

// If settings change while a model drafts, no gate opens that nobody may approve.
func TestNoGateOpensForNobody(t *testing.T) {
	s := begin(t).do(extracts(Extract{Title: "x", Description: "x", Priority: High, TaskType: TypeStandard}))
	s.undecidable().do(s.finishPrompt)
	s.parkedForNobody("the policy")
	s.settings.Approvers.Users = []string{requester, suzuki}
	s.do(s.retryGeneration, s.finishPrompt, s.approvePrompt).undecidable().do(s.finishProcess)
	s.parkedForNobody("the steps")
	s.settings.Approvers.Usergroups = []string{"S1"} // only Slack knows the group's members
	s.do(s.retryGeneration, s.finishProcess)
	a := s.load()
	expect.That(t, a.Head.Parked == nil && a.WaitingTerms() != nil, "parked %+v", a.Head.Parked)
}

// A retry that finds no possible approver asks no model, and does not count.
func TestATryThatFindsNobodyIsGivenBack(t *testing.T) {
	s := begin(t)
	s.do(s.extract).undecidable()
	again := func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.ParkUndecidable(s.head.Run, s.settings, now)
	}
	s.do(again)
	for range MaxRetries + 2 {
		s.do(s.retryGeneration, again)
	}
	expect.Is(t, s.load().Head.Retries, 0, "tries used up")
	for range MaxRetries {
		s.do(s.retryGeneration, s.park)
	}
	s.refused(s.retryGeneration, ErrMaxRetries)
}
