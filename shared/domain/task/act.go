package task

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Act does on the gate with this id what its hand does along its route; at, form and surface it adds itself. The stamp
// that settles the gate has what Approve has follow, sending steps back what Reject has, and denying ends the task for
// good. by is the hand, whose delegation, row of the organisation and place in a channel, or right to put in a
// successor, the caller has looked up: on are the rows on which that depends.
//
// Act returns ErrDecided, ErrNotLatest, ErrSuperseded, ErrNotAllowed, ErrNotFound or a *circulation.Refusal. If the
// same hand does the very same again, nothing changes.
func (a *Aggregate) Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	if act, err = p.Act(act, by, c.Now); err != nil {
		return aggregate.Change{}, err
	}
	g, refused := row.gate().Acted(act)
	if aggregate.Again(refused) && a.asWalked(row) {
		return aggregate.Change{}, nil
	}
	if newest := a.superseding(row); newest > 0 {
		return aggregate.Change{}, aggregate.ErrNotLatest{Latest: newest}
	}
	if err := a.mustWait(row.gate()); err != nil {
		return aggregate.Change{}, err
	}
	if err := a.Head.AsOpened(row.Key(), row.gate()); err != nil {
		return aggregate.Change{}, err
	}
	if refused != nil {
		return aggregate.Change{}, refused
	}
	if _, version := row.(*Process); !version && act.Kind == circulation.SendBack {
		return aggregate.Change{}, &circulation.Refusal{Why: circulation.WhyNoVersion, Stage: act.Stage}
	}
	if act.Kind == circulation.Stamp && a.sum(row) != g.Asked {
		return aggregate.Change{}, fmt.Errorf("%s has another content than is asked: %w", row.Key(),
			aggregate.ErrConflict)
	}
	c.Owned = append(c.Owned, on...)
	return a.acted(c, row, g, by)
}

// asWalked reports whether a gate's status is the one that its acts left, so that nobody need be told another.
func (a *Aggregate) asWalked(row Gated) bool {
	switch row.gate().Status {
	case aggregate.PendingApproval:
		return a.Head.Ended == nil // else the gate was read before the commit that ended the task
	case aggregate.Approved, aggregate.Rejected:
		return true
	}
	return false
}

// acted writes a gate with one more act, and what follows from it.
func (a *Aggregate) acted(c *change, row Gated, g aggregate.Gate, by aggregate.Actor) (aggregate.Change, error) {
	on, typ, id, about := a.onRoute(row)
	details := g.ActDetails(about)
	switch {
	case g.ApprovedAt != nil:
		c.progress()
		if err := c.Head.Settle(row.Key(), &g); err != nil {
			c.Fail(err)
		}
		a.approve(c, row, g, by, details)
		return c.done()
	case g.RejectedAt != nil:
		c.progress()
		c.moveGate(row, aggregate.Rejected, func(n Gated) { *n.gate() = g })
		c.audit(by, on.Entry(&g), typ, id, details)
		if g.Acts[len(g.Acts)-1].Kind == circulation.Deny {
			return a.denied(c, row, by)
		}
		return a.afterRejection(c, row)
	}
	n := row.At(row.Revision()).(Gated)
	*n.gate() = g
	c.Put(n)
	c.audit(by, on.Entry(&g), typ, id, details)
	return c.done()
}

// denied ends the task for good. As after a refused step, what was done stays.
func (a *Aggregate) denied(c *change, row Gated, by aggregate.Actor) (aggregate.Change, error) {
	if step, ok := row.(*StepGate); ok {
		a.cancelExecution(c, a.executionOf(step), by)
		return c.ended(a.Task, TaskCancelled, by, ReasonStepRejected)
	}
	if again, ok := row.(*Again); ok {
		a.cancelExecution(c, a.attemptOf(again), by)
	}
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonDenied})
	return c.ended(a.Task, TaskCancelled, by, ReasonDenied)
}

// onRoute returns how audit entries name what is done on a gate under a rule, and what they are about.
func (a *Aggregate) onRoute(row Gated) (on *aggregate.OnRoute, typ, id string, about map[string]any) {
	switch row := row.(type) {
	case *Process:
		return &processOnRoute, "process", row.ID, map[string]any{"version": row.Version, "hash": row.hash()}
	case *StepGate:
		return &stepOnRoute, "execution", idIn(a.executionOf(row)), map[string]any{"step": row.StepID,
			"arguments_hash": row.hash()}
	case *Again:
		return &processOnRoute, "execution", idIn(a.attemptOf(row)), map[string]any{"version": row.ProcessVersion,
			"attempt": row.Attempt, "hash": row.hash()}
	}
	return &aggregate.OnRoute{}, "", "", map[string]any{}
}

// idIn returns an execution's id, or "" for nil.
func idIn(e *Execution) string {
	if e == nil {
		return ""
	}
	return e.ID
}
