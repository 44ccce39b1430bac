package task

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Act does on the gate with this id what its hand does along its route; at, form and surface it adds itself. The stamp
// that settles a process also creates its execution; a step then runs with exactly the arguments that its gate showed.
// Of a policy or a process that is sent back another version is made, unless max_versions are used up: then the task is
// cancelled, as by what is denied and by a step that is sent back. Completed steps are not undone.
//
// by is the hand, whose delegation, row of the organisation and place in a channel, or right to put in a successor, the
// caller has looked up: on are the rows on which that depends.
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
	act, denied := p.Act(row.gate(), act, by, c.Now)
	g, refused := row.gate().Acted(act)
	if aggregate.Again(refused) && a.asWalked(row) {
		return aggregate.Change{}, nil
	}
	if err := a.mustWait(row); err != nil {
		return aggregate.Change{}, err
	}
	switch _, versioned := row.(*Process); {
	case denied != nil:
		return aggregate.Change{}, denied
	case refused != nil:
		return aggregate.Change{}, refused
	case act.Kind == circulation.SendBack && g.Ruled() && !versioned:
		return aggregate.Change{}, &circulation.Refusal{Why: circulation.WhyNoVersion, Stage: act.Stage}
	case act.Kind == circulation.Stamp && a.sum(row) != g.Asked:
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

// acted writes a gate with one more act, or as the system settled it, and what follows from it.
func (a *Aggregate) acted(c *change, row Gated, g aggregate.Gate, by aggregate.Actor) (aggregate.Change, error) {
	on, typ, id, about := a.onRoute(row)
	c.audit(by, on.Entry(&g), typ, id, g.ActDetails(about))
	switch {
	case g.ApprovedAt != nil:
		c.progress()
		if err := c.Head.Settle(row.Key(), &g); err != nil {
			c.Fail(err)
		}
		c.moveGate(row, aggregate.Approved, func(n Gated) {
			*n.gate() = g
			if p, ok := n.(*Process); ok {
				p.ApprovedHash = row.hash()
			}
		})
		a.approved(c, row)
		return c.done()
	case g.RejectedAt != nil:
		c.progress()
		c.moveGate(row, aggregate.Rejected, func(n Gated) { *n.gate() = g })
		if _, step := row.(*StepGate); step || g.Acts[len(g.Acts)-1].Kind == circulation.Deny {
			return a.denied(c, row, by)
		}
		return a.afterRejection(c, row)
	}
	n := row.At(row.Revision()).(Gated)
	*n.gate() = g
	c.Put(n)
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

// onRoute returns how audit entries name what is done on a gate, and what they are about.
func (a *Aggregate) onRoute(row Gated) (on *aggregate.OnRoute, typ, id string, about map[string]any) {
	switch row := row.(type) {
	case *Prompt:
		about := map[string]any{"version": row.Version, "hash": row.hash()}
		if row.Author != "" {
			about["picked_by"] = row.Author
		}
		return &promptOnRoute, "prompt", row.ID, row.Entry.details(about)
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
