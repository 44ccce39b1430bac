package task

import (
	"strconv"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Quotas are how many tasks there may be.
type Quotas struct {
	Open tenancy.Limit // at a time
	Hour tenancy.Limit // that are asked for within a clock hour, by UTC
}

// everybody stands for the tenant in keys of counters; no user id is like it.
const everybody = "*"

// keptFor is how long the counter of an hour outlives it.
const keptFor = 48 * time.Hour

// counts are the counters that c moves: a task takes a place
// when it is accepted, and one of the hour's in which it was asked for, which it keeps:
// what waited for Slack and is accepted together was not asked for together. It gives its place back
// when it ends or waits for somebody to try a failed generation again, and takes it
// again when somebody does, full or not. It is written with the head's rev, so a place is
// taken once and given back once, whatever was lost or repeated.
func (c *change) counts() []aggregate.Count {
	was, is := c.was, c.Head
	people := []struct {
		user         string
		open, hour   int
		none, noMore aggregate.Reason
	}{
		{is.Requester, c.quotas.Open.Person, c.quotas.Hour.Person, ReasonOpenPerson, ReasonHourPerson},
		{everybody, c.quotas.Open.Tenant, c.quotas.Hour.Tenant, ReasonOpenTenant, ReasonHourTenant},
	}
	out := c.asked()
	accepted := was.AcceptedAt == nil && is.AcceptedAt != nil
	for _, p := range people {
		switch {
		case accepted:
			hour := is.CreatedAt.UTC().Truncate(time.Hour)
			next := hour.Add(time.Hour)
			out = append(out,
				aggregate.Count{Key: p.user + "#" + hour.Format("2006-01-02T15"), By: 1, Most: p.hour, Reason: p.noMore, Until: next, Keep: latest(next, is.AcceptedAt).Add(keptFor)},
				aggregate.Count{Key: openKey(p.user), By: 1, Most: p.open, Reason: p.none})
		case is.holds() && !was.holds():
			out = append(out, aggregate.Count{Key: openKey(p.user), By: 1})
		case was.holds() && !is.holds():
			out = append(out, aggregate.Count{Key: openKey(p.user), By: -1})
		}
	}
	return out
}

func openKey(user string) string { return "OPEN#" + user }

// holds reports whether the task has a place among those that are open. Tasks that
// began before there were quotas have none.
func (h Head) holds() bool { return h.AcceptedAt != nil && h.Ended == nil && h.Parked == nil }

// Accept lets a request become a task, before anything is spent on it. Guests and
// strangers are refused by the Change itself; that there is no place shows when it is
// committed, as ErrFull. It is no change for a task that was accepted, or was there
// before tasks had to be.
func (a *Aggregate) Accept(run int, by aggregate.Actor, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	if c, err := a.RefuseOutsider(run, by, now); err != nil || !a.Waiting() || !c.Empty() {
		return c, err
	}
	c := a.begin(now)
	c.RelyOn(&Task{}, a.choiceAsRead())
	c.Head.AcceptedAt, c.quotas = &c.Now, Quotas{s.MaxOpenTasks, s.MaxTasksPerHour}
	return c.done()
}

// RefuseOutsider ends the request of a guest or a stranger. It is no change for anybody else.
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
	return a.refuse(run, reason, now)
}

// RefuseWorkspace ends a request of a workspace that is none of Ringi's.
func (a *Aggregate) RefuseWorkspace(run int, now time.Time) (aggregate.Change, error) {
	return a.refuse(run, ReasonWorkspace, now)
}

// RefuseUndecidable ends a request that nobody could approve, as ReasonUndecidable of the rule that says so.
func (a *Aggregate) RefuseUndecidable(run int, rule aggregate.Rule, now time.Time) (aggregate.Change, error) {
	return a.refuse(run, ReasonUndecidable(rule), now)
}

// ReasonUndecidable is why nothing is begun that nobody could approve: RuleSelf where only those who ask could, who may
// not, RuleNotMember where the channel has nobody else, RuleUnlisted where nobody is found to be a member.
func ReasonUndecidable(rule aggregate.Rule) aggregate.Reason {
	switch rule {
	case aggregate.RuleSelf:
		return ReasonOnlyAskers
	case aggregate.RuleNotMember:
		return ReasonNoMember
	case aggregate.RuleUnlisted:
		return ReasonGroupMessage
	}
	return ReasonNoApprover
}

// refuse ends a request that nobody has decided about; without a reason it is no change.
func (a *Aggregate) refuse(run int, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil || why == "" || !a.Waiting() {
		return aggregate.Change{}, err
	}
	return a.endRefused(why, "", time.Time{}, now)
}

// Waiting reports whether nobody has decided yet whether the request becomes a task. While
// people are asked what the message is meant to be, that is not to be decided.
func (a *Aggregate) Waiting() bool {
	return a.Task == nil && a.Head.AcceptedAt == nil && a.Head.Ended == nil && a.Head.Parked == nil && a.Choosing() == nil
}

// RefuseFull ends a request for which there is no place. Nothing was spent on it.
func (a *Aggregate) RefuseFull(run int, full aggregate.ErrFull, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if !a.Waiting() {
		return aggregate.Change{}, nil
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
		until = latest(until, &c.Now) // the hour in which it was asked for may be over
		c.Head.Ended.Until = &until
	}
	c.audit(aggregate.System(), AuditTaskRefused, "task", a.Head.TaskID, about)
	return c.done()
}
