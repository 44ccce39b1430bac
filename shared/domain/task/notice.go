package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Tell creates a task that has already ended and whose only card is a message from Ringi that nobody requested. Its id
// is derived from why and about, a person or a place, so the message is posted only once. detail may be empty.
func Tell(tenant string, r Request, why aggregate.Reason, about, detail string,
	now time.Time) (aggregate.Change, aggregate.Ref) {
	now = now.UTC().Truncate(time.Millisecond)
	r.CreatedAt = now
	id := aggregate.Derive(time.Time{}, "notice", string(why), r.TeamID, about)
	a := &Aggregate{Request: &r, Head: first(tenant, id, r.User, now)}
	c := a.begin(now)
	c.Put(&r)
	c.card(a, CardTask, "TASK")
	c.Head.Ended = &Ended{As: TaskAnswered, At: c.Now, Reason: why, Detail: detail}
	c.of = nil         // no list has it
	out, _ := c.done() // can't fail, because it changes no status
	return out, a.Ref()
}
