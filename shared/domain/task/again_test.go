package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func TestASecondWishForTheSameGeneration(t *testing.T) {
	s := begin(t)
	s.refused(s.retryGeneration, ErrNothingToRetry)
	s.do(s.extract, s.park, s.retryGeneration)
	asked := s.head.ChangedAt

	s.nothing(s.retryGeneration)
	_, err := s.load().RetryGeneration(person(suzuki), s.policy, s.now)
	if d := (aggregate.ErrDecided{}); !errors.As(err, &d) || d.Status != "retried" || d.By != requester ||
		!d.At.Equal(asked) {
		t.Errorf("another person is told %v", err)
	}
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
	if e, row := a.Execution(), a.Steps[0]; e.Status != ExecutionFailed || e.Error != ReasonInterruptedRead ||
		row.Status != StepFailed {
		t.Errorf("execution %s for %s, step %s", e.Status, e.Error, row.Status)
	}
	s.do(s.retry, s.start, s.claim) // a person may start over
	if row := s.load().StepOf(s.load().Execution(), 1); row.Crashes != 0 {
		t.Errorf("the next attempt begins with %d crashes", row.Crashes)
	}
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

func TestTimeDoesNotTakeBackWhatWasDone(t *testing.T) {
	s := running(t)
	for range s.steps {
		s.do(s.claim, s.finish(done))
	}
	s.now = s.now.Add(time.Hour)
	expect.That(t, !s.load().OverLimit(s.now), "all steps have completed: only the end is missing")
	s.do(s.complete)
}

func TestAClickThatSeesAnEndHalfWrittenLooksAgain(t *testing.T) {
	s := waitingPrompt(t)
	before := s.load().Head
	id := s.load().Prompt().ID
	s.do(s.cancel)
	a := s.load()
	a.Head = before // the head is from before the commit, the prompt from after it
	for name, press := range buttons {
		_, err := press(s, id, person(suzuki))(a, s.now)
		expect.Fails(t, err, aggregate.ErrConflict, "%s", name)
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
func (s *story) ageing(d time.Duration) *story {
	s.now = s.load().Process().ApprovedAt.Add(d)
	return s
}

func TestWhatWasSettledIsGoodForSomeDays(t *testing.T) {
	for days, s := range map[int]*story{14: settledOnRoute(t), 90: func() *story {
		s := waitingPrompt(t)
		s.settings.ApprovalDays = 90
		s.do(s.approvePrompt, s.finishOn(along(1, desk(1, suzuki))), s.does(circulation.Stamp, suzuki))
		return s.do(s.start)
	}()} {
		good := time.Duration(days) * day
		s.ageing(good)
		_, err := s.claim(s.load(), s.now)
		expect.NoError(t, err)
		s.refused(s.failAs(ReasonApprovalAged, ""), aggregate.ErrMoved)
		s.ageing(good + time.Millisecond)
		_, err = s.claim(s.load(), s.now)
		stop, _ := errors.AsType[StopError](err)
		expect.That(t, stop.Reason == ReasonApprovalAged && stop.Detail == map[int]string{14: "14", 90: "90"}[days],
			"after %d days: %v", days, err)
		s.do(s.failAs(stop.Reason, stop.Detail))
		expect.That(t, s.load().Status() == StatusFailed && s.head.Noted == StatusFailed, "%s", s.load().Status())
	}
	s := running(t)
	s.ageing(400 * day).do(s.claim) // without a rule
}

// A call that began goes on, as one whose read crashed is made again.
func TestACallThatBeganDoesNotAge(t *testing.T) {
	s := settledOnRoute(t)
	s.do(s.claim)
	s.ageing(15 * day)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c := call(a, now)
		c.Claim.Invocation = "another"
		return a.ClaimStep(s.head.Run, c, now)
	})
}

// A further attempt asks nobody anew: people ask for it once more.
func TestARetryOfWhatWasSettledTooLongAgoIsRefused(t *testing.T) {
	s := settledOnRoute(t)
	s.do(s.claim, s.finish(failed), s.fail).ageing(13 * day)
	s.do(s.retry, s.start, s.claim, s.finish(failed), s.fail).ageing(15 * day)
	s.do(s.retry, s.start)
	stops(t, s, s.claim, ReasonApprovalAged)
	s.do(s.failAs(ReasonApprovalAged, "14"))
	expect.That(t, s.load().Status() == StatusFailed, "%s", s.load().Status())
}
