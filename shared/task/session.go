package task

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/modelname"
	"ringi/shared/tenancy"
)

// MaxSessionPauses is how often one run polls a session again before another takes
// over: a run's history holds 25,000 events, and a pause takes about twenty.
const MaxSessionPauses = 500

// Managed reports whether a session goes through the steps.
func (e *Execution) Managed() bool { return e.Terms.Executor == tenancy.ExecutorManaged }

// OpenSession is the first attempt that is over while its session may go on, or was not paid; nil without one.
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
	// MaxClosing is how long a session is asked what it came to. Then nobody knows.
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

// closing reports whether a task that is over needs another run for a session: the one that ended it had its time.
func (a *Aggregate) closing(now time.Time) bool {
	e := a.OpenSession()
	return a.Head.Ended != nil && e != nil && !e.leased("", now) && now.Sub(a.Head.ChangedAt) > closeAfter
}

// leased reports whether somebody else has the attempt's session at now, or it rests.
func (e *Execution) leased(invocation string, now time.Time) bool {
	return e.Lease != nil && (e.Lease.Invocation == "" || e.Lease.Invocation != invocation) && now.Before(e.Lease.LeaseUntil)
}

// reclose starts another run for the session of a task that is over. When it was asked long enough it is closed as
// one whose cost nobody knows.
func (a *Aggregate) reclose(run int, now time.Time) (Change, error) {
	if a.Head.Run != run || !a.closing(now) {
		return Change{}, aggregate.ErrSuperseded
	}
	e := a.OpenSession()
	if e.ClosingOver(now) && e.SessionBudget != nil { // without it the run knows what is left
		return Charge(e.Unbilled(0), now, func(a *Aggregate) (Change, error) { return a.CloseSession(run, now) })(a)
	}
	c := a.begin(now)
	c.startRun()
	c.RelyOn(e)
	return c.done(), nil
}

// Unbilled is what the session of an attempt counts for that nobody can say the cost of: all that it might have spent.
// left is what a row counts for that does not say how much that was.
func (e *Execution) Unbilled(left aggregate.MicroUSD) aggregate.Usage {
	if e.SessionBudget != nil {
		left = *e.SessionBudget
	}
	return aggregate.Usage{ID: e.SessionID, Provider: modelname.Anthropic, Calls: 1, Cost: max(0, left), Unpriced: 1}
}

// DeferClose keeps everybody from a session that is to be closed until a time.
func (a *Aggregate) DeferClose(run int, until, now time.Time) (Change, error) {
	e := a.OpenSession()
	switch {
	case a.Head.Run != run:
		return Change{}, aggregate.ErrSuperseded
	case e == nil:
		return Change{}, nil
	}
	c := a.begin(now)
	n := *e
	n.Lease = &Claim{LeaseUntil: until}
	c.Put(&n)
	return c.done(), nil
}

// TimeUp reports whether the execution's time is up at now.
func (a *Aggregate) TimeUp(e *Execution, now time.Time) bool { return a.timeUp(e, now) }

// HoldSession makes the session an invocation's until a time. It returns
// ErrInFlight while another's lease lives; a pause is nobody's, and lasts as long.
func (a *Aggregate) HoldSession(run int, invocation string, until, now time.Time) (Change, error) {
	e, err := a.inSession(run)
	if err != nil {
		return Change{}, err
	}
	if l := e.Lease; l != nil && l.Invocation != invocation && now.Before(l.LeaseUntil) {
		return Change{}, aggregate.ErrInFlight
	}
	c := a.begin(now)
	n := *e
	n.Lease = &Claim{Invocation: invocation, LeaseUntil: until}
	c.Put(&n)
	return c.done(), nil
}

// BindSession makes a session the execution's, before anything is sent to it: now
// the execution has started. budget is what the session may spend, 0 without a limit.
// It is no change when the execution has one: whose it is, the row says.
func (a *Aggregate) BindSession(run int, id string, budget aggregate.MicroUSD, now time.Time) (Change, error) {
	e, err := a.inSession(run)
	if err != nil || e.SessionID != "" {
		return Change{}, err
	}
	c := a.begin(now)
	n := *e
	n.SessionID, n.SessionBudget = id, &budget
	c.Put(&n)
	c.audit(aggregate.System(), ExecutionStarted, "execution", e.ID, map[string]any{"attempt": e.Attempt, "session_id": id})
	return c.done(), nil
}

// PauseSession lets an invocation's hold go, and keeps everybody from the session
// until a time. failing is since when its vendor has only put us off, zero if it does not.
// After MaxSessionPauses another run takes over at once. It is no change when the hold is another's.
func (a *Aggregate) PauseSession(run int, invocation string, until, failing, now time.Time) (Change, error) {
	e, err := a.inSession(run)
	if err != nil || e.Lease == nil || e.Lease.Invocation != invocation {
		return Change{}, err
	}
	c := a.begin(now)
	n := *e
	n.Pauses, n.Lease, n.SessionFailing = e.Pauses+1, &Claim{LeaseUntil: until}, nil
	if !failing.IsZero() {
		failing = failing.UTC().Truncate(time.Millisecond)
		n.SessionFailing = &failing
	}
	if n.Pauses >= MaxSessionPauses {
		n.Pauses, n.Lease = 0, nil
		c.startRun()
	}
	c.Put(&n)
	return c.done(), nil
}

// CloseSession records that the session of an execution that is over was told to
// stop, and is paid. It is no change when that is recorded.
func (a *Aggregate) CloseSession(run int, now time.Time) (Change, error) {
	e := a.OpenSession()
	if a.Head.Run != run {
		return Change{}, aggregate.ErrSuperseded
	}
	if e == nil {
		return Change{}, nil
	}
	c := a.begin(now)
	n := *e
	n.SessionClosed, n.Lease = true, nil
	c.Put(&n)
	c.Made = &n
	return c.done(), nil
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

// held reports whether somebody polls the session at now, or a pause goes on.
func (a *Aggregate) held(now time.Time) bool {
	e := a.Execution()
	return e != nil && e.Lease != nil && now.Before(e.Lease.LeaseUntil)
}
