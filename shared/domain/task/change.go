package task

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Decision is a Decision on a task.
type Decision = aggregate.Decision[*Aggregate]

type change struct {
	aggregate.Draft
	Head   Head // as it will be written
	was    Head // as it was read
	of     *Aggregate
	choice *Choice // as it was read
	quotas Quotas  // limits that apply when a task is accepted
}

// begin opens a change at now, or just after the task's last change if that is later.
func (a *Aggregate) begin(now time.Time) *change {
	c := &change{Head: a.Head, was: a.Head, choice: a.Choice, of: a}
	c.Now = a.Head.Moment(now)
	c.Head.ChangedAt = c.Now
	return c
}

// done returns the finished Change, or the first error.
func (c *change) done() (aggregate.Change, error) {
	head := c.Head
	if head.PausedUntil == nil {
		head.PausedFor = ""
	}
	out, err := c.Done(&head)
	if err == nil {
		out.Counts = append(c.Counts[:len(c.Counts):len(c.Counts)], c.counts()...)
		c.note(&out)
	}
	return out, err
}

// progress records that the task moved on by a decision, a finished generation or a step's result. It resets the count
// of restarts, and clears a pause, a parked failure and its retries.
func (c *change) progress() {
	c.Head.Restarts, c.Head.PausedUntil, c.Head.TryingFrom, c.Head.Parked, c.Head.Retried, c.Head.Retries = 0, nil, nil, nil, nil, 0
}

// startRun supersedes every earlier run.
func (c *change) startRun() { c.Head.Run++ }

// under makes c fail if the settings changed since revision rev was read.
func (c *change) under(rev int) {
	c.Owned = append(c.Owned, aggregate.Owned{Key: tenancy.SettingsKey, Rev: rev, Err: aggregate.ErrSettings})
}

func (c *change) audit(by aggregate.Actor, action aggregate.Action, resourceType, resourceID string, details map[string]any) {
	c.Record(&c.Head, by, action, resourceType, resourceID, details)
}

// end closes the task together with an open choice. Only a failed task can be retried.
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

func (c *change) ended(t *Task, as TaskStatus, by aggregate.Actor, reason aggregate.Reason) (aggregate.Change, error) {
	c.end(t, as, by, reason)
	return c.done()
}

// card adds a row for a card that shows subject, unless there is one. The card updater posts its message later.
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
