package task

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
		charged := slices.ContainsFunc(a.Uses, func(x *aggregate.Use) bool { return x.ID == u.ID })
		switch nothing := err != nil || c.Empty(); {
		case charged, nothing && u.Free():
			return c, err
		case nothing:
			return aggregate.Change{Rows: []aggregate.Row{row}, Now: row.CreatedAt, Counts: tenancy.Spent(u.Cost, now)}, nil
		}
		c.Put(row)
		c.Counts = append(c.Counts, tenancy.Spent(u.Cost, now)...)
		return c, nil
	}
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
	return a.Shared.Used().Cost
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
	c.Record(&c.Head, aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{
		"reason": why.Reason, "cost_usd": a.Spent().String(), "max_cost_usd": limit.String(),
	})
	c.end(a.Task, TaskCancelled, aggregate.System(), why.Reason)
	c.Head.Ended.Detail = why.Detail
	return c.done()
}

// Failure says why a model's answer was not usable.
type Failure struct {
	Reason     aggregate.Reason
	Detail     string          // for administrators, such as whose API key failed; never content
	Said       string          // shown to people instead of Detail; may quote the model, so it is never logged
	RetryAfter time.Duration   // the delay that the vendor asked for, or 0
	Transient  bool            // another try may succeed
	Usage      aggregate.Usage // of the failed calls
}

// keptFor is how long an hour's counter is kept after that hour.
const keptFor = 48 * time.Hour

// counts returns what c adds to the counters of open and hourly tasks. An accepted task adds one to both. For the
// hourly counter the time of the request decides, not that of the acceptance, because requests that waited for Slack
// are accepted all at once. The open count goes down when the task ends or is parked, and up again when somebody
// retries it, even beyond the limit. The counters are written with the head's rev, so each is changed exactly once.
func (c *change) counts() []aggregate.Count {
	was, is := c.was, c.Head
	var out []aggregate.Count
	switch {
	case was.AcceptedAt == nil && is.AcceptedAt != nil:
		hour := is.CreatedAt.UTC().Truncate(time.Hour)
		next := hour.Add(time.Hour)
		out = append(out,
			aggregate.Count{Key: is.Requester + "#" + hour.Format("2006-01-02T15"), By: 1, Most: c.limits.MaxTasksPerHour,
				Reason: ReasonHourPerson, Until: next, Keep: latest(next, is.AcceptedAt).Add(keptFor)},
			aggregate.Count{Key: openKey(is.Requester), By: 1, Most: c.limits.MaxOpenTasks, Reason: ReasonOpenPerson})
	case is.holds() && !was.holds():
		out = append(out, aggregate.Count{Key: openKey(is.Requester), By: 1})
	case was.holds() && !is.holds():
		out = append(out, aggregate.Count{Key: openKey(is.Requester), By: -1})
	}
	return out
}

func openKey(user string) string { return "OPEN#" + user }

// holds reports whether the task counts as open.
func (h Head) holds() bool { return h.AcceptedAt != nil && h.Ended == nil && h.Parked == nil }

// Accept turns a request into a task, before it costs anything. The Change refuses guests and people of other
// workspaces. If a quota is used up, the commit fails with ErrFull. Nothing changes for a task that was already
// accepted.
func (a *Aggregate) Accept(run int, by aggregate.Actor, s tenancy.Settings, now time.Time) (aggregate.Change,
	error) {
	if c, err := a.RefuseOutsider(run, by, now); err != nil || !a.Waiting() || !c.Empty() {
		return c, err
	}
	c := a.begin(now)
	c.untasked()
	c.Head.AcceptedAt, c.limits = &c.Now, s
	return c.done()
}

// RefuseOutsider ends the request of a guest or of a person from another workspace. Nothing changes for anybody else.
func (a *Aggregate) RefuseOutsider(run int, by aggregate.Actor, now time.Time) (aggregate.Change, error) {
	if a.Request == nil {
		return aggregate.Change{}, aggregate.ErrConflict // a torn read
	}
	reason := ReasonGuest
	switch err := (aggregate.Policy{Team: a.Request.TeamID}).Request(by); {
	case err == nil:
		reason = ""
	case err.(aggregate.ErrNotAllowed).Rule == aggregate.RuleForeign:
		reason = ReasonStranger
	}
	return a.Refuse(run, reason, now)
}

// ReasonUndecidable returns the reason for refusing a request that nobody could approve. RuleSelf: only the askers
// could, and they may not. RuleNotMember: the channel has nobody else. RuleUnlisted: the members can't be read.
func ReasonUndecidable(rule aggregate.Rule) aggregate.Reason {
	return cmp.Or(map[aggregate.Rule]aggregate.Reason{aggregate.RuleSelf: ReasonOnlyAskers,
		aggregate.RuleNotMember: ReasonNoMember, aggregate.RuleUnlisted: ReasonGroupMessage}[rule], ReasonNoApprover)
}

// Refuse ends a request that is neither accepted nor refused. Without a reason nothing changes.
func (a *Aggregate) Refuse(run int, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil || why == "" || !a.Waiting() {
		return aggregate.Change{}, err
	}
	return a.endRefused(why, "", time.Time{}, now)
}

// Waiting reports whether the request is neither accepted nor refused yet.
func (a *Aggregate) Waiting() bool {
	return a.Task == nil && a.Head.AcceptedAt == nil && a.Head.Ended == nil && a.Head.Parked == nil
}

// RefuseFull ends a request because a quota is used up. Nothing was spent on it.
func (a *Aggregate) RefuseFull(run int, full aggregate.ErrFull, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil || !a.Waiting() {
		return aggregate.Change{}, err
	}
	return a.endRefused(full.Reason, strconv.Itoa(full.Most), full.Until, now)
}

func (a *Aggregate) endRefused(why aggregate.Reason, detail string, until, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.end(nil, TaskRefused, aggregate.System(), why)
	c.Head.Ended.Detail = detail
	about := map[string]any{"reason": why, "requester": a.Head.Requester}
	if detail != "" {
		about["limit"] = detail
	}
	if !until.IsZero() {
		until = latest(until, &c.Now) // the hour of the request may be over
		c.Head.Ended.Until = &until
	}
	c.Record(&c.Head, aggregate.System(), AuditTaskRefused, "task", a.Head.TaskID, about)
	return c.done()
}
