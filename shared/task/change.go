package task

import (
	"encoding/json"
	"slices"
	"time"

	"ringi/shared/aggregate"
)

// Change is one commit: the head, the rows it writes, the rows it relied on, and
// the audit entries that record it. The store writes it in one transaction.
type Change struct {
	ID    string          // given by the store; how a lost answer is recognised
	Head  Head            // as it shall be, but for Rev, which the commit adds one to
	Rows  []aggregate.Row // each on its Revision as read
	Rely  []aggregate.Row // must still have the Revision that they were read with; one of Revision 0 must still be absent
	Audit []aggregate.AuditEntry
	Now   time.Time
	// Tool is the permission that a claim relied on.
	Tool *ToolRef
	// SettingsRev is the revision of the settings that a gate opens under; nil relies on none, 0 on there being none.
	SettingsRev *int
	made        product // by a model, if it was; see Charge
	choice      *Choice // of what the message is meant to be, as it was read
	// quotas are what accepting one is held against.
	quotas Quotas
	// Uncovered: the Change only records that a write's outcome is unknown.
	Uncovered bool
}

// Decision makes a Change of a task as it was loaded. It is a pure function: it may be asked again of newer rows.
type Decision func(*Aggregate) (Change, error)

// ToolRef names the revision of a tool permission as read; 0: there is no such row.
type ToolRef struct {
	Name string
	Rev  int
}

// Empty reports whether there is nothing to commit: the decision stands already.
func (c Change) Empty() bool { return c.Head.TaskID == "" }

// begin opens a Change at now, but never before the task's last one.
func (a *Aggregate) begin(now time.Time) Change {
	now = now.UTC().Truncate(time.Millisecond)
	if next := a.Head.ChangedAt.Add(time.Millisecond); now.Before(next) {
		now = next
	}
	c := Change{Head: a.Head, Now: now, choice: a.Choice}
	c.Head.ChangedAt, c.Head.Aside = now, 0
	return c
}

// progress is what a decision, a finished generation or a step's result is: the
// restarts so far are forgiven, a pause, a parked failure and the tries after it are over.
func (c *Change) progress() {
	c.Head.Restarts, c.Head.PausedUntil, c.Head.Parked, c.Head.Retried, c.Head.Retries = 0, nil, nil, nil, 0
}

// startRun makes every run before this one superseded.
func (c *Change) startRun() { c.Head.Run++ }

// put writes rows. A row has one place in a Change: the last one wins, and what is written is relied on already.
func (c *Change) put(rows ...aggregate.Row) {
	for _, r := range rows {
		same := func(x aggregate.Row) bool { return x.Key() == r.Key() }
		c.Rely, c.Rows = slices.DeleteFunc(c.Rely, same), slices.DeleteFunc(c.Rows, same)
		c.Rows = append(c.Rows, r)
	}
}

// rely names rows that must not have changed; one that is named or written already stays as it is.
func (c *Change) rely(rows ...aggregate.Row) {
	for _, r := range rows {
		same := func(x aggregate.Row) bool { return x.Key() == r.Key() }
		if !slices.ContainsFunc(c.Rows, same) && !slices.ContainsFunc(c.Rely, same) {
			c.Rely = append(c.Rely, r)
		}
	}
}

func (c *Change) audit(by aggregate.Actor, action aggregate.Action, resourceType, resourceID string, details map[string]any) {
	b, _ := json.Marshal(details) // of strings and numbers only
	if details == nil {
		b = []byte("{}")
	}
	c.Audit = append(c.Audit, aggregate.AuditEntry{
		TenantID: c.Head.TenantID, Timestamp: c.Now, ActorType: by.Type, ActorID: by.ID, Action: action,
		ResourceType: resourceType, ResourceID: resourceID, TaskID: c.Head.TaskID, Details: aggregate.JSON(b),
	})
}

// end closes the task, and with it what people may still be asked about the message. Only a
// failed one may begin again.
func (c *Change) end(t *Task, as TaskStatus, by aggregate.Actor, reason aggregate.Reason) error {
	c.Head.Ended = &Ended{As: as, By: by.ID, At: c.Now, Reason: reason}
	c.Head.Parked, c.Head.PausedUntil, c.Head.Retried = nil, nil, nil
	c.closeChoice()
	if t == nil {
		c.rely(&Task{})
		return nil
	}
	return c.moveTask(t, as)
}

// card makes the row of a card that shows subject; its message comes later.
func (c *Change) card(a *Aggregate, typ aggregate.CardType, subject string) {
	card := &aggregate.Card{
		ID: aggregate.Derive(c.Now, "card", a.Head.TaskID, string(typ), subject), TaskID: a.Head.TaskID, CardType: typ, Subject: subject,
		Channel: a.Request.Channel, State: aggregate.CardNone, CreatedAt: c.Now,
	}
	if a.Card(card.Key()) == nil {
		c.put(card)
	}
}

func (a *Aggregate) rowID(key string, now time.Time) string {
	return aggregate.Derive(now, "row", a.Head.TenantID, a.Head.TaskID, key)
}
