package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// End cancels a task in any stage, also one that failed over a write of unknown outcome: that stays unknown. A call in
// flight is not aborted; its outcome is recorded when it is known. End returns ErrDecided if the task is over, and
// ErrNotAllowed with the rule that refused.
func (a *Aggregate) End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if stop, err := a.cancelled(by, p); stop {
		return aggregate.Change{}, err
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	about := map[string]any{"reason": ReasonByPerson}
	if e := a.Execution(); e != nil && !e.over() {
		about["execution"] = e.ID
	} else if e != nil && a.failedUnsure() {
		a.relyOnStep(c, e)
		about["execution"], about["ends"] = e.ID, map[StepStatus][]string{StepUnknown: a.unsure()}
	}
	c.Record(&c.Head, by, AuditTaskCancelled, "task", a.Head.TaskID, about)
	return c.ended(a.Task, TaskCancelled, by, ReasonByPerson)
}

// CancelExecution ends the task, as End does, when somebody presses the button on the card of an execution. id must be
// that of the newest execution.
func (a *Aggregate) CancelExecution(id string, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	switch e := a.Execution(); {
	case e == nil:
		return aggregate.Change{}, aggregate.ErrNotFound
	case e.ID != id:
		return aggregate.Change{}, a.otherExecution(id)
	case e.over():
		return a.End(by, p, now)
	}
	if stop, err := a.cancelled(by, p); stop {
		return aggregate.Change{}, err
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	return c.ended(a.Task, TaskCancelled, by, ReasonByPerson)
}

// cancelled reports whether End must stop, and with which error. Cancelling twice is no error for the same person.
func (a *Aggregate) cancelled(by aggregate.Actor, p aggregate.Policy) (stop bool, err error) {
	if e := a.Head.Ended; e != nil && !a.failedUnsure() {
		if e.As == TaskCancelled && e.By == by.ID && by.ID != "" {
			return true, nil
		}
		return true, a.ended()
	}
	if err := a.mayWithdraw(by, p); err != nil {
		return true, err
	}
	return false, nil
}

// mayWithdraw returns ErrNotAllowed with the rule by which somebody may not cancel the task: the gate that waits, or
// else the steps' gate that was settled, says who may.
func (a *Aggregate) mayWithdraw(by aggregate.Actor, p aggregate.Policy) error {
	var g *aggregate.Gate
	if open, waits := a.OpenGate(); waits {
		g = a.Asked(open.ID).Gate
	}
	if steps := a.Process(); steps != nil && g == nil {
		g = &steps.Gate
	}
	return p.WithdrawFrom(g, by, a.Head.Requester)
}

// withdraw closes an open gate and a running execution. It relies on the task's stage, so the commit fails if another
// gate or execution was opened meanwhile.
func (a *Aggregate) withdraw(by aggregate.Actor, to aggregate.GateStatus, now time.Time) *change {
	c := a.begin(now)
	if open, ok := a.OpenGate(); ok {
		c.moveGate(a.gateOf(open.ID), to, nil)
	}
	if e := a.Execution(); e != nil && !e.over() {
		a.cancelExecution(c, e, by)
	}
	a.relyOnStage(c)
	return c
}

func (a *Aggregate) cancelExecution(c *change, e *Execution, by aggregate.Actor) {
	results := a.results(e, c)
	c.moveExecution(e, ExecutionCancelled, func(n *Execution) {
		n.CancelledBy, n.CancelledAt, n.Results = by.ID, &c.Now, results
	})
	a.relyOnStep(c, e)
	c.Record(&c.Head, by, AuditExecutionCancelled, "execution", e.ID, a.writesOf(e, c, results, map[string]any{}))
}

// Expire ends a task whose gate was not decided in time. It returns ErrNotDue before decide_by, or if nothing waits.
// Only the sweeper calls it.
func (a *Aggregate) Expire(now time.Time) (aggregate.Change, error) {
	open, ok := a.OpenGate()
	if !ok || open.Terms.DecideBy == nil || !now.After(*open.Terms.DecideBy) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.withdraw(aggregate.System(), aggregate.Expired, now)
	kind, id := string(open.Kind), open.ID
	if e := a.Execution(); open.Kind == CardStep && e != nil {
		kind, id = "execution", e.ID
	}
	c.Record(&c.Head, aggregate.System(), AuditTaskExpired, kind, id, map[string]any{"hours": open.Terms.ApprovalHours})
	return c.ended(a.Task, TaskCancelled, aggregate.System(), ReasonExpired)
}

// otherExecution returns the error for an execution id that is not the newest one's.
func (a *Aggregate) otherExecution(id string) error {
	if slices.ContainsFunc(a.Executions, func(e *Execution) bool { return e.ID == id }) {
		return aggregate.ErrNotLatest{Latest: a.Execution().Attempt}
	}
	return aggregate.ErrNotFound
}

// WillAsk reports whether people will be asked about a new request's policy or steps. It ignores gates of single steps,
// and those whose people the tenant's rules name.
func (a *Aggregate) WillAsk(s tenancy.Settings) bool {
	return a.asksForPolicy(s) || a.asksForSteps(s) && !a.UnderRules(s)
}

// Undecidable reports whether the task is parked because nobody could approve the version that was made.
func (h Head) Undecidable() bool { return h.Parked != nil && h.Parked.Sentence == ReasonNobodyApproves }
