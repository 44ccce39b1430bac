package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Tell makes a head that has ended already, with a plain reply as its only card: what is
// said without anybody having asked for work. Its id is made of why and about, so that
// the same is said once, however often it is tried: about names whom or where.
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
