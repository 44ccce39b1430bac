package task

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Decision is the Decision of a task: the alias spares the type parameter at each use.
type Decision = aggregate.Decision[*Aggregate]

// change is a Change under construction.
type change struct {
	aggregate.Draft
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

// done is the Change as it is committed, or the first error of its making.
func (c *change) done() (aggregate.Change, error) {
	head := c.Head
	if head.PausedUntil == nil {
		head.PausedFor = ""
	}
	out, err := c.Done(&head)
	if err == nil {
		out.Counts = append(c.Counts[:len(c.Counts):len(c.Counts)], c.counts()...)
	}
	return out, err
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
	c.Record(&c.Head, by, action, resourceType, resourceID, details)
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
