package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Tell makes a task that has ended already and whose only card is a plain reply, for something that Ringi says although
// nobody asked for work. Its id is made of why and about, which names a person or a place, so that repeated tries say it
// once.
func Tell(tenant string, r Request, why aggregate.Reason, about string, now time.Time) (aggregate.Change, aggregate.Ref) {
	now = now.UTC().Truncate(time.Millisecond)
	r.CreatedAt = now
	id := aggregate.Derive(time.Time{}, "notice", string(why), r.TeamID, about)
	a := &Aggregate{Request: &r, Head: first(tenant, id, r.User, now)}
	c := a.begin(now)
	c.Put(&r)
	c.card(a, CardTask, "TASK")
	c.Head.Ended = &Ended{As: TaskAnswered, At: c.Now, Reason: why}
	out, _ := c.done() // it moves no status, so nothing fails
	return out, a.Ref()
}
