package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/clock"
)

// closeTries is how often an invocation tells a session to stop and reads its cost. After that the run waits for
// closeAgain.
const closeTries, closeAgain = 3, 5 * time.Minute

// Sessions manages sessions of managed agents.
type Sessions interface {
	CreateAgent(ctx context.Context, tenant, model string) (provider.Place, error)
	ArchiveAgent(ctx context.Context, p provider.Place) error
	Find(ctx context.Context, at provider.Place, tags map[string]string, since time.Time) (id string, err error)
	Start(ctx context.Context, at provider.Place, p provider.SessionPlan) (id string, err error)
	Discard(ctx context.Context, session string) error
	Poll(ctx context.Context, session string) (provider.SessionState, error)
	Say(ctx context.Context, session, text string) error
	Answer(ctx context.Context, session, request, text string, failed bool) error
	Interrupt(ctx context.Context, session string) error
	Bill(ctx context.Context, session string) (u aggregate.Usage, running bool, err error)
}

// sessionJob is one invocation's work with a session. All of its state can be read again: the next step follows from
// the rows and the session's events.
type sessionJob struct {
	*job
	invocation   string
	until        time.Time
	lease        time.Time // when this invocation's lease ends
	failing      time.Time // since when every request to the vendor has failed; zero after a success
	agentCreated bool      // this invocation has created an agent for the tenant
	closing      int
	interrupted  string // id of the session that was told to stop
}

func (j *job) sessionJob(a *task.Aggregate) *sessionJob {
	s := &sessionJob{job: j, invocation: j.NewID(), until: j.Now().Add(j.PollFor)}
	if since := a.SessionLease(a.Execution()).Failing; since != nil {
		s.failing = *since
	}
	return s
}

// turn does one thing: it creates the session, sends it the steps, makes or answers one call, waits, or ends the
// execution. It returns the task after its commit, or nil if the rows must be read again. A StopError means that the
// execution must fail.
func (j *sessionJob) turn(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	if a.OpenSession() != nil {
		return j.close(ctx, a)
	}
	e, now := a.Execution(), j.Now()
	lease := a.SessionLease(e)
	if e.Status == task.ExecutionPending {
		return pipeline.Numbering(ctx, j.Store, j.in.Ref(), func(of task.Series) (*task.Aggregate, error) {
			return j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
				return a.StartExecution(j.in.Run, of, j.Now())
			})
		})
	}
	step := a.NextStep(e)
	if step != nil {
		if err := a.Outstanding(e, step.Order, now); err != nil {
			return nil, err
		}
	}
	switch late := a.TimeUp(e, now); {
	case late && step == nil: // all steps completed: a late summary doesn't fail the execution
		return j.finish(ctx, a, "")
	case late:
		return nil, task.StopError{Reason: task.ReasonTimeout, Detail: fmt.Sprint(e.Terms.L4TimeoutSeconds)}
	case lease.Invocation != j.invocation || lease.LeaseUntil.Sub(now) < j.HoldFor/2:
		l, err := a.HoldSession(j.in.Run, j.invocation, now.Add(j.HoldFor), now)
		return nil, j.keep(ctx, a, l, err)
	case !now.Before(j.until) || timeLeft(ctx) < 2*minTurn:
		return j.leaveForLater(ctx, a, j.PollEvery)
	}
	j.lease = lease.LeaseUntil
	if e.SessionID == "" {
		return j.open(ctx, a)
	}
	within, cancel := j.inLease(ctx)
	s, err := j.Sessions.Poll(within, e.SessionID)
	cancel()
	if err == nil {
		j.failing = time.Time{}
	}
	switch {
	case err != nil:
		return j.later(ctx, a, err)
	case !s.Told:
		return j.sendSteps(ctx, a)
	case s.Stop != "":
		return j.stopped(ctx, a, s)
	case len(s.ToolRequests) > 0:
		a, err = j.consider(ctx, a, s.ToolRequests)
		if a == nil || a.Next(now).State != task.StateAwaitStepApproval {
			return a, err
		}
		return a, j.release(ctx, a, 0) // the invocation after the decision need not wait for the lease
	}
	return j.wait(ctx, a, j.PollEvery)
}

// stopped ends the execution once its session has stopped. If all steps completed, it completes the execution, whatever
// stopped the session. Otherwise its StopError says why the session stopped.
func (j *sessionJob) stopped(ctx context.Context, a *task.Aggregate,
	s provider.SessionState) (*task.Aggregate, error) {
	slog.InfoContext(ctx, "the session stopped", "task_id", j.in.Task, "stop", s.Stop, "calls", s.Calls)
	notDone := a.NotDone(a.Execution())
	switch {
	case notDone == nil:
		return j.finish(ctx, a, s.Said)
	case s.Stop == provider.StopDone:
		return nil, notDone
	case s.Stop == provider.StopBudget:
		return nil, task.StopError{Reason: task.ReasonCostLimit}
	case s.Stop == provider.StopRefused:
		return nil, task.StopError{Reason: task.ReasonModelRefused}
	}
	return nil, task.StopError{Reason: task.ReasonSessionEnded}
}

// finish completes the execution with the session's summary, or without one with the names of the steps.
func (j *sessionJob) finish(ctx context.Context, a *task.Aggregate, said string) (*task.Aggregate, error) {
	words := model.SessionSummary(said)
	if words == "" {
		words = model.Plain(j.summaryInput(ctx, a))
	}
	return j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(j.in.Run, words, j.Now())
	})
}

// close tells the session of an ended execution to stop, and charges the task for it. If the session still runs, close
// is called again later. If the vendor doesn't know the session or our key, or doesn't answer for task.MaxClosing, the
// task is charged the most that the session may have cost.
func (j *sessionJob) close(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	e := a.OpenSession()
	j.closing++
	usage, running, err := j.Sessions.Bill(ctx, e.SessionID)
	billed := err == nil
	if usage.Unpriced > 0 {
		if cost, known := tenancy.Cost(usage, j.settings.Prices); known {
			usage.Cost, usage.Unpriced = cost, 0
		}
	}
	if (!billed || running || e.Status != task.ExecutionCompleted) && j.interrupted != e.SessionID {
		stopped := j.Sessions.Interrupt(ctx, e.SessionID)
		switch {
		case stopped == nil:
			j.interrupted, running = e.SessionID, true // the bill lacks the work in progress: read it again
		case running || model.Failure(stopped).Transient:
			err = errors.Join(err, stopped)
		}
	}
	switch {
	case err == nil && !running:
		return j.closed(ctx, a, usage)
	case err != nil && !model.Failure(err).Transient, e.ClosingOver(j.Now()):
		slog.ErrorContext(ctx, "nobody knows what a session came to", "task_id", j.in.Task, "session_id", e.SessionID, "err",
			err)
		if !billed {
			usage = e.Unbilled()
		}
		return j.closed(ctx, a, usage)
	}
	slog.WarnContext(ctx, "a session is not closed", "task_id", j.in.Task, "session_id", e.SessionID, "running", running,
		"err", err)
	asked := model.Failure(err).RetryAfter
	if asked == 0 && j.closing < closeTries && clock.LastsFor(ctx, j.PollEvery) {
		return a, nil
	}
	j.closing = 0
	l, err := a.DeferClose(j.in.Run, j.invocation, j.Now().Add(pipeline.RetryDelay(asked, 0, closeAgain)), j.Now())
	return nil, j.keep(ctx, a, l, err)
}

func (j *sessionJob) closed(ctx context.Context, a *task.Aggregate, u aggregate.Usage) (*task.Aggregate, error) {
	j.closing = 0
	return pipeline.Charged(ctx, j.Store, a, u, j.Now(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CloseSession(j.in.Run, j.Now())
	})
}

// later waits after a failed request, as pipeline.RetryDelay says but not past the execution's time limit. The next
// turn learns from the session's events whether the request was handled. It returns a StopError if trying again would
// not help.
func (j *sessionJob) later(ctx context.Context, a *task.Aggregate, err error) (*task.Aggregate, error) {
	f := model.Failure(err)
	slog.WarnContext(ctx, "session", "task_id", j.in.Task, "err", err, "retry_after_ms", f.RetryAfter.Milliseconds())
	if !f.Transient {
		return nil, task.StopError{Reason: f.Reason, Detail: f.Detail}
	}
	now := j.Now()
	if j.failing.IsZero() {
		j.failing = now
	}
	wait := pipeline.RetryDelay(f.RetryAfter, now.Sub(j.failing), j.PollEvery)
	wait = max(min(wait, a.Deadline(a.Execution()).Sub(now)), j.PollEvery)
	if now.Add(wait).After(j.until) || timeLeft(ctx) < wait+2*minTurn {
		return j.leaveForLater(ctx, a, wait)
	}
	return j.wait(ctx, a, wait)
}

// wait sleeps for d. It returns a if the task's revision is unchanged, else nil, so that the rows are read again.
func (j *sessionJob) wait(ctx context.Context, a *task.Aggregate, d time.Duration) (*task.Aggregate, error) {
	j.used = true
	if !clock.LastsFor(ctx, d) {
		return nil, ctx.Err()
	}
	head, err := j.Store.Head(ctx, a.Ref())
	if err == nil && head.Rev == a.Head.Rev {
		return a, nil
	}
	return nil, nil
}

// leaveForLater releases the lease and parks the run. A later invocation continues after d, but at least after a
// second, since the state machine waits in whole seconds.
func (j *sessionJob) leaveForLater(ctx context.Context, a *task.Aggregate, d time.Duration) (*task.Aggregate, error) {
	return nil, j.release(ctx, a, max(d, time.Second))
}

// release gives up the lease, and prevents new leases on the session for d.
func (j *sessionJob) release(ctx context.Context, a *task.Aggregate, d time.Duration) error {
	l, err := a.ReleaseSession(j.in.Run, j.invocation, j.Now().Add(d), j.failing)
	return j.keep(ctx, a, l, err)
}

// keep saves a lease, unless it is nil or err is set.
func (j *sessionJob) keep(ctx context.Context, a *task.Aggregate, l *aggregate.Lease, err error) error {
	if l == nil || err != nil {
		return err
	}
	return j.Store.PutLease(ctx, a, l)
}

// leaseSpare: a call must end when a tenth of the lease is left, so that no call is in progress when the lease ends.
const leaseSpare = 10

// inLease is for one call to the vendor, which ends before the lease: it never overlaps with one of the next
// invocation. If it was cut off, the session's events tell the next turn whether it arrived.
func (j *sessionJob) inLease(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, j.lease.Sub(j.Now())-j.HoldFor/leaseSpare)
}
