package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// MaxText limits the stored text of a message in characters. It is Slack's own limit.
const MaxText = 40000

// Receive creates the head, the request and the first card (受け付けました) for a message. The first layer creates the task's
// row later. It returns an error for an invalid message timestamp.
func Receive(tenant string, r Request, now time.Time) (aggregate.Change, aggregate.Ref, error) {
	id, err := ID(r.TeamID, r.Channel, r.MessageTS)
	if err != nil {
		return aggregate.Change{}, aggregate.Ref{}, err
	}
	now = now.UTC().Truncate(time.Millisecond)
	r.CreatedAt = now
	a := &Aggregate{Request: &r, Head: first(tenant, id, r.User, now)}
	c := a.begin(now)
	c.Put(&r)
	c.card(a, CardTask, "TASK")
	out, err := c.done()
	return out, a.Ref(), err
}

// Extract is the first layer's output.
type Extract struct {
	Kind        ExtractKind
	Sentence    string // a plain reply, when there is no task
	Title       string
	Description string
	Priority    Priority
	TaskType    Type
	Shown       []string          // whose messages of the thread the first layer was shown, apps among them
	Thread      *aggregate.Thread // what it was shown of the thread
	Last        bool              // the task has cost what it may, so no policy begins
}

// Extracted creates the task's row from the first layer's output and begins its first policy, or ends the task with a
// plain reply. If the row exists, nothing changes.
func (a *Aggregate) Extracted(run int, e Extract, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	switch {
	case a.anew():
		return a.extractedAnew(e, now)
	case a.Task != nil:
		return aggregate.Change{}, nil
	}
	if e.Kind.plain() {
		return a.answered(e, now)
	}
	c := a.begin(now)
	c.progress()
	c.readThread(a, e)
	t := &Task{
		ID: a.Head.TaskID, TenantID: a.Head.TenantID, Title: e.Title, Description: e.Description, Priority: e.Priority, TaskType: e.TaskType,
		Status: TaskExtracted, Source: a.Request.Source, SlackChannel: a.Request.Channel, SlackThreadTS: a.Request.ThreadTS,
		CreatedAt: c.Now, UpdatedAt: c.Now,
	}
	c.Put(t)
	if !e.Last {
		c.beginPrompt(1, 0)
	}
	c.Made = t
	about := a.Head.withNumber(map[string]any{"title": e.Title, "requester": a.Head.Requester})
	c.audit(aggregate.System(), AuditTaskCreated, "task", a.Head.TaskID, about)
	return c.done()
}

// readThread keeps with the request what was read of its thread, and whose words that has: they ask, too.
func (c *change) readThread(a *Aggregate, e Extract) {
	if e.Thread == nil && a.Request.Thread == nil && len(e.Shown) == 0 {
		return
	}
	r := *a.Request
	r.Thread = e.Thread
	r.Asked(e.Shown...)
	c.Put(&r)
}

// working returns ErrSuperseded if the head names another run or the task has ended.
func (a *Aggregate) working(run int) error {
	if a.Head.Run != run || a.Head.Ended != nil {
		return aggregate.ErrSuperseded
	}
	return nil
}

// first returns the head of a new task.
func first(tenant, id, requester string, now time.Time) Head {
	return Head{Head: aggregate.Head{TenantID: tenant, Run: 1, Requester: requester, CreatedAt: now}, TaskID: id,
		Noted: StatusDrafting}
}
