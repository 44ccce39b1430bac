package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Managed reports whether a managed session carries out the steps.
func (e *Execution) Managed() bool { return e.Terms.Executor == tenancy.ExecutorManaged }

// OpenSession returns the first ended attempt whose session may still be running or is not yet charged, or nil.
func (a *Aggregate) OpenSession() *Execution {
	return aggregate.First(a.Executions, func(e *Execution) bool {
		return e.over() && e.SessionID != "" && !e.SessionClosed
	})
}

const (
	// closeAfter is how long the run that ended an execution may take to close its session, before another run starts.
	closeAfter = 2 * time.Minute
	// MaxClosing is how long to keep asking a session for its cost. After that the cost counts as unknown.
	MaxClosing = 24 * time.Hour
)

// ClosingOver reports whether MaxClosing has passed since the attempt ended.
func (e *Execution) ClosingOver(now time.Time) bool {
	return now.Sub(*cmp.Or(e.CompletedAt, e.CancelledAt, &e.CreatedAt)) > MaxClosing
}

// closing reports whether a task that is over needs another run to close its session, because the run that ended the
// task did not do so within closeAfter.
func (a *Aggregate) closing(now time.Time) bool {
	e := a.OpenSession()
	return a.Head.Ended != nil && e != nil && now.Sub(a.workedAt(e)) > closeAfter
}

// sessionAt returns the attempt whose session is used now. An earlier attempt's session must be closed and charged
// before the newest attempt goes on.
func (a *Aggregate) sessionAt() *Execution {
	if e := a.OpenSession(); e != nil {
		return e
	}
	return a.Execution()
}

// workedAt returns when the task last changed or, if later, the end of the lease on the attempt's session, because
// renewing a lease is not a Change.
func (a *Aggregate) workedAt(e *Execution) time.Time {
	if e != nil && a.liveSessionLease(e).LeaseUntil.After(a.Head.ChangedAt) {
		return a.liveSessionLease(e).LeaseUntil
	}
	return a.Head.ChangedAt
}

// SessionLease returns the lease on the attempt's session.
func (a *Aggregate) SessionLease(e *Execution) aggregate.Lease {
	if l := aggregate.Find(a.Leases, aggregate.LeaseKey(e.Key())); l != nil {
		return *l
	}
	return aggregate.Lease{Of: e.Key()}
}

// liveSessionLease returns SessionLease, but without the pause until the next poll if the attempt is over.
func (a *Aggregate) liveSessionLease(e *Execution) aggregate.Lease {
	l := a.SessionLease(e)
	if e.over() && l.Invocation == "" && !l.Ended {
		l.LeaseUntil = time.Time{}
	}
	return l
}

// leased reports whether at now another invocation holds the attempt's session or the session pauses, and until when.
func (a *Aggregate) leased(e *Execution, invocation string, now time.Time) (until time.Time, held bool) {
	if e == nil {
		return time.Time{}, false
	}
	l := a.liveSessionLease(e)
	return l.LeaseUntil, (l.Invocation == "" || l.Invocation != invocation) && now.Before(l.LeaseUntil)
}

// reclose starts another run to close the session of a task that is over. If MaxClosing has passed, it closes the
// session with an unknown cost instead.
func (a *Aggregate) reclose(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.closing(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	e := a.OpenSession()
	if e.ClosingOver(now) {
		return Charge(e.Unbilled(), now, func(a *Aggregate) (aggregate.Change, error) { return a.CloseSession(run, now) })(a)
	}
	c := a.begin(now)
	c.Head.Run++
	c.RelyOn(e)
	return c.done()
}

// Unbilled returns the usage to charge if a session's cost can't be known: the maximum that it may have spent.
func (e *Execution) Unbilled() aggregate.Usage {
	return aggregate.Usage{ID: e.SessionID, Provider: aggregate.Anthropic, Calls: 1, Cost: max(0, e.SessionBudget),
		Unpriced: 1}
}

// DeferClose returns a lease that keeps every invocation from closing the session before until, or nil if there is no
// session to close. It returns ErrInFlight while another invocation's lease is live.
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

// lease returns the next lease on the attempt's session.
func (a *Aggregate) lease(e *Execution, invocation string, until time.Time) *aggregate.Lease {
	l := a.SessionLease(e)
	l.Invocation, l.LeaseUntil, l.Ended = invocation, until.UTC().Truncate(time.Millisecond), e.over()
	return &l
}

// HoldSession returns the lease that gives an invocation the session until a time. It returns ErrInFlight during
// another invocation's lease or a pause.
//
// After storing the lease the caller must read the rows again, because another invocation may have held the session, or
// another run may have begun. A superseded run may still get the lease, but then it reads the rows, sends nothing and
// ends; the next run waits until that lease has ended. That is why storing a lease does not require the current run.
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

// late returns how long the attempt's session has been free without anybody taking it, because the run found no
// capacity or died. A live invocation renews its lease in time. While a call is under way it returns 0: TimeUp excludes
// that time already.
func (a *Aggregate) late(e *Execution, now time.Time) time.Duration {
	if slices.ContainsFunc(a.StepsOf(e), func(s *StepResult) bool { return s.Status == StepRunning }) {
		return 0
	}
	return max(0, now.Sub(a.workedAt(e)))
}

// BindSession records the session that the execution uses, before anything is sent to it, and that the execution has
// started. budget is the session's cost limit, 0 for none. If the execution has a session, nothing changes.
func (a *Aggregate) BindSession(run int, id string, budget aggregate.MicroUSD, now time.Time) (aggregate.Change,
	error) {
	e, err := a.inSession(run)
	if err != nil || e.SessionID != "" {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	n := *e
	n.SessionID, n.SessionBudget = id, budget
	c.Put(&n)
	about := e.about()
	about["session_id"] = id
	c.Record(&c.Head, aggregate.System(), AuditExecutionStarted, "execution", e.ID, about)
	return c.done()
}

// ReleaseSession returns a lease that ends the invocation's hold and makes the session pause until a time, or nil if
// another invocation holds it. failing is since when the vendor has only told us to wait, or zero.
func (a *Aggregate) ReleaseSession(run int, invocation string, until, failing time.Time) (*aggregate.Lease, error) {
	e, err := a.inSession(run)
	if err != nil || a.SessionLease(e).Invocation != invocation {
		return nil, err
	}
	l := a.lease(e, "", until)
	if l.Failing = nil; !failing.IsZero() {
		failing = failing.UTC().Truncate(time.Millisecond)
		l.Failing = &failing
	}
	return l, nil
}

// CloseSession records that an ended execution's session was told to stop and is charged. Repeating it changes nothing.
func (a *Aggregate) CloseSession(run int, now time.Time) (aggregate.Change, error) {
	e := a.OpenSession()
	switch {
	case a.Head.Run != run:
		return aggregate.Change{}, aggregate.ErrSuperseded
	case e == nil:
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	n := *e
	n.SessionClosed = true
	c.Put(&n)
	c.Made = &n
	return c.done()
}

// inSession returns the managed execution on which this run may work. It returns ErrMoved while an earlier attempt's
// session is open.
func (a *Aggregate) inSession(run int) (*Execution, error) {
	e, err := a.executing(run)
	if err == nil && a.OpenSession() != nil { // an earlier attempt's session must be closed and charged first
		err = aggregate.ErrMoved
	}
	if err == nil && (e.Status != ExecutionRunning || !e.Managed()) {
		err = aggregate.ErrConflict
	}
	return e, err
}

// Denial says why a tool request does not match an approved step.
type Denial string

const (
	DeniedTool      Denial = "tool_not_approved"
	DeniedArguments Denial = "arguments_not_approved"
	DeniedDone      Denial = "already_done"
	DeniedOrder     Denial = "not_its_turn"
)

// Denials lists all denials, for texts that need a sentence for each.
var Denials = []Denial{DeniedTool, DeniedArguments, DeniedDone, DeniedOrder}

// Admit finds the approved step that matches a managed session's request for a tool; it must be the next step. fits
// reports whether the request's arguments match a step's.
func (a *Aggregate) Admit(e *Execution, tool string, fits func(Step) bool) (Step, Denial) {
	next, denial := a.NextStep(e), DeniedTool
	for _, s := range a.ProcessOf(e).Steps {
		if s.Tool != tool {
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

// Granted returns the step's row that was claimed for this tool request, or nil.
func (a *Aggregate) Granted(e *Execution, request string) *StepResult {
	return aggregate.First(a.StepsOf(e), func(s *StepResult) bool {
		return request != "" && s.ToolRequest == request && !s.Reused
	})
}

// NotDone returns the StopError of a session that ended before all steps were done, or nil.
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
