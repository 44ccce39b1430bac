package task

import (
	"errors"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// inSession begins a task whose steps a managed session carries out.
func inSession(t *testing.T) *story {
	s := begin(t)
	s.settings.Executor = tenancy.ExecutorManaged
	return s.do(s.extract, s.finishPrompt, s.approvePrompt, s.finishProcess, s.approveProcess, s.start)
}

// leasing is a decision of one invocation about the lease of a session.
type leasing func(a *Aggregate, now time.Time) (*aggregate.Lease, error)

// leases makes decisions that must succeed and change only the lease.
func (s *story) leases(ds ...leasing) *story {
	s.t.Helper()
	for i, d := range ds {
		a, rev := s.load(), s.head.Rev
		l, err := d(a, s.now)
		if err == nil && l != nil {
			err = s.putLease(a, l)
		}
		expect.Must(s.t, err == nil && l != nil && s.head.Rev == rev, "lease %d: %+v, %v, rev %d", i+1, l, err, s.head.Rev)
		s.now = s.now.Add(time.Second)
	}
	return s
}

// unleased asserts that d is refused with want.
func (s *story) unleased(d leasing, want error) {
	s.t.Helper()
	l, err := d(s.load(), s.now)
	expect.That(s.t, l == nil && errors.Is(err, want), "%+v, %v, want %v", l, err, want)
	s.now = s.now.Add(time.Second)
}

func hold(by string) leasing {
	return func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
		return a.HoldSession(a.Head.Run, by, now.Add(30*time.Second), now)
	}
}

func bind(id string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.BindSession(a.Head.Run, id, aggregate.USD(0.25), now)
	}
}

func rest(by string) leasing {
	return func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
		return a.ReleaseSession(a.Head.Run, by, now.Add(3*time.Second), time.Time{})
	}
}

func closeSession(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.CloseSession(a.Head.Run, now)
}

func TestOneInvocationPollsASession(t *testing.T) {
	s := inSession(t)
	s.leases(hold("mine"))
	s.unleased(hold("another"), aggregate.ErrInFlight)
	s.unleased(rest("another"), nil)
	expect.Is(t, s.load().Next(s.now), aggregate.Next{State: StatePause, WaitSeconds: 27})
	expect.Is(t, s.load().NextOf("mine", s.now).State, StateExecuteProcess)
	s.leases(hold("mine")) // renewed
	s.now = s.now.Add(31 * time.Second)
	s.leases(hold("another")) // the first invocation died
	s.unleased(hold("mine"), aggregate.ErrInFlight)
}

func TestAnExecutionHasOneSession(t *testing.T) {
	s := inSession(t)
	s.do(bind("first"))
	s.nothing(bind("second"))
	expect.Is(t, s.load().Execution().SessionID, "first")
	entries := s.audit
	n := len(entries)
	expect.That(t, n != 0 && entries[n-1].Action == AuditExecutionStarted &&
		entries[n-1].Details == `{"attempt":1,"session_id":"first"}`, "recorded %+v", entries)
	steps := running(t)
	steps.refused(bind("none"), aggregate.ErrConflict)
}

func TestAPausedSessionIsLeftAloneUntilItsTime(t *testing.T) {
	s := inSession(t)
	s.leases(hold("mine"), rest("mine"))
	a := s.load()
	expect.Is(t, a.NextOf("mine", s.now), aggregate.Next{State: StatePause, WaitSeconds: 2})
	expect.That(t, a.Effects(s.now).Run == nil, "a run is to be started")
	a.Head.ShownRev = a.Head.Rev
	isDue(t, a, s.now, a.SessionLease(a.Execution()).LeaseUntil)
	s.unleased(hold("another"), aggregate.ErrInFlight)
	s.now = s.now.Add(3 * time.Second)
	expect.Is(t, s.load().Next(s.now).State, StateExecuteProcess)
}

// The invocation that polls next is told since when the vendor has delayed everybody.
func TestAPauseRemembersSinceWhenTheVendorFails(t *testing.T) {
	s := inSession(t)
	since := s.now.Add(-time.Hour)
	pause := func(failing time.Time) {
		s.leases(hold("mine"), func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
			return a.ReleaseSession(a.Head.Run, "mine", now.Add(3*time.Second), failing)
		})
		s.now = s.now.Add(3 * time.Second)
	}
	pause(since)
	at := s.load().SessionLease(s.load().Execution()).Failing
	expect.That(t, at != nil && at.Equal(since), "since %v", at)
	pause(time.Time{})
	at = s.load().SessionLease(s.load().Execution()).Failing
	expect.That(t, at == nil, "still since %v", at)
}

func TestASessionIsToldToStopWhenItsTaskIsOver(t *testing.T) {
	s := inSession(t)
	s.nothing(closeSession)
	s.do(bind("first"), s.ends(person(suzuki)))
	a := s.load()
	expect.Is(t, a.Next(s.now).State, StateExecuteProcess)
	expect.That(t, a.Effects(s.now).Run == nil, "a task that is over gets a run")
	s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.CloseSession(2, now) },
		aggregate.ErrSuperseded)
	s.do(closeSession)
	s.nothing(closeSession)
	expect.Is(t, s.load().Next(s.now), aggregate.Next{State: StateFinish, Outcome: "cancelled"})
}

// A run that gave up or died does not leave its session open: another run closes it.
func TestATaskDoesNotRestBeforeItsSessionIsClosed(t *testing.T) {
	s := inSession(t)
	s.leases(hold("mine")).do(bind("first"), s.fail)
	at := s.now
	a := s.drawn()
	expect.Must(t, a.DueAt(at) != nil, "the task rests")
	expect.That(t, a.Effects(at).Run == nil, "another run is started while the one that ended it may be at it")
	restart := s.restarts(1)
	s.refused(restart, aggregate.ErrSuperseded)
	s.now = at.Add(3 * time.Minute)
	r := s.load().Effects(s.now).Run
	expect.Must(t, r != nil && r.Run == 1, "nobody is sent to close it: %+v", r)
	s.do(restart) // that run has ended
	expect.That(t, s.head.Run == 2 && s.head.Ended != nil, "run %d, ended %+v", s.head.Run, s.head.Ended)
	s.do(closeSession)
	a = s.drawn()
	due := a.DueAt(s.now)
	expect.That(t, due == nil && a.OpenSession() == nil, "due at %v, open %v", due, a.OpenSession())
}

func TestASessionThatNobodyCanCloseIsGivenUp(t *testing.T) {
	s := inSession(t)
	s.do(bind("first"), s.fail)
	s.now = s.now.Add(MaxClosing + time.Minute)
	s.do(s.restarts(1))
	if e := s.load().Execution(); !e.SessionClosed || e.Usage == nil || e.Usage.Unpriced != 1 || s.head.Run != 1 {
		t.Errorf("closed %v, %+v, run %d", e.SessionClosed, e.Usage, s.head.Run)
	}
	expect.Is(t, s.load().Spent(), aggregate.USD(0.25), "it might have spent all of its budget")
}

func TestASessionIsClosedBeforeTheNextAttemptBegins(t *testing.T) {
	s := inSession(t)
	s.leases(hold("mine")).do(bind("first"), s.fail, s.retry)
	e := s.load().OpenSession()
	expect.Must(t, e != nil && e.Attempt == 1, "%+v", e)
	expect.Is(t, s.load().Next(s.now).State, StatePause)
	s.now = s.now.Add(time.Minute)
	expect.Is(t, s.load().Next(s.now).State, StateExecuteProcess)
	s.leases(func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
		return a.DeferClose(2, "mine", now.Add(5*time.Minute), now)
	})
	n := s.load().Next(s.now)
	expect.That(t, n.State == StatePause && n.WaitSeconds >= 290, "%+v", n)
	s.now = s.now.Add(5 * time.Minute)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return Charge(aggregate.Usage{ID: "first", Calls: 1, Cost: 7}, now,
			func(a *Aggregate) (aggregate.Change, error) { return a.CloseSession(2, now) })(a)
	})
	if a := s.load(); a.Executions[0].Usage.Cost != 7 || a.Spent() != 7 || a.OpenSession() != nil {
		t.Errorf("%+v, spent %v", a.Executions[0].Usage, a.Spent())
	}
	s.do(s.start, bind("second"))
}

// A pause between polls ends with the attempt, so that the session can be closed at once.
func TestAPauseEndsWithItsExecution(t *testing.T) {
	s := inSession(t)
	s.leases(hold("mine")).do(bind("first")).leases(func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
		return a.ReleaseSession(1, "mine", now.Add(time.Hour), time.Time{})
	}).do(s.fail)
	n := s.load().Next(s.now)
	expect.That(t, n.State == StateExecuteProcess, "%+v", n)
}

// A session works between two polls, so its time counts there, but not while there is no capacity for the next poll.
func TestASessionsTimeWaitsForRoom(t *testing.T) {
	s := inSession(t).leases(hold("a"), rest("a"))
	up := func() bool { a := s.load(); return a.OverLimit(s.now) || a.TimeUp(a.Execution(), s.now) }
	s.now = s.now.Add(2 * time.Hour)
	expect.That(t, !up(), "over while nobody polls it")
	s.leases(hold("b"))
	expect.That(t, !up(), "over when it is polled again")
	for range 18 {
		s.now = s.now.Add(20 * time.Second)
		s.leases(hold("b"))
	}
	expect.That(t, up(), "not over after six minutes of work")
}

func TestAToolRequestIsAnApprovedStepOrDenied(t *testing.T) {
	s := inSession(t)
	fits := func(orders ...int) func(Step) bool {
		return func(x Step) bool { return slices.Contains(orders, x.Order) }
	}
	admit := func(tool string, f func(Step) bool, want int, denial Denial) {
		t.Helper()
		a := s.load()
		got, why := a.Admit(a.Execution(), tool, f)
		expect.That(t, got.Order == want && why == denial, "%s: step %d, %q; want %d, %q", tool, got.Order, why, want, denial)
	}
	admit("list_employees", fits(1), 1, "")
	admit("list_employees", fits(), 0, DeniedArguments)
	admit("write_rows_to_google_sheet", fits(2), 0, DeniedOrder)
	admit("delete_employees", fits(1, 2, 3), 0, DeniedTool)
	s.do(s.claim, s.finish(done))
	admit("list_employees", fits(1), 0, DeniedDone)
	admit("write_rows_to_google_sheet", fits(2), 2, "")
	admit("write_rows_to_google_sheet", fits(), 0, DeniedArguments)
}

func TestACallRemembersTheToolRequestThatItAnswers(t *testing.T) {
	s := inSession(t)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c := call(a, now)
		c.ToolRequest = "w1"
		return a.ClaimStep(1, c, now)
	})
	a := s.load()
	row := a.Granted(a.Execution(), "w1")
	expect.That(t, row != nil && row.Order == 1, "%+v", row)
	expect.That(t, a.Granted(a.Execution(), "w2") == nil && a.Granted(a.Execution(), "") == nil,
		"a request that was not granted is")
}

func TestWhatASessionLeftUndone(t *testing.T) {
	s := inSession(t)
	s.do(s.claim, s.finish(done))
	a := s.load()
	var stop StopError
	err := a.NotDone(a.Execution())
	expect.That(t, errors.As(err, &stop) && stop.Reason == ReasonStepsNotDone && stop.Detail == "2, 3", "%v", err)
}

func TestAnAttemptWaitsForTheSessionBeforeItWithoutBeingStuck(t *testing.T) {
	s := (&Aggregate{Head: Head{Head: aggregate.Head{ChangedAt: time.Unix(0, 0)}},
		Executions: []*Execution{{ProcessVersion: 1, Attempt: 1, Status: ExecutionFailed, SessionID: "s"},
			{ProcessVersion: 1, Attempt: 2, Status: ExecutionPending}},
		Shared: aggregate.Shared{Leases: []*aggregate.Lease{{Of: ExecutionKey(1, 1), LeaseUntil: time.Unix(3600, 0),
			Ended: true}}}})
	expect.That(t, !s.Stuck(time.Unix(3600+60, 0)) && s.Stuck(time.Unix(3600+21*60, 0)),
		"the session's rest counts as nothing done, or nothing ever does")
}
