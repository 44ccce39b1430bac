package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

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
			expect.Same(t, &Ended{As: TaskCancelled, At: s.head.ChangedAt, Reason: ReasonExpired}, a.Head.Ended)
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

func TestASecondWishForTheSameGeneration(t *testing.T) {
	s := begin(t)
	s.refused(s.retryGeneration, ErrNothingToRetry)
	s.do(s.extract, s.park, s.retryGeneration)
	asked := s.head.ChangedAt

	s.nothing(s.retryGeneration)
	_, err := s.load().RetryGeneration(person(suzuki), s.policy, s.now)
	d := (aggregate.ErrDecided{})
	expect.That(t, errors.As(err, &d) && d.Status == "retried" && d.By == requester && d.At.Equal(asked),
		"another person is told %v", err)
	expect.That(t, s.head.Run == 2, "run %d: one request is one run", s.head.Run)

	s.do(s.restart)
	s.nothing(s.retryGeneration) // a dead run does not begin a new generation
	s.do(s.park)
	expect.That(t, s.head.Retried == nil, "a try that failed is remembered: %+v", s.head.Retried)
	s.do(s.retryGeneration, s.finishPrompt)
	s.refused(s.retryGeneration, ErrNothingToRetry)
}

func TestTryingSince(t *testing.T) {
	s := begin(t)
	since := func() time.Time { return s.load().TryingSince() }
	expect.That(t, since().Equal(s.head.CreatedAt), "the first layer: since %v", since())
	s.now = s.now.Add(3 * time.Hour)
	s.do(s.accept)
	expect.That(t, since().Equal(*s.head.AcceptedAt), "a request that waited for Slack: since %v", since())
	s.do(s.extract)
	expect.That(t, since().Equal(s.load().Prompt().CreatedAt), "the second layer: since %v", since())
	s.now = s.now.Add(time.Hour)
	s.do(s.pause)
	expect.That(t, since().Equal(s.load().Prompt().CreatedAt), "a pause begins nothing: since %v", since())
	s.do(s.park, s.retryGeneration)
	expect.That(t, since().Equal(s.head.Retried.At), "a person asked again: since %v", since())
	s.do(s.finishPrompt, s.approvePrompt)
	expect.That(t, since().Equal(s.load().Process().CreatedAt), "the third layer: since %v", since())
}

// A read that kills its function each time must not be repeated forever. Each claim changes the task, and expired
// leases don't count towards the time limit, so neither would stop it.
func TestAReadThatCrashesEachTimeIsGivenUp(t *testing.T) {
	s := running(t)
	for range MaxCrashes {
		s.do(s.claim)
		s.now = s.now.Add(2 * time.Minute)
	}
	stops(t, s, s.claim, ReasonInterruptedRead)
	s.do(s.failAs(ReasonInterruptedRead, "step-1"))
	a := s.load()
	e, row := a.Execution(), a.Steps[0]
	expect.That(t, e.Status == ExecutionFailed && e.Error == ReasonInterruptedRead && row.Status == StepFailed,
		"execution %s for %s, step %s", e.Status, e.Error, row.Status)
	s.do(s.retry, s.start, s.claim) // a person may start over
	row = s.load().StepOf(s.load().Execution(), 1)
	expect.That(t, row.Crashes == 0, "the next attempt begins with %d crashes", row.Crashes)
}

func TestAClaimWhoseAnswerWasLostIsStillTheClaim(t *testing.T) {
	s := running(t)
	held := call(s.load(), s.now)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.ClaimStep(1, held, now) })
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.ClaimStep(1, held, now) })
	s.do(s.finish(done))
	s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.ClaimStep(1, held, now) },
		aggregate.ErrMoved)
}

func TestAClickThatSeesAnEndHalfWrittenLooksAgain(t *testing.T) {
	s := waitingPrompt(t)
	before := s.load().Head
	id := s.load().Prompt().ID
	s.do(s.cancel)
	a := s.load()
	a.Head = before // the head is from before the commit, the prompt from after it
	for name, press := range buttons {
		expect.Fails(t, expect.Err(press(a, id, person(suzuki), s.policy, s.now)), aggregate.ErrConflict, "%s", name)
	}
}

func TestAGenerationIsTriedAgainSoOftenAndNoMore(t *testing.T) {
	s := begin(t)
	s.do(s.extract)
	for range MaxRetries {
		s.do(s.park, s.retryGeneration, s.restart)
	}
	s.do(s.park)
	s.refused(s.retryGeneration, ErrMaxRetries)
	_, err := s.load().RetryGeneration(person(suzuki), s.policy, s.now)
	expect.Fails(t, err, ErrMaxRetries, "somebody else is told")
	other := begin(t)
	other.do(other.extract, other.park, other.retryGeneration, other.finishPrompt)
	expect.That(t, other.head.Retries == 0, "a policy that was made leaves %d tries behind", other.head.Retries)
}

const day = 24 * time.Hour

// settledOnRoute returns a running task whose steps were settled along a route.
func settledOnRoute(t testing.TB) *story {
	s := onRoute(t)
	return s.do(s.does(circulation.Stamp, suzuki), s.does(circulation.Stamp, tanaka), s.start)
}

// ageing moves the clock to this long after the steps were settled.
func (s *story) ageing(d time.Duration) {
	s.now = s.load().Process().ApprovedAt.Add(d)
}

func TestWhatWasSettledIsGoodForSomeDays(t *testing.T) {
	s := settledOnRoute(t)
	good := aggregate.ApprovalDays * day
	s.ageing(good)
	expect.Value(s.claim(s.load(), s.now))(t)
	s.refused(s.failAs(ReasonApprovalAged, ""), aggregate.ErrMoved)
	s.ageing(good + time.Millisecond)
	_, err := s.claim(s.load(), s.now)
	stop, _ := errors.AsType[StopError](err)
	expect.That(t, stop.Reason == ReasonApprovalAged && stop.Detail == "14", "after 14 days: %v", err)
	s.do(s.failAs(stop.Reason, stop.Detail))
	expect.That(t, s.load().Status() == StatusFailed && s.head.Noted == StatusFailed, "%s", s.load().Status())
	s = settledOnRoute(t)
	s.do(s.claim).ageing(15 * day)
	s.do(s.claimsAs("another")) // a call that began goes on, as one whose read crashed is made again
	s = running(t)              // as the settings say
	s.ageing(good + time.Millisecond)
	stops(t, s, s.claim, ReasonApprovalAged)
}
