package task

import (
	"errors"
	"slices"
	"time"

	"ringi/shared/aggregate"
)

// product is a row that a model's calls made.
type product interface{ paid(u aggregate.Usage) }

func (t *Task) paid(u aggregate.Usage)      { t.Usage = &u }
func (p *Prompt) paid(u aggregate.Usage)    { p.Usage = &u }
func (p *Process) paid(u aggregate.Usage)   { p.Usage = &u }
func (e *Execution) paid(u aggregate.Usage) { e.Usage = &u }

// MaxCharged is how many usages a head, which stays small, remembers. Between two tries of one commit
// there are at most a few others: a task has one generation at a time, and some that were overtaken.
const MaxCharged = 3

// Charge makes the Change of a decision say what the model's calls behind it came to:
// on the row that they made, and in the task's sum. Calls that came to nothing,
// because another invocation was faster or the task is over, are in the sum all the
// same: then the Change says only that, whoever's run it is. So after a commit the
// caller must look whether the head's run is still its own. Charged a second time,
// a usage adds nothing.
func Charge(u aggregate.Usage, now time.Time, decide Decision) Decision {
	return func(a *Aggregate) (Change, error) {
		c, err := decide(a)
		known := slices.Contains(a.Head.Charged, u.ID)
		switch {
		case u.Calls == 0, err != nil && !errors.Is(err, aggregate.ErrSuperseded):
			return c, err
		case (err != nil || c.Empty()) && (known || u.Free()):
			return Change{}, err
		case err != nil || c.Empty():
			c = a.aside(now)
		}
		if c.made != nil {
			c.made.paid(u)
		}
		if !known {
			c.charge(u)
		}
		return c, nil
	}
}

func (c *Change) charge(u aggregate.Usage) {
	sum := u.Sum()
	if c.Head.Usage != nil {
		sum = c.Head.Usage.Plus(sum)
	}
	c.Head.Usage = &sum
	ids := append(slices.Clone(c.Head.Charged), u.ID)
	c.Head.Charged = ids[max(0, len(ids)-MaxCharged):]
}

// aside opens a Change that moves nothing: the task is no less stuck for it, and
// what was the last thing to happen still is.
func (a *Aggregate) aside(now time.Time) Change {
	c := a.begin(now)
	c.Head.ChangedAt, c.Head.Aside = a.Head.ChangedAt, a.Head.Aside+1
	return c
}

// Spent is what the models' calls for the task have cost, as far as their prices are known.
func (a *Aggregate) Spent() aggregate.MicroUSD {
	if a.Head.Usage == nil {
		return 0
	}
	return a.Head.Usage.Cost
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
// reached; otherwise it returns what FailExecution does.
func (a *Aggregate) StopForCost(run int, limit aggregate.MicroUSD, now time.Time) (Change, error) {
	if err := a.working(run); err != nil || !a.CostReached(limit) {
		return Change{}, err
	}
	why := a.CostStop(limit)
	if a.Execution() != nil {
		return a.FailExecution(run, why.Reason, why.Detail, now)
	}
	c, err := a.withdraw(aggregate.System(), aggregate.Cancelled, now)
	if err != nil {
		return Change{}, err
	}
	c.audit(aggregate.System(), TaskCancelledAction, "task", a.Head.TaskID, map[string]any{
		"reason": why.Reason, "cost_usd": a.Spent().String(), "max_cost_usd": limit.String(),
	})
	if err := c.end(a.Task, TaskCancelled, aggregate.System(), why.Reason); err != nil {
		return Change{}, err
	}
	c.Head.Ended.Detail = why.Detail
	return c, nil
}
