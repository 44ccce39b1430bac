package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/model"
	"ringi/shared/model/managed"
	"ringi/shared/pipeline"
	"ringi/shared/sleep"
	"ringi/shared/task"
)

// closeTries is how often an invocation asks what a session came to, and tells it to stop, before it rests for closeAgain.
const closeTries, closeAgain = 3, 5 * time.Minute

// Sessions keeps sessions with managed agents; see managed.Client.
type Sessions interface {
	Settle(ctx context.Context, tenant, model string) (managed.Place, error)
	Abandon(ctx context.Context, p managed.Place) error
	Find(ctx context.Context, at managed.Place, tags map[string]string, since time.Time) (id string, err error)
	Start(ctx context.Context, at managed.Place, p managed.Plan) (id string, err error)
	Discard(ctx context.Context, session string) error
	Poll(ctx context.Context, session string) (managed.State, error)
	Say(ctx context.Context, session, text string) error
	Answer(ctx context.Context, session, request, text string, failed bool) error
	Interrupt(ctx context.Context, session string) error
	Bill(ctx context.Context, session string) (u aggregate.Usage, running bool, err error)
}

// host is one invocation at a session. It keeps nothing that it could not read
// again: what is to be done follows from the rows and the session's events.
type host struct {
	*job
	Sessions   Sessions // while the lease lasts
	invocation string
	until      time.Time
	lease      time.Time // the end of its hold
	failing    time.Time // since when the vendor has only put us off; zero when it has not
	settled    bool      // it has made the tenant an agent
	closing    int
	told       string // the session that was told to stop
}

func (j *job) host(e *task.Execution) *host {
	h := &host{job: j, invocation: j.NewID(), until: j.Now().Add(j.PollFor)}
	h.Sessions = leased{j.Sessions, h}
	if e.SessionFailing != nil {
		h.failing = *e.SessionFailing
	}
	return h
}

// turn does one thing: it makes the session, tells it the steps, makes or answers one
// call, waits, or ends the execution. It returns the task as it left it, nil when it
// doesn't know. StopError: the execution must be failed.
func (h *host) turn(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	if a.OpenSession() != nil {
		return h.close(ctx, a)
	}
	e, now := a.Execution(), h.Now()
	if e.Status == task.ExecutionPending {
		return h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) { return a.StartExecution(h.in.Run, h.Now()) })
	}
	step := a.NextStep(e)
	if step != nil {
		if err := a.Outstanding(e, step.Order, now); err != nil {
			return nil, err
		}
	}
	switch late := a.TimeUp(e, now); {
	case late && step == nil: // what is done does not fail for want of words
		return h.finish(ctx, a, "")
	case late:
		return nil, task.StopError{Reason: task.ReasonTimeout, Detail: fmt.Sprint(e.Terms.L4TimeoutSeconds)}
	case e.Lease == nil || e.Lease.Invocation != h.invocation || e.Lease.LeaseUntil.Sub(now) < h.HoldFor/2:
		return h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) {
			return a.HoldSession(h.in.Run, h.invocation, h.Now().Add(h.HoldFor), h.Now())
		})
	case !now.Before(h.until) || left(ctx) < 2*least:
		return h.rest(ctx, a, h.PollEvery)
	}
	h.lease = e.Lease.LeaseUntil
	if e.SessionID == "" {
		return h.open(ctx, a)
	}
	s, err := h.Sessions.Poll(ctx, e.SessionID)
	switch {
	case err != nil:
		return h.later(ctx, a, err)
	case !s.Told:
		return h.tell(ctx, a)
	case s.Stop != "":
		return h.stopped(ctx, a, s)
	case len(s.ToolRequests) > 0:
		return h.consider(ctx, a, s.ToolRequests)
	}
	return h.wait(ctx, a, h.PollEvery)
}

// stopped ends the execution: well, when its steps are done, whatever stopped the session then.
func (h *host) stopped(ctx context.Context, a *task.Aggregate, s managed.State) (*task.Aggregate, error) {
	slog.InfoContext(ctx, "the session stopped", "task_id", h.in.Task, "stop", s.Stop, "calls", s.Calls)
	notDone := a.NotDone(a.Execution())
	switch {
	case notDone == nil:
		return h.finish(ctx, a, s.Said)
	case s.Stop == managed.StopDone:
		return nil, notDone
	case s.Stop == managed.StopBudget:
		return nil, task.StopError{Reason: task.ReasonCostLimit}
	case s.Stop == managed.StopRefused:
		return nil, task.StopError{Reason: task.ReasonModelRefused}
	}
	return nil, task.StopError{Reason: task.ReasonSessionEnded}
}

// finish completes the execution with what the session said, or without it with the steps' names.
func (h *host) finish(ctx context.Context, a *task.Aggregate, said string) (*task.Aggregate, error) {
	words := model.LastWords(said)
	if words == "" {
		words = model.Plain(h.summaryInput(ctx, a))
	}
	return h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) {
		return a.CompleteExecution(h.in.Run, words, h.Now())
	})
}

// close tells the session of an execution that is over to stop, and charges what it came to. What it does after it was
// told is paid, too: a session that runs is asked again. One that can't say, since the vendor knows it or our key no
// more, or says nothing for task.MaxClosing, counts for all that it might have spent.
func (h *host) close(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	e := a.OpenSession()
	h.closing++
	usage, running, err := h.Sessions.Bill(ctx, e.SessionID)
	billed := err == nil
	if (!billed || running || e.Status != task.ExecutionCompleted) && h.told != e.SessionID {
		stopped := h.Sessions.Interrupt(ctx, e.SessionID)
		switch {
		case stopped == nil:
			h.told, running = e.SessionID, true // what it was doing is not on the bill
		case running || model.Failure(stopped).Transient:
			err = errors.Join(err, stopped)
		}
	}
	switch {
	case err == nil && !running:
		return h.closed(ctx, a, usage)
	case err != nil && !model.Failure(err).Transient, e.ClosingOver(h.Now()):
		slog.ErrorContext(ctx, "nobody knows what a session came to", "task_id", h.in.Task, "session_id", e.SessionID, "err", err)
		if !billed {
			usage = e.Unbilled(h.settings.MaxCost() - a.Spent())
		}
		return h.closed(ctx, a, usage)
	}
	slog.WarnContext(ctx, "a session is not closed", "task_id", h.in.Task, "session_id", e.SessionID, "running", running, "err", err)
	asked := model.Failure(err).RetryAfter
	if asked == 0 && h.closing < closeTries && sleep.Within(ctx, h.PollEvery) {
		return a, nil
	}
	h.closing = 0
	return h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) {
		return a.DeferClose(h.in.Run, h.Now().Add(pipeline.Again(asked, 0, closeAgain)), h.Now())
	})
}

// closed records that a session is paid.
func (h *host) closed(ctx context.Context, a *task.Aggregate, u aggregate.Usage) (*task.Aggregate, error) {
	h.closing = 0
	return h.Store.DecideOn(ctx, a, task.Charge(u, h.Now(), func(a *task.Aggregate) (task.Change, error) {
		return a.CloseSession(h.in.Run, h.Now())
	}))
}

// later waits after a request that failed, as long as everything waits that a vendor puts off, but not past the
// execution's own time: the next turn finds out whether it was handled all the same. StopError: no other try would help.
func (h *host) later(ctx context.Context, a *task.Aggregate, err error) (*task.Aggregate, error) {
	f := model.Failure(err)
	slog.WarnContext(ctx, "session", "task_id", h.in.Task, "err", err, "retry_after_ms", f.RetryAfter.Milliseconds())
	if !f.Transient {
		return nil, task.StopError{Reason: f.Reason, Detail: f.Detail}
	}
	now := h.Now()
	if h.failing.IsZero() {
		h.failing = now
	}
	wait := pipeline.Again(f.RetryAfter, now.Sub(h.failing), h.PollEvery)
	wait = max(min(wait, a.Deadline(a.Execution()).Sub(now)), h.PollEvery)
	if now.Add(wait).After(h.until) || left(ctx) < wait+2*least {
		return h.rest(ctx, a, wait)
	}
	return h.wait(ctx, a, wait)
}

// wait lets time pass, and looks whether the task moved meanwhile.
func (h *host) wait(ctx context.Context, a *task.Aggregate, d time.Duration) (*task.Aggregate, error) {
	h.used = true
	if !sleep.Within(ctx, d) {
		return nil, ctx.Err()
	}
	head, err := h.Store.Head(ctx, a.Ref())
	if err == nil && head.Rev == a.Head.Rev {
		return a, nil
	}
	return nil, nil
}

// rest leaves the session to a later invocation; a run waits for whole seconds.
func (h *host) rest(ctx context.Context, a *task.Aggregate, d time.Duration) (*task.Aggregate, error) {
	return h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) {
		return a.PauseSession(h.in.Run, h.invocation, h.Now().Add(max(d, time.Second)), h.failing, h.Now())
	})
}
