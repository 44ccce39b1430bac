package task

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// product is a row that was made by model calls.
type product interface{ paid(u aggregate.Usage) }

func (t *Task) paid(u aggregate.Usage)      { t.Usage = &u }
func (p *Prompt) paid(u aggregate.Usage)    { p.Usage = &u }
func (p *Process) paid(u aggregate.Usage)   { p.Usage = &u }
func (e *Execution) paid(u aggregate.Usage) { e.Usage = &u }

// Charge wraps a decision so that its Change records the usage of the model calls behind it: on the row that they made,
// and in a row of its own. If the decision changes nothing or its run is superseded, the usage is still recorded and
// counted towards the day, in a Change that contains nothing else. So after a commit the caller must check whether the
// head still names its run. Charging a usage twice adds nothing. A negative cost is an error.
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

// charged reports whether the usage was already charged.
func (a *Aggregate) charged(id string) bool {
	return slices.ContainsFunc(a.Uses, func(u *aggregate.Use) bool { return u.ID == id })
}

// Used returns the total usage of model calls for the task, or nil if there were none.
func (a *Aggregate) Used() *aggregate.Usage {
	sum := a.Shared.Used()
	if sum.Calls == 0 {
		return nil
	}
	return &sum
}

// Spent returns the cost of the model calls with known prices.
func (a *Aggregate) Spent() aggregate.MicroUSD {
	if used := a.Used(); used != nil {
		return used.Cost
	}
	return 0
}

// CostReached reports whether the task's cost has reached the limit; 0 means no limit.
func (a *Aggregate) CostReached(limit aggregate.MicroUSD) bool {
	return limit > 0 && a.Spent() >= limit
}

// CostStop returns the reason to stop the task, with its cost and the limit.
func (a *Aggregate) CostStop(limit aggregate.MicroUSD) StopError {
	return StopError{ReasonCostLimit, a.Spent().String() + "/" + limit.String()}
}

// StopForCost ends a task whose cost has reached the limit: an execution fails, and without an execution the task is
// cancelled. It changes nothing below the limit. It also changes nothing while people judge a contest's draft: its cost
// is known only at the end, and the result is already paid for. The next model call then hits the limit. Otherwise it
// returns what FailExecution returns.
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
