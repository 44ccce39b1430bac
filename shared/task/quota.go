package task

import (
	"fmt"
	"strconv"
	"time"
)

// Limit bounds a number of tasks, for each person and for a whole tenant; 0: without a limit.
type Limit struct {
	Person int `json:"person"`
	Tenant int `json:"tenant"`
}

// maxLimit is the highest that a limit may be set to.
const maxLimit = 100_000

func (l Limit) check(field string) error {
	for _, x := range []struct {
		name string
		n    int
	}{{"person", l.Person}, {"tenant", l.Tenant}} {
		if x.n < 0 || x.n > maxLimit {
			return ErrField{field + "." + x.name, fmt.Sprintf("must be between 0 and %d", maxLimit)}
		}
	}
	return nil
}

// Quotas are how many tasks there may be.
type Quotas struct {
	Open Limit // at a time
	Hour Limit // that are asked for within a clock hour, by UTC
}

// everybody stands for the tenant in keys of counters; no user id is like it.
const everybody = "*"

// keptFor is how long the counter of an hour outlives it.
const keptFor = 48 * time.Hour

// Count is a counter of a tenant's quotas and how a Change moves it.
type Count struct {
	Key    string // <user>#<hour>, OPEN#<user> or ASKED#<user>#<gate>
	By     int    // 1 or -1
	Most   int    // it must not come to more; 0: whatever it comes to
	Reason Reason // why there is no place, when it would
	Until  time.Time
	Keep   time.Time // zero: for ever
}

// Counts are the counters that c moves, for the head as it was: a task takes a place
// when it is accepted, and one of the hour's in which it was asked for, which it keeps:
// what waited for Slack and is accepted together was not asked for together. It gives its place back
// when it ends or waits for somebody to try a failed generation again, and takes it
// again when somebody does, full or not. It is written with the head's rev, so a place is
// taken once and given back once, whatever was lost or repeated.
func (c Change) Counts(was Head) []Count {
	is := c.Head
	people := []struct {
		user         string
		open, hour   int
		none, noMore Reason
	}{
		{is.Requester, c.quotas.Open.Person, c.quotas.Hour.Person, ReasonOpenPerson, ReasonHourPerson},
		{everybody, c.quotas.Open.Tenant, c.quotas.Hour.Tenant, ReasonOpenTenant, ReasonHourTenant},
	}
	out := c.counts()
	accepted := was.AcceptedAt == nil && is.AcceptedAt != nil
	for _, p := range people {
		switch {
		case accepted:
			hour := is.CreatedAt.UTC().Truncate(time.Hour)
			next := hour.Add(time.Hour)
			out = append(out,
				Count{Key: p.user + "#" + hour.Format("2006-01-02T15"), By: 1, Most: p.hour, Reason: p.noMore, Until: next, Keep: latest(next, is.AcceptedAt).Add(keptFor)},
				Count{Key: openKey(p.user), By: 1, Most: p.open, Reason: p.none})
		case is.holds() && !was.holds():
			out = append(out, Count{Key: openKey(p.user), By: 1})
		case was.holds() && !is.holds():
			out = append(out, Count{Key: openKey(p.user), By: -1})
		}
	}
	return out
}

func openKey(user string) string { return "OPEN#" + user }

// holds reports whether the task has a place among those that are open. Tasks that
// began before there were quotas have none.
func (h Head) holds() bool { return h.AcceptedAt != nil && h.Ended == nil && h.Parked == nil }

// ErrFull says that there is no place for the task, why, and when there may be one.
type ErrFull struct{ Count }

func (e ErrFull) Error() string { return fmt.Sprintf("%s: at most %d", e.Reason, e.Most) }

// Accept lets a request become a task, before anything is spent on it. Guests and
// strangers are refused by the Change itself; that there is no place shows when it is
// committed, as ErrFull. It is no change for a task that was accepted, or was there
// before tasks had to be.
func (a *Aggregate) Accept(run int, by Actor, s Settings, now time.Time) (Change, error) {
	if c, err := a.TurnAway(run, by, now); err != nil || !a.Waiting() || !c.Empty() {
		return c, err
	}
	c := a.begin(now)
	c.rely(&Task{}, a.choiceAsRead())
	c.Head.AcceptedAt, c.quotas = &c.Now, Quotas{s.MaxOpenTasks, s.MaxTasksPerHour}
	return c, nil
}

// TurnAway ends the request of a guest or a stranger. It is no change for anybody else.
func (a *Aggregate) TurnAway(run int, by Actor, now time.Time) (Change, error) {
	if a.Request == nil {
		return Change{}, ErrConflict // a torn read
	}
	reason := ReasonGuest
	switch err := (Policy{Team: a.Request.TeamID}).Request(by); {
	case err == nil:
		reason = ""
	case err.(ErrNotAllowed).Rule == RuleForeign:
		reason = ReasonStranger
	}
	return a.turnAway(run, reason, now)
}

// RefuseWorkspace ends a request of a workspace that is none of ours.
func (a *Aggregate) RefuseWorkspace(run int, now time.Time) (Change, error) {
	return a.turnAway(run, ReasonWorkspace, now)
}

// turnAway ends a request that nobody has decided about; without a reason it is no change.
func (a *Aggregate) turnAway(run int, why Reason, now time.Time) (Change, error) {
	if err := a.working(run); err != nil || why == "" || !a.Waiting() {
		return Change{}, err
	}
	return a.endRefused(why, "", time.Time{}, now)
}

// Waiting reports whether nobody has decided yet whether the request becomes a task. While
// people are asked what the message is meant to be, that is not to be decided.
func (a *Aggregate) Waiting() bool {
	return a.Task == nil && a.Head.AcceptedAt == nil && a.Head.Ended == nil && a.Head.Parked == nil && a.Choosing() == nil
}

// RefuseFull ends a request for which there is no place. Nothing was spent on it.
func (a *Aggregate) RefuseFull(run int, full ErrFull, now time.Time) (Change, error) {
	if err := a.working(run); err != nil {
		return Change{}, err
	}
	if !a.Waiting() {
		return Change{}, nil
	}
	return a.endRefused(full.Reason, strconv.Itoa(full.Most), full.Until, now)
}

func (a *Aggregate) endRefused(why Reason, detail string, until, now time.Time) (Change, error) {
	c := a.begin(now)
	if err := c.end(nil, TaskRefused, System(), why); err != nil {
		return Change{}, err
	}
	c.Head.Ended.Detail = detail
	about := map[string]any{"reason": why, "requester": a.Head.Requester}
	if detail != "" {
		about["limit"] = detail
	}
	if !until.IsZero() {
		until = latest(until, &c.Now) // the hour in which it was asked for may be over
		c.Head.Ended.Until = &until
	}
	c.audit(System(), TaskRefusedAction, "task", a.Head.TaskID, about)
	return c, nil
}
