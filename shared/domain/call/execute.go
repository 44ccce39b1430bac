package call

import (
	"cmp"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// AuditGranted records that an attempt took the grant of a call that runs elsewhere.
const AuditGranted aggregate.Action = "action.granted"

// AuditRefused records that nobody is asked about a call; see Refused.
const AuditRefused aggregate.Action = "action.refused"

const (
	maxUse     = 200  // bytes of an attempt's id
	mostDetail = 2000 // characters
)

// begins returns why a stamped call can't begin now, or nil.
func (a *Aggregate) begins(now time.Time) error {
	switch x := a.Call; {
	case x == nil || x.Status == conversation.ActionPending:
		return aggregate.ErrMoved
	case x.Status == conversation.ActionExecuting:
		return aggregate.ErrInFlight
	case x.Status != conversation.ActionApproved:
		return x.Action().Decided()
	case !x.Gate.Stands(x.Action().Sum()) || len(x.Gate.Route.Stages) == 0:
		return fmt.Errorf("call %s has no approval: %w", x.CallID, aggregate.ErrConflict)
	case x.aged(now):
		return ErrAged
	}
	return nil
}

// Claim gives the invocation the right to make the stamped call, and the call the next number of the series, if it
// needs one. It relies on the tenant's rows in on: the key and the tool's permission as they were read. It returns
// ErrSuperseded if the head names another run, ErrMoved if there is nothing to make, ErrInFlight if it is claimed,
// ErrDecided if it is over, ErrAged, and task.ErrNumber if the series must be read again.
func (a *Aggregate) Claim(run int, invocation string, of task.Series, leaseUntil, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	if a.Head.Run != run {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	if err := a.begins(now); err != nil {
		return aggregate.Change{}, err
	}
	if a.Call.Elsewhere {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	c.number(a, of)
	c.to(conversation.ActionExecuting)
	c.row.Claim = &aggregate.Claim{Invocation: invocation, LeaseUntil: leaseUntil.UTC().Truncate(time.Millisecond)}
	c.row.StartedAt = &c.Now
	c.Owned = append(c.Owned, on...)
	c.audit(aggregate.System(), conversation.AuditStarted, c.numbered(map[string]any{
		"approved_by": conversation.ApprovedByUser, "by": c.row.Gate.ApprovedBy, "base_version": ""}))
	return c.done()
}

// number gives the call the number that it lacks, the next of its series; without it c fails with what the series
// lacks.
func (c *change) number(a *Aggregate, of task.Series) {
	if _, lacks := a.Unnumbered(); !lacks {
		return
	}
	row, number, err := of.Give(task.Numbered{CallID: c.row.CallID, GateKey: Key})
	if err != nil {
		c.Fail(err)
		return
	}
	c.Beside, c.row.DecisionNumber = append(c.Beside, row), number
}

func (c *change) numbered(details map[string]any) map[string]any {
	return task.WithNumber(details, c.row.DecisionNumber)
}

// Take takes the grant of a stamped call that runs elsewhere, for the attempt with this id, just before it runs.
// The same attempt takes it again without a change, see TakenFor. It returns ErrTaken if
// another attempt has it, ErrMoved if the call still waits or is none that runs elsewhere, ErrDecided if it is over,
// ErrAged, tenancy.ErrKey if the key doesn't hold any more, aggregate.ErrSettings if it has changed meanwhile,
// task.ErrNumber as Claim does, and aggregate.Problem for an id that is empty or too long.
func (a *Aggregate) Take(key tenancy.Key, use string, of task.Series, now time.Time) (aggregate.Change, error) {
	switch x := a.Call; {
	case x == nil || x.KeyID != key.ID:
		return aggregate.Change{}, aggregate.ErrNotFound
	case use == "" || len(use) > maxUse:
		return aggregate.Change{}, aggregate.Problem{Field: "tool_use_id",
			Code: fmt.Sprintf("must have 1 to %d bytes", maxUse)}
	case x.TakenFor(use, now):
		return aggregate.Change{}, nil
	case x.Status == Granted:
		return aggregate.Change{}, ErrTaken
	case !x.Elsewhere:
		return aggregate.Change{}, aggregate.ErrMoved
	}
	if err := cmp.Or(key.Holds(a.Call.Tool, now), a.begins(now)); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.number(a, of)
	c.to(Granted)
	c.row.TakenBy = use
	c.Owned = append(c.Owned, key.AsRead())
	c.audit(aggregate.Actor{Type: aggregate.ActorAgent, ID: key.ID}, AuditGranted, c.numbered(map[string]any{
		"by": c.row.Gate.ApprovedBy, "attempt_hash": aggregate.HashOf(use)}))
	return c.done()
}

// Result is how a call ended, as an agent's action does.
type Result = conversation.Result

func (c *change) take(r Result) {
	c.to(r.Status)
	c.row.Error, c.row.ErrorDetail, c.row.Result = r.Error, language.First(r.ErrorDetail, mostDetail), r.Call
}

// Finish records the result of the call that the invocation had claimed, even if its run is superseded, and also if the
// outcome was unknown meanwhile. Recording it twice changes nothing. It returns ErrMoved if another invocation holds
// the claim.
func (a *Aggregate) Finish(invocation string, r Result, now time.Time) (aggregate.Change, error) {
	x := a.Call
	if x == nil || x.Claim == nil || x.Claim.Invocation != invocation {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	switch {
	case x.Status == conversation.ActionExecuting:
		return a.end(r, now)
	case x.Status == conversation.ActionFailed && x.Outcome == conversation.OutcomeUnknown:
		c := a.begin(now)
		c.known(aggregate.System(), r)
		return c.done()
	}
	return aggregate.Change{}, nil
}

// Confirm is Finish by a person who saw that a call of unknown outcome arrived; what it returned stays unknown. It
// returns ErrDecided if somebody else said so before, and ErrMoved if the outcome is not unknown.
func (a *Aggregate) Confirm(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change,
	error) {
	x := a.Call
	if x == nil || x.CallID != id {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if err := p.RetryFrom(&x.Gate, by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	switch {
	case x.ConfirmedBy == "" && x.Outcome != conversation.OutcomeUnknown:
		return aggregate.Change{}, aggregate.ErrMoved
	case x.ConfirmedBy == by.ID:
		return aggregate.Change{}, nil
	case x.ConfirmedBy != "":
		return aggregate.Change{}, aggregate.ErrDecided{Status: string(x.Status), By: x.ConfirmedBy, At: a.Head.ChangedAt}
	}
	c := a.begin(now)
	c.known(by, Result{Status: conversation.ActionSucceeded})
	c.row.ConfirmedBy = by.ID
	return c.done()
}

// known records the result of a call of unknown outcome.
func (c *change) known(by aggregate.Actor, r Result) {
	c.take(r)
	c.row.Outcome = ""
	c.audit(by, conversation.AuditLate,
		map[string]any{"status": r.Status, "was": conversation.OutcomeUnknown, "version": ""})
}

// end ends a call with a result, before it was begun or after.
func (a *Aggregate) end(r Result, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.take(r)
	as := conversation.AuditCompleted
	if r.Status == conversation.ActionFailed {
		as = conversation.AuditFailed
	}
	c.audit(aggregate.System(), as, c.numbered(map[string]any{"error": r.Error, "version": ""}))
	return c.done()
}

// Refuse fails a stamped call that turned out before its claim not to be callable.
func (a *Aggregate) Refuse(run int, r Result, now time.Time) (aggregate.Change, error) {
	if x := a.Call; a.Head.Run != run || x == nil || x.Status != conversation.ActionApproved {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	r.Status = conversation.ActionFailed
	return a.end(r, now)
}

// Lost fails a call that ended without a result. It is called by the invocation that made the call.
func (a *Aggregate) Lost(invocation string, now time.Time) (aggregate.Change, error) {
	if x := a.Call; x == nil || x.Status != conversation.ActionExecuting || x.Claim.Invocation != invocation {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.lost(now)
}

// lost fails a call of which nobody knows how it ended. A read did nothing.
func (a *Aggregate) lost(now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.to(conversation.ActionFailed)
	c.row.Error, c.row.Outcome = conversation.ReasonUnknown, conversation.OutcomeUnknown
	if c.row.Reads() {
		c.row.Error, c.row.Outcome = conversation.ReasonReadCutOff, ""
	}
	c.audit(aggregate.System(), conversation.AuditFailed,
		c.numbered(map[string]any{"error": c.row.Error, "outcome": c.row.Outcome}))
	return c.done()
}

// Crashed is Lost for a claim that ran out. It returns ErrNotDue if there is none, and ErrInFlight while it is live.
func (a *Aggregate) Crashed(now time.Time) (aggregate.Change, error) {
	switch x := a.Call; {
	case x == nil || x.Status != conversation.ActionExecuting:
		return aggregate.Change{}, aggregate.ErrNotDue
	case x.Claim.Live(now):
		return aggregate.Change{}, aggregate.ErrInFlight
	}
	return a.lost(now)
}
