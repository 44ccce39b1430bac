package task

import (
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Saying returns a hash of what a request says: its text, what it forwards, and which files it has.
func (r *Request) Saying() string {
	all := []string{r.Text, strconv.Itoa(r.MoreFiles)}
	for _, q := range r.Forwarded {
		all = append(all, q.User, q.Name, q.Text)
	}
	for _, f := range r.Files {
		all = append(all, "file", f.ID)
	}
	return aggregate.HashOf(strings.Join(all, "\x00"))
}

// Threaded reports whether the message is a reply in a thread.
func (r *Request) Threaded() bool { return r.ThreadTS != "" && r.ThreadTS != r.MessageTS }

// Edited reports whether an edit of its message by this person is of a request that is theirs and isn't over: nothing
// follows from it, and they are told so.
func (a *Aggregate) Edited(by string) bool { return a.Head.Ended == nil && by == a.Head.Requester }

// Deleted cancels what waits, because the message of this person's request was deleted. Nothing changes once an
// execution has begun. Slack doesn't say who deleted a message: people may also delete those of others
// (https://docs.slack.dev/reference/events/message/message_deleted).
func (a *Aggregate) Deleted(author string, now time.Time) (aggregate.Change, error) {
	switch _, offered := a.OfferedIn(); {
	case a.Request == nil:
		return aggregate.Change{}, aggregate.ErrConflict // a torn read
	case offered, a.Head.Ended != nil, a.Execution() != nil, author != a.Head.Requester:
		return aggregate.Change{}, nil
	}
	by := aggregate.System()
	c := a.withdraw(by, aggregate.Cancelled, now)
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonDeleted})
	return c.ended(a.Task, TaskCancelled, by, ReasonDeleted)
}

// Gone keeps that a message was deleted before it was received, so that a later delivery of it makes no request. Nobody
// is shown anything of it.
func Gone(tenant string, r Request, now time.Time) (aggregate.Change, aggregate.Ref, error) {
	id, err := ID(r.TeamID, r.Channel, r.MessageTS)
	if err != nil {
		return aggregate.Change{}, aggregate.Ref{}, err
	}
	now = now.UTC().Truncate(time.Millisecond)
	r = r.Unsaid()
	r.CreatedAt = now
	a := &Aggregate{Request: &r, Head: first(tenant, id, r.User, now)}
	c := a.begin(now)
	c.Put(&r)
	c.Head.Ended = &Ended{As: TaskCancelled, At: c.Now, Reason: ReasonDeleted}
	c.of = nil // no list has it
	out, err := c.done()
	return out, a.Ref(), err
}
