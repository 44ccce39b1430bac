package task

import (
	"strconv"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Quotas limit the number of tasks.
type Quotas struct {
	Open tenancy.Limit // open at the same time
	Hour tenancy.Limit // requested within a clock hour, UTC
}

// everybody replaces the user id in the tenant's counters. It can't be a user id.
const everybody = "*"

// keptFor is how long an hour's counter is kept after that hour.
const keptFor = 48 * time.Hour

// counts returns what c adds to the counters of open and hourly tasks. An accepted task adds one to both. For the
// hourly counter the time of the request decides, not that of the acceptance, because requests that waited for Slack
// are accepted all at once. The open count goes down when the task ends or is parked, and up again when somebody
// retries it, even beyond the limit. The counters are written with the head's rev, so each is changed exactly once.
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

// OpenOfTenant is the key of the counter of a tenant's open tasks.
func OpenOfTenant() string { return openKey(everybody) }

func openKey(user string) string { return "OPEN#" + user }

// holds reports whether the task counts as open.
func (h Head) holds() bool { return h.AcceptedAt != nil && h.Ended == nil && h.Parked == nil }

// Accept turns a request into a task, before it costs anything. The Change refuses guests and people of other
// workspaces. If a quota is used up, the commit fails with ErrFull. Nothing changes for a task that was already
// accepted.
func (a *Aggregate) Accept(run int, by aggregate.Actor, s tenancy.Settings, now time.Time,
	shownTo ...string) (aggregate.Change, error) {
	if c, err := a.RefuseOutsider(run, by, now); err != nil || !a.Waiting() || !c.Empty() {
		return c, err
	}
	c := a.begin(now)
	c.RelyOn(&Task{}, a.choiceAsRead())
	c.Head.ShownTo = shownTo
	c.Head.AcceptedAt, c.quotas = &c.Now, Quotas{s.MaxOpenTasks, s.MaxTasksPerHour}
	c.rulesAsked(a)
	c.register()
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
	return a.refuse(run, reason, now)
}

// RefuseWorkspace ends a request from a workspace that does not use Ringi, and so has no register.
func (a *Aggregate) RefuseWorkspace(run int, now time.Time) (aggregate.Change, error) {
	return a.Registering(nil).refuse(run, ReasonWorkspace, now)
}

// RefuseUndecidable ends a request that nobody could approve because of this rule.
func (a *Aggregate) RefuseUndecidable(run int, rule aggregate.Rule, now time.Time) (aggregate.Change, error) {
	return a.refuse(run, ReasonUndecidable(rule), now)
}

// ReasonUndecidable returns the reason for refusing a request that nobody could approve. RuleSelf: only the askers
// could, and they may not. RuleNotMember: the channel has nobody else. RuleUnlisted: the members can't be read.
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

// refuse ends a request that is neither accepted nor refused. Without a reason nothing changes.
func (a *Aggregate) refuse(run int, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil || why == "" || !a.Waiting() {
		return aggregate.Change{}, err
	}
	return a.endRefused(why, "", time.Time{}, now)
}

// Waiting reports whether the request is neither accepted nor refused yet, and no choice about the message is open.
func (a *Aggregate) Waiting() bool {
	return a.Task == nil && a.Head.AcceptedAt == nil && a.Head.Ended == nil && a.Head.Parked == nil && a.Choosing() == nil
}

// RefuseFull ends a request because a quota is used up. Nothing was spent on it.
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
	about := c.registered(map[string]any{"reason": why, "requester": a.Head.Requester})
	if detail != "" {
		about["limit"] = detail
	}
	if !until.IsZero() {
		until = latest(until, &c.Now) // the hour of the request may be over
		c.Head.Ended.Until = &until
	}
	c.audit(aggregate.System(), AuditTaskRefused, "task", a.Head.TaskID, about)
	return c.done()
}
