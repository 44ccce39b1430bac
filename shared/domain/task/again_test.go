package task

import (
	"errors"
	"slices"
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
	s.do(asks(1, beside()))
	s.now = s.now.Add(time.Hour)
	s.do(asRequest(s, person(requester)))
	expect.That(t, since().Equal(*s.load().Choice.DecidedAt), "a message that turned out to be a request: since %v",
		since())
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

// askedAgain returns a task whose second attempt waits for a route.
func askedAgain(t testing.TB) *story {
	s := settledOnRoute(t)
	s.do(s.claim, s.finish(done)).ageing(15 * day)
	return s.do(s.failAs(ReasonApprovalAged, "14"), s.retry)
}

// settledAgain returns a task whose second attempt was settled 15 days after the first.
func settledAgain(t testing.TB) *story {
	s := askedAgain(t)
	s.do(s.openOn(AgainKey(1, 2), along(2, desk(1, ito), desk(1, suzuki))))
	return s.do(s.does(circulation.Stamp, ito), s.does(circulation.Stamp, suzuki))
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
		expect.That(t, s.load().Status() == StatusToRetry && s.head.Noted == StatusToRetry, "%s", s.load().Status())
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

func TestARetryAsksAgainAboutWhatWasSettledTooLongAgo(t *testing.T) {
	s := askedAgain(t)
	a, key := s.load(), AgainKey(1, 2)
	g, _ := a.Unrouted().(*Again)
	expect.Must(t, g != nil && g.Key() == key && g.Status == aggregate.Generating && !g.Ruled(), "%+v", g)
	expect.That(t, a.Card("CARD#process#0001#002") != nil, "no card asks")
	expect.That(t, a.Next(s.now) == aggregate.Next{State: StatePause, WaitSeconds: 1} && a.Effects(s.now).Run != nil,
		"%+v", a.Next(s.now))
	expect.That(t, a.Status() == StatusRunning && s.head.Noted == StatusRunning, "%s", a.Status())
	s.refused(s.start, aggregate.ErrMoved)
	s.refused(s.claim, aggregate.ErrConflict)

	s.do(s.openOn(key, along(2, desk(1, ito), desk(1, suzuki))))
	a = s.load()
	open, waits := a.OpenGate()
	expect.That(t, waits && open.Key == key && open.Kind == CardProcess && open.Version == 1 &&
		open.ID != a.Process().ID, "%+v", open)
	expect.That(t, a.Next(s.now).State == StateAwaitProcessApproval && a.Next(s.now).Gate == key, "%+v", a.Next(s.now))
	expect.That(t, a.Status() == StatusWaits && s.head.Noted == StatusWaits && s.head.WaitsOnRoute() &&
		a.Unrouted() == nil, "%s", a.Status())
	s.refused(s.start, aggregate.ErrMoved)
	s.why(s.does(circulation.SendBack, ito), circulation.WhyNoVersion)
	s.do(s.does(circulation.Stamp, ito), s.does(circulation.Stamp, suzuki))
	a = s.load()
	expect.That(t, a.Status() == StatusRunning && a.Next(s.now).State == StateExecuteProcess && len(s.head.Routes) == 2,
		"%+v", s.head.Routes)
	e := a.Execution()
	expect.That(t, e.Attempt == 2 && e.ProcessID == a.Process().ID && a.StepOf(e, 1).Reused, "%+v", e)
	s.do(s.start)
	expect.Is(t, s.load().NextStep(s.load().Execution()).Order, 2)
	s.do(s.claim, s.finish(done))
	expect.Same(t, s.entries()[3:], []string{"process.routed", "process.stamped", "process.approved"})
}

func TestAClaimLooksAgainAtWhatWasSettledAgain(t *testing.T) {
	for name, change := range map[string]func(s *story, g *Again){
		"the head knows nothing": func(s *story, g *Again) { s.head.Routes = s.head.Routes[:1] },
		"a stamp is gone":        func(s *story, g *Again) { g.Acts = g.Acts[:1] },
		"of another attempt":     func(s *story, g *Again) { g.AskedSum = s.load().Process().AskedSum },
		"good for longer":        func(s *story, g *Again) { g.Terms.ApprovalDays = 90 },
		"no rule":                func(s *story, g *Again) { g.Gate = aggregate.Gate{Status: g.Status} },
	} {
		s := settledAgain(t)
		s.do(s.start)
		g := *s.load().Agains[0]
		change(s, &g)
		s.rows[g.Key()] = &g
		t.Log(name)
		stops(t, s, s.claim, ReasonStepsChanged)
	}
	s := settledAgain(t)
	s.do(s.start)
	delete(s.rows, AgainKey(1, 2))
	stops(t, s, s.claim, ReasonApprovalAged)
}

// What is settled again is good for further attempts, as what was settled first is.
func TestNobodyIsAskedAgainTooSoon(t *testing.T) {
	s := settledOnRoute(t)
	s.do(s.claim, s.finish(failed), s.fail).ageing(13 * day)
	s.do(s.retry, s.start)
	expect.That(t, len(s.load().Agains) == 0, "%+v", s.load().Agains)

	s = settledAgain(t)
	s.do(s.start, s.claim, s.finish(failed), s.fail)
	s.now = s.load().Agains[0].ApprovedAt.Add(13 * day)
	s.do(s.retry, s.start, s.claim, s.finish(failed), s.fail)
	expect.That(t, len(s.load().Agains) == 1 && s.load().Execution().Attempt == 3, "%+v", s.load().Agains)
	s.now = s.load().Agains[0].ApprovedAt.Add(15 * day)
	sum := s.load().Agains[0].AskedSum
	s.do(s.retry)
	s.do(s.openOn(AgainKey(1, 4), along(2, desk(1, ito), desk(1, suzuki))))
	expect.That(t, s.load().Agains[1].AskedSum != sum, "two attempts are asked about by one hash")
}

func TestWhatIsAskedAgainEnds(t *testing.T) {
	cancelling := func(s *story) decision { return s.cancel }
	opened := func() *story {
		s := askedAgain(t)
		return s.do(s.openOn(AgainKey(1, 2), along(2, desk(1, ito), desk(1, suzuki))))
	}
	for name, c := range map[string]struct {
		s      *story
		how    func(s *story) decision
		gate   aggregate.GateStatus
		reason aggregate.Reason
	}{
		"denied": {opened(), func(s *story) decision { return s.does(circulation.Deny, ito) }, aggregate.Rejected,
			ReasonDenied},
		"cancelled": {opened(), cancelling, aggregate.Cancelled, ReasonByPerson},
		"expired": {opened(), func(s *story) decision {
			s.now = s.now.AddDate(0, 0, 8)
			return s.expire
		}, aggregate.Expired, ReasonExpired},
		"cancelled without a route": {askedAgain(t), cancelling, aggregate.Generating, ReasonByPerson},
	} {
		c.s.do(c.how(c.s))
		a := c.s.load()
		expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == c.reason && a.Agains[0].Status == c.gate &&
			a.Execution().Status == ExecutionCancelled && a.Unrouted() == nil, "%s: %+v, %s", name, a.Head.Ended,
			a.Agains[0].Status)
	}
	s := askedAgain(t)
	s.do(s.giveUp)
	expect.That(t, s.load().Status() == StatusToRetry, "nobody may try again: %s", s.load().Status())
	s.do(s.retry)
	expect.That(t, slices.ContainsFunc(s.load().Agains, func(g *Again) bool { return g.Attempt == 3 }), "%+v",
		s.load().Agains)
}
