package task

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// product is a row that a model's calls made.
type product interface{ paid(u aggregate.Usage) }

func (t *Task) paid(u aggregate.Usage)      { t.Usage = &u }
func (p *Prompt) paid(u aggregate.Usage)    { p.Usage = &u }
func (p *Process) paid(u aggregate.Usage)   { p.Usage = &u }
func (e *Execution) paid(u aggregate.Usage) { e.Usage = &u }

// Charge makes the Change of a decision say what the model's calls behind it came to:
// on the row that they made, and in a row of their own. Calls that came to nothing,
// because another invocation was faster or the task is over, have that row all the
// same, and count towards the day: then the Change has nothing else, whoever's run it is. So after a commit the
// caller must look whether the head's run is still its own. Charged a second time,
// a usage adds nothing. One that costs less than nothing is an error, and nothing is decided.
func Charge(u aggregate.Usage, now time.Time, decide Decision) Decision {
	return func(a *Aggregate) (aggregate.Change, error) {
		if u.Cost < 0 {
			return aggregate.Change{}, fmt.Errorf("the calls %s are said to cost %s dollars", u.ID, u.Cost)
		}
		c, err := decide(a)
		if u.Calls == 0 || err != nil && !errors.Is(err, aggregate.ErrSuperseded) {
			return c, err
		}
		row := &aggregate.Use{Usage: u, CreatedAt: now.UTC().Truncate(time.Millisecond)}
		if made, ok := c.Made.(product); ok && err == nil {
			made.paid(u)
			row.Made = c.Made.Key()
		}
		switch nothing := err != nil || c.Empty(); {
		case a.charged(u.ID), nothing && u.Free():
			return c, err
		case nothing:
			return aggregate.Change{Rows: []aggregate.Row{row}, Now: row.CreatedAt, Counts: tenancy.Spent(u.Cost, now)}, nil
		}
		c.Put(row)
		c.Counts = append(c.Counts, tenancy.Spent(u.Cost, now)...)
		return c, nil
	}
}

// charged reports whether the task's sum includes a usage already. The head of an earlier release knows that of its
// newest usage only.
func (a *Aggregate) charged(id string) bool {
	return slices.Contains(a.Head.Charged, id) || slices.ContainsFunc(a.Uses, func(u *aggregate.Use) bool { return u.ID == id })
}

// Used is what all models' calls for the task came to, nil when there were none.
func (a *Aggregate) Used() *aggregate.Usage {
	sum := a.Shared.Used()
	if a.Head.Usage != nil {
		sum = a.Head.Usage.Plus(sum)
	}
	if sum.Calls == 0 {
		return nil
	}
	return &sum
}

// Spent is what the models' calls for the task have cost, as far as their prices are known.
func (a *Aggregate) Spent() aggregate.MicroUSD {
	if used := a.Used(); used != nil {
		return used.Cost
	}
	return 0
}

// CostReached reports whether the task has cost what it may; a limit of 0 is none.
func (a *Aggregate) CostReached(limit aggregate.MicroUSD) bool {
	return limit > 0 && a.Spent() >= limit
}

// CostStop is the reason to stop a task that has cost what it may, with both sums.
func (a *Aggregate) CostStop(limit aggregate.MicroUSD) StopError {
	return StopError{ReasonCostLimit, a.Spent().String() + "/" + limit.String()}
}

// StopForCost ends a task that has cost what it may: an execution fails, and before
// there is one the task is cancelled. It is no change while the limit is not
// reached, nor while people judge a contest's draft: what a contest costs is known when
// it is over, and what it was paid for isn't taken from them. Whatever they decide, the
// next call of a model finds the limit reached. Otherwise it returns what FailExecution does.
func (a *Aggregate) StopForCost(run int, limit aggregate.MicroUSD, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil || !a.CostReached(limit) || a.judging() {
		return aggregate.Change{}, err
	}
	why := a.CostStop(limit)
	if a.Execution() != nil {
		return a.FailExecution(run, why.Reason, why.Detail, now)
	}
	c := a.withdraw(aggregate.System(), aggregate.Cancelled, now)
	c.audit(aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{
		"reason": why.Reason, "cost_usd": a.Spent().String(), "max_cost_usd": limit.String(),
	})
	c.end(a.Task, TaskCancelled, aggregate.System(), why.Reason)
	c.Head.Ended.Detail = why.Detail
	return c.done()
}
