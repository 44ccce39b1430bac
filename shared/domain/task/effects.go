package task

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

func (a *Aggregate) Effects(now time.Time) aggregate.Effects {
	var out aggregate.Effects
	if a.work(now) {
		out.Run = &aggregate.Run{
			Name:  fmt.Sprintf("%s-%d", a.Head.TaskID, a.Head.Run),
			Input: fmt.Sprintf(`{"tenant":%q,"task":%q,"run":%d}`, a.Head.TenantID, a.Head.TaskID, a.Head.Run),
			Run:   a.Head.Run,
		}
	}
	out.Make, out.Tell = a.contests(now)
	for _, w := range a.Waits {
		if w.Run != a.Head.Run || !a.Awaits(w.Gate) {
			out.Wake = append(out.Wake, w)
		}
	}
	out.Cards, _ = aggregate.Drawing(a, a.behind(), a.WaitingTerms() != nil, now)
	out.Progress = a.progress()
	return out
}

// behind reports whether the cards in Slack are older than the rows. A request that was accepted by its first change
// looks as before, so nothing is drawn for that once its card is posted.
func (a *Aggregate) behind() bool {
	c, rev := a.Card("CARD#"+string(CardTask)), a.Head.Rev
	if rev == 2 && a.Head.AcceptedAt != nil && c != nil && c.State == aggregate.CardPosted {
		rev--
	}
	return a.Head.ShownRev < rev
}

// progress returns how many of the newest revisions only show how far a running execution has come.
func (a *Aggregate) progress() int {
	e := a.Execution()
	if e == nil || e.Status != ExecutionRunning || a.Head.Ended != nil || a.Head.Parked != nil || a.WaitingTerms() != nil {
		return 0
	}
	since := 0
	for _, row := range a.Rows() {
		switch row.(type) {
		case *Execution, *StepResult:
		default:
			since = max(since, row.Revision())
		}
	}
	return max(0, a.Head.Rev-since)
}

// work reports whether a run has something to do at now, apart from waiting.
func (a *Aggregate) work(now time.Time) bool {
	if a.Head.Ended != nil {
		return a.closing(now)
	}
	switch n := a.Next(now); n.State {
	case StateFinish, StateFail, StateAwaitContest, StatePause:
		return false
	case StateAwaitPromptApproval, StateAwaitProcessApproval, StateAwaitStepApproval:
		open, _ := a.OpenGate()
		return !open.Terms.ApprovalRequired
	}
	return true
}

// Stuck reports whether a run has had work for aggregate.StuckAfter without a change to the task. Pauses don't count,
// and neither does time in which an invocation holds the session's lease. A stuck run is restarted even if it looks
// open.
func (a *Aggregate) Stuck(now time.Time) bool {
	since := a.workedAt(a.sessionAt())
	if until := a.Head.PausedUntil; until != nil && until.After(since) {
		since = *until
	}
	return a.work(now) && now.Sub(since) > aggregate.StuckAfter
}

// OverLimit reports whether the execution's time is up and no call is under way. It is false if all steps have
// completed, because then only the end is missing.
func (a *Aggregate) OverLimit(now time.Time) bool {
	e := a.Execution()
	if e == nil || e.Status != ExecutionRunning || a.LiveLease(now) != nil {
		return false
	}
	_, waits := a.OpenGate()
	return !waits && a.NextStep(e) != nil && a.TimeUp(e, now)
}

// DueAt returns when the sweeper must look again; nil if no effect is pending.
func (a *Aggregate) DueAt(now time.Time) *time.Time {
	asked := a.WaitingTerms()
	_, due := aggregate.Drawing(a, a.behind(), asked != nil, now)
	by := func(t time.Time) { due = aggregate.Sooner(due, t) }
	soon := now.Add(5 * time.Minute)
	if begin, withdraw := a.contests(now); len(begin)+len(withdraw) > 0 {
		by(soon)
	}
	_, waits := a.OpenGate()
	lease := a.LiveLease(now)
	polled, held := a.leased(a.sessionAt(), "", now)
	switch {
	case a.Head.Ended != nil:
		for _, s := range a.Steps { // calls that were under way when the task ended
			if s.Status == StepRunning && s.Claim != nil {
				by(s.Claim.LeaseUntil)
			}
		}
		if until, held := a.leased(a.OpenSession(), "", now); held {
			by(until.Add(closeAfter))
		} else if a.OpenSession() != nil {
			by(soon)
		}
	case a.Head.Parked != nil, a.Returned() != nil && a.LooksAgain() == nil:
	case lease != nil:
		by(lease.Claim.LeaseUntil)
	case !waits && held:
		by(polled)
	case asked != nil && asked.DecideBy != nil:
		by(*asked.DecideBy)
		if a.LooksAgain() != nil {
			by(latest(soon, a.Head.PausedUntil))
		}
	case a.Head.PausedUntil != nil && now.Before(*a.Head.PausedUntil):
		by(*a.Head.PausedUntil)
	default:
		by(soon)
	}
	return due
}

func (a *Aggregate) Overdue(now time.Time) []aggregate.Overdue {
	return []aggregate.Overdue{
		{Decide: aggregate.At(now, (*Aggregate).Expire)},
		{Decide: aggregate.At(now, (*Aggregate).RecordCrashedCalls)},
		{Decide: aggregate.At(now, (*Aggregate).failOverLimit)},
		{Decide: aggregate.At(now, (*Aggregate).loseContest), Repair: true},
		aggregate.Restarting(now, (*Aggregate).Stuck),
	}
}

func (a *Aggregate) failOverLimit(now time.Time) (aggregate.Change, error) {
	if !a.OverLimit(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.FailExecution(a.Head.Run, ReasonTimeout, fmt.Sprint(a.Execution().Terms.L4TimeoutSeconds), now)
}

// RetryGeneration retries a failed generation in a new run. While that runs, a second click changes nothing for the
// same person and returns ErrDecided for anybody else. It returns ErrNothingToRetry if nothing has failed or a retry
// can't help, and ErrMaxRetries after MaxRetries retries.
func (a *Aggregate) RetryGeneration(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if err := p.Retry(by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	switch {
	case a.Head.Ended != nil:
		return aggregate.Change{}, a.ended()
	case a.Head.Parked == nil:
		return aggregate.Change{}, a.Head.Retried.again(by)
	case a.Head.Hopeless():
		return aggregate.Change{}, ErrNothingToRetry
	case !a.Head.RetriesLeft():
		return aggregate.Change{}, ErrMaxRetries
	}
	c := a.begin(now)
	layer := a.Head.Parked.Layer
	a.relyOnStage(c)
	c.progress()
	c.Head.Run++
	c.Head.Retries = a.Head.Retries + 1
	c.Head.Retried = &Retried{By: by.ID, At: c.Now}
	c.Record(&c.Head, by, AuditGenerationRetried, a.Layer().resource(), a.layerID(), map[string]any{"layer": layer})
	return c.done()
}

// RetryExecution starts the next attempt at the same process, with the steps that earlier attempts completed. If it
// finds a write with unknown outcome, it only records that and sets Change.Then to ErrUncovered: the person must check
// and click again. It returns ErrDecided if somebody else was faster, and ErrMaxAttempts if no attempt is left.
func (a *Aggregate) RetryExecution(
	id string, by aggregate.Actor, p aggregate.Policy, now time.Time,
) (aggregate.Change, error) {
	return a.goOn(id, by, p, now, false)
}

// goOn starts the next attempt. arrived: by says that the writes of unknown outcome did.
func (a *Aggregate) goOn(id string, by aggregate.Actor, p aggregate.Policy, now time.Time,
	arrived bool) (aggregate.Change, error) {
	e := a.Execution()
	if e == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if e.ID != id {
		return aggregate.Change{}, a.retried(id, by)
	}
	process := a.ProcessOf(e)
	if process == nil {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	if err := p.RetryFrom(&process.Gate, by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	switch {
	case a.Head.Ended == nil:
		return aggregate.Change{}, ErrNothingToRetry
	case a.Head.Ended.As != TaskFailed:
		return aggregate.Change{}, a.ended()
	case e.Status != ExecutionFailed:
		return aggregate.Change{}, aggregate.ErrConflict
	case !e.AttemptsLeft():
		return aggregate.Change{}, ErrMaxAttempts
	}
	c := a.begin(now)
	a.recordCrashedCalls(c)
	if slices.ContainsFunc(c.Rows, func(r aggregate.Row) bool {
		s, ok := r.(*StepResult)
		return ok && s.Status == StepUnknown
	}) {
		c.Then = aggregate.ErrUncovered
		return c.done()
	}
	if arrived {
		a = a.confirmed(c, by)
	}
	c.progress()
	c.Head.Run++
	c.Head.Ended = nil
	c.moveTask(a.Task, TaskRunning)
	n := &Execution{
		TaskID: e.TaskID, ProcessID: e.ProcessID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt + 1,
		Status:  ExecutionPending,
		Number:  e.Number,
		Results: []ResultEntry{}, RetriedBy: by.ID, CreatedAt: c.Now, Terms: e.Terms,
	}
	n.ID = a.rowID(n.Key(), c.Now)
	c.Put(n)
	for _, step := range process.Steps {
		if done := a.lastDone(e, step.Order); done != nil {
			c.Put(done.carried(n))
		}
	}
	c.RelyOn(e)
	a.relyOnStep(c, e)
	a.relyOnEarlierCalls(c, e)
	c.Record(&c.Head, by, AuditExecutionRetried, "execution", n.ID, map[string]any{"attempt": n.Attempt})
	return c.done()
}
