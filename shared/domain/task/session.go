package task

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/modelname"
	"ringi/shared/domain/tenancy"
)

// MaxSessionPauses is how often one run polls a session again before another takes
// over: a run's history holds 25,000 events, and a pause takes about twenty.
const MaxSessionPauses = 500

// Managed reports whether a session goes through the steps.
func (e *Execution) Managed() bool { return e.Terms.Executor == tenancy.ExecutorManaged }

// OpenSession is the first ended attempt whose session may still be running, or has not been charged to the task; nil
// without one.
func (a *Aggregate) OpenSession() *Execution {
	for _, e := range a.Executions {
		if e.over() && e.SessionID != "" && !e.SessionClosed {
			return e
		}
	}
	return nil
}

const (
	// closeAfter is how long the run that ended an execution has for its session, before another is started for that.
	closeAfter = 2 * time.Minute
	// MaxClosing is how long a session is asked for its cost. After that the cost counts as unknown.
	MaxClosing = 24 * time.Hour
)

// endedAt is when an attempt was over.
func (e *Execution) endedAt() time.Time {
	switch {
	case e.CompletedAt != nil:
		return *e.CompletedAt
	case e.CancelledAt != nil:
		return *e.CancelledAt
	}
	return e.CreatedAt
}

// ClosingOver reports whether an attempt's session was asked long enough.
func (e *Execution) ClosingOver(now time.Time) bool { return now.Sub(e.endedAt()) > MaxClosing }

// closing reports whether a task that is over needs another run to close its session, because the run that ended it
// did not do so within closeAfter.
func (a *Aggregate) closing(now time.Time) bool {
	e := a.OpenSession()
	return a.Head.Ended != nil && e != nil && now.Sub(a.workedAt(e)) > closeAfter
}

// sessionAt is the attempt whose session is at work: that of an earlier one is closed and paid before the newest goes
// on.
func (a *Aggregate) sessionAt() *Execution {
	if e := a.OpenSession(); e != nil {
		return e
	}
	return a.Execution()
}

// workedAt is when the task last changed or, if later, until when an invocation holds an attempt's session, since
// renewing that lease is no Change.
func (a *Aggregate) workedAt(e *Execution) time.Time {
	if e != nil && a.liveSessionLease(e).LeaseUntil.After(a.Head.ChangedAt) {
		return a.liveSessionLease(e).LeaseUntil
	}
	return a.Head.ChangedAt
}

// SessionLease says which invocation holds an attempt's session. Rows of an earlier release have it in the execution.
func (a *Aggregate) SessionLease(e *Execution) aggregate.Lease {
	if l := aggregate.Find(a.Leases, aggregate.LeaseKey(e.Key())); l != nil {
		return *l
	}
	l := aggregate.Lease{Of: e.Key(), Run: a.Head.Run, Pauses: e.Pauses, Failing: e.SessionFailing}
	if e.Lease != nil {
		l.Invocation, l.LeaseUntil = e.Lease.Invocation, e.Lease.LeaseUntil
	}
	return l
}

// liveSessionLease is SessionLease, but the next poll of a session is not waited for any more once its attempt is over.
func (a *Aggregate) liveSessionLease(e *Execution) aggregate.Lease {
	l := a.SessionLease(e)
	if e.over() && l.Invocation == "" && !l.Ended {
		l.LeaseUntil = time.Time{}
	}
	return l
}

// leased reports whether somebody else has the attempt's session at now, or it rests, and until when.
func (a *Aggregate) leased(e *Execution, invocation string, now time.Time) (until time.Time, held bool) {
	if e == nil {
		return time.Time{}, false
	}
	l := a.liveSessionLease(e)
	return l.LeaseUntil, (l.Invocation == "" || l.Invocation != invocation) && now.Before(l.LeaseUntil)
}

// reclose starts another run for the session of a task that is over. When it was asked long enough it is closed as
// one whose cost nobody knows.
func (a *Aggregate) reclose(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.closing(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	e := a.OpenSession()
	if e.ClosingOver(now) && e.SessionBudget != nil { // without it only a run knows what the session may have spent
		return Charge(e.Unbilled(0), now, func(a *Aggregate) (aggregate.Change, error) { return a.CloseSession(run, now) })(a)
	}
	c := a.begin(now)
	c.startRun()
	c.RelyOn(e)
	return c.done()
}

// Unbilled is the usage that an attempt is charged for when its session's cost can't be known: all that the session
// might have spent. left is charged if the row does not say how much that is.
func (e *Execution) Unbilled(left aggregate.MicroUSD) aggregate.Usage {
	if e.SessionBudget != nil {
		left = *e.SessionBudget
	}
	return aggregate.Usage{ID: e.SessionID, Provider: modelname.Anthropic, Calls: 1, Cost: max(0, left), Unpriced: 1}
}

// DeferClose returns the lease that keeps every invocation from closing a session before until; nil when no session
// is to be closed. It returns ErrInFlight while another's lease lives.
func (a *Aggregate) DeferClose(run int, invocation string, until, now time.Time) (*aggregate.Lease, error) {
	e := a.OpenSession()
	switch {
	case a.Head.Run != run:
		return nil, aggregate.ErrSuperseded
	case e == nil:
		return nil, nil
	}
	if _, held := a.leased(e, invocation, now); held {
		return nil, aggregate.ErrInFlight
	}
	return a.lease(e, "", until), nil
}

// lease is the next one of an attempt's session.
func (a *Aggregate) lease(e *Execution, invocation string, until time.Time) *aggregate.Lease {
	l := a.SessionLease(e)
	if l.Run != a.Head.Run {
		l.Run, l.Pauses = a.Head.Run, 0
	}
	l.Invocation, l.LeaseUntil, l.Ended = invocation, until.UTC().Truncate(time.Millisecond), e.over()
	return &l
}

// HoldSession returns the lease that gives an invocation the session until a time. It returns ErrInFlight while another
// invocation's lease, or a pause, has not ended. Once the lease is stored the rows must be read again, since another
// invocation may have held the session meanwhile, and another run may have begun: a run that is superseded after a was
// read may still get the lease, but it reads the rows before it sends anything, and ends. The next run waits until that
// lease has ended, as it does for the lease of a run that was superseded later or crashed, so that storing a lease is
// not conditioned on the run.
func (a *Aggregate) HoldSession(run int, invocation string, until, now time.Time) (*aggregate.Lease, error) {
	e, err := a.inSession(run)
	if err != nil {
		return nil, err
	}
	if _, held := a.leased(e, invocation, now); held {
		return nil, aggregate.ErrInFlight
	}
	l := a.lease(e, invocation, until)
	l.WaitedMS += a.late(e, now).Milliseconds()
	return l, nil
}

// late is how long an attempt's session could have been taken at now, and nobody came, since its run found no room or
// died: whoever has a session renews the lease before its end, and the next poll follows at once. A call that is out
// stops the clock by itself.
func (a *Aggregate) late(e *Execution, now time.Time) time.Duration {
	if slices.ContainsFunc(a.StepsOf(e), func(s *StepResult) bool { return s.Status == StepRunning }) {
		return 0
	}
	return max(0, now.Sub(a.workedAt(e)))
}

// BindSession records which session the execution uses, before anything is sent to it, and that the execution has
// started. budget is what the session may spend, 0 without a limit. It is no change when the execution has a session
// already.
func (a *Aggregate) BindSession(run int, id string, budget aggregate.MicroUSD, now time.Time) (aggregate.Change, error) {
	e, err := a.inSession(run)
	if err != nil || e.SessionID != "" {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	n := *e
	n.SessionID, n.SessionBudget = id, &budget
	c.Put(&n)
	c.audit(aggregate.System(), AuditExecutionStarted, "execution", e.ID, map[string]any{"attempt": e.Attempt, "session_id": id})
	return c.done()
}

// ReleaseSession returns the lease that ends an invocation's hold and keeps every invocation from the session until a
// time; nil when another invocation holds it. failing is since when the vendor has only asked us to wait, zero if it
// has not. After MaxSessionPauses the session is free at once: see HandOver.
func (a *Aggregate) ReleaseSession(run int, invocation string, until, failing, now time.Time) (*aggregate.Lease, error) {
	e, err := a.inSession(run)
	if err != nil || a.SessionLease(e).Invocation != invocation {
		return nil, err
	}
	l := a.lease(e, "", until)
	l.Pauses, l.Failing = l.Pauses+1, nil
	if !failing.IsZero() {
		failing = failing.UTC().Truncate(time.Millisecond)
		l.Failing = &failing
	}
	if l.Pauses >= MaxSessionPauses {
		l.LeaseUntil = now.UTC().Truncate(time.Millisecond)
	}
	return l, nil
}

// HandOver starts another run for a session that this one has polled MaxSessionPauses times. Before that it is no
// change.
func (a *Aggregate) HandOver(run int, now time.Time) (aggregate.Change, error) {
	e, err := a.inSession(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	if l := a.SessionLease(e); l.Run != run || l.Pauses < MaxSessionPauses {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	c.startRun()
	c.RelyOn(e)
	return c.done()
}

// CloseSession records that the session of an execution that is over was told to
// stop, and is paid. It is no change when that is recorded.
func (a *Aggregate) CloseSession(run int, now time.Time) (aggregate.Change, error) {
	e := a.OpenSession()
	if a.Head.Run != run {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	if e == nil {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	n := *e
	n.SessionClosed = true
	c.Put(&n)
	c.Made = &n
	return c.done()
}

// inSession returns the managed execution that run may work on. It returns ErrMoved while the session of an attempt
// before is open.
func (a *Aggregate) inSession(run int) (*Execution, error) {
	e, err := a.executing(run)
	if err == nil && a.OpenSession() != nil { // of an attempt before, which is to be closed and paid first
		err = aggregate.ErrMoved
	}
	if err == nil && (e.Status != ExecutionRunning || !e.Managed()) {
		err = aggregate.ErrConflict
	}
	return e, err
}

// ToolRequest is a call that a session asks for.
type ToolRequest struct {
	ID   string // the vendor's, of this one asking
	Tool string
}

// Denial is why a request is not an approved step.
type Denial string

const (
	DeniedTool      Denial = "tool_not_approved"
	DeniedArguments Denial = "arguments_not_approved"
	DeniedDone      Denial = "already_done"
	DeniedOrder     Denial = "not_its_turn"
)

// Denials are all of them, for those who must have a sentence for each.
var Denials = []Denial{DeniedTool, DeniedArguments, DeniedDone, DeniedOrder}

// Admit finds the approved step that a request is for, which must be the next one. fits
// reports whether the request's arguments are a step's.
func (a *Aggregate) Admit(e *Execution, w ToolRequest, fits func(Step) bool) (Step, Denial) {
	next, denial := a.NextStep(e), DeniedTool
	for _, s := range a.ProcessOf(e).Steps {
		if s.Tool != w.Tool {
			continue
		}
		fit := fits(s)
		done := next == nil || s.Order < next.Order
		switch {
		case fit && !done && s.Order == next.Order:
			return s, ""
		case fit && done:
			denial = DeniedDone
		case fit && denial != DeniedDone:
			denial = DeniedOrder
		case denial == DeniedTool:
			denial = DeniedArguments
		}
	}
	return Step{}, denial
}

// Granted is the step's row that a request was granted for; nil when it was not.
func (a *Aggregate) Granted(e *Execution, request string) *StepResult {
	rows := a.StepsOf(e)
	i := slices.IndexFunc(rows, func(s *StepResult) bool { return request != "" && s.ToolRequest == request && !s.Reused })
	if i < 0 {
		return nil
	}
	return rows[i]
}

// NotDone is the StopError of a session that ended before its steps were done;
// nil when they are.
func (a *Aggregate) NotDone(e *Execution) error {
	next := a.NextStep(e)
	if next == nil {
		return nil
	}
	var left []string
	for _, s := range a.ProcessOf(e).Steps {
		if s.Order >= next.Order {
			left = append(left, fmt.Sprint(s.Order))
		}
	}
	return StopError{ReasonStepsNotDone, strings.Join(left, ", ")}
}
