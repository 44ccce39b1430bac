package task

import (
	"cmp"
	"maps"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Decision is the Decision of a task: the alias spares the type parameter at each use.
type Decision = aggregate.Decision[*Aggregate]

// change is a Change under construction. A step that the rows don't allow notes its error, and those that follow do no
// harm: done returns the first error.
type change struct {
	aggregate.Change
	err    error
	Head   Head    // as it shall be
	was    Head    // as it was read
	choice *Choice // of what the message is meant to be, as it was read
	quotas Quotas  // what accepting a task is held against
}

// begin opens a change at now, but never before the task's last one.
func (a *Aggregate) begin(now time.Time) *change {
	c := &change{Head: a.Head, was: a.Head, choice: a.Choice}
	c.Now = a.Head.Moment(now)
	c.Head.ChangedAt, c.Head.Aside = c.Now, 0
	return c
}

// fail notes why there is no Change.
func (c *change) fail(err error) { c.err = cmp.Or(c.err, err) }

// done is the Change as it is committed, or the first error of its making.
func (c *change) done() (aggregate.Change, error) {
	if c.err != nil {
		return aggregate.Change{}, c.err
	}
	out, head := c.Change, c.Head
	if head.PausedUntil == nil {
		head.PausedFor = ""
	}
	out.Head, out.Counts = &head, append(c.Counts[:len(c.Counts):len(c.Counts)], c.counts()...)
	return out, nil
}

// progress records that the task has moved on, by a decision, a finished generation or a step's result: it resets the
// count of restarts and clears a pause, a parked failure and its retries.
func (c *change) progress() {
	c.Head.Restarts, c.Head.PausedUntil, c.Head.TryingFrom, c.Head.Parked, c.Head.Retried, c.Head.Retries = 0, nil, nil, nil, nil, 0
}

// startRun makes every run before this one superseded.
func (c *change) startRun() { c.Head.Run++ }

// under makes c rely on the settings as they were read.
func (c *change) under(rev int) {
	c.Owned = append(c.Owned, aggregate.Owned{Key: tenancy.SettingsKey, Rev: rev, Err: aggregate.ErrSettings})
}

func (c *change) audit(by aggregate.Actor, action aggregate.Action, resourceType, resourceID string, details map[string]any) {
	if by.Surface != "" && by.Surface != aggregate.SurfaceSlack {
		details = maps.Clone(details)
		if details == nil {
			details = map[string]any{}
		}
		details["surface"] = by.Surface
	}
	c.Audit = append(c.Audit, aggregate.AuditEntry{
		TenantID: c.Head.TenantID, Timestamp: c.Now, ActorType: by.Type, ActorID: by.ID, Action: action,
		ResourceType: resourceType, ResourceID: resourceID, AggregateID: c.Head.TaskID, Details: aggregate.Details(details),
	})
}

// end closes the task, and with it what people may still be asked about the message. Only a
// failed one may begin again.
func (c *change) end(t *Task, as TaskStatus, by aggregate.Actor, reason aggregate.Reason) {
	c.Head.Ended = &Ended{As: as, By: by.ID, At: c.Now, Reason: reason}
	c.Head.Parked, c.Head.PausedUntil, c.Head.TryingFrom, c.Head.Retried = nil, nil, nil, nil
	c.closeChoice()
	if t == nil {
		c.RelyOn(&Task{})
		return
	}
	c.moveTask(t, as)
}

// ended is end followed by done.
func (c *change) ended(t *Task, as TaskStatus, by aggregate.Actor, reason aggregate.Reason) (aggregate.Change, error) {
	c.end(t, as, by, reason)
	return c.done()
}

// card makes the row of a card that shows subject; its message comes later.
func (c *change) card(a *Aggregate, typ aggregate.CardType, subject string) {
	card := &aggregate.Card{
		ID: aggregate.Derive(c.Now, "card", a.Head.TaskID, string(typ), subject), AggregateID: a.Head.TaskID, CardType: typ, Subject: subject,
		Channel: a.Request.Channel, State: aggregate.CardNone, CreatedAt: c.Now,
	}
	if a.Card(card.Key()) == nil {
		c.Put(card)
	}
}

func (a *Aggregate) rowID(key string, now time.Time) string {
	return aggregate.Derive(now, "row", a.Head.TenantID, a.Head.TaskID, key)
}
