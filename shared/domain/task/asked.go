package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ApproveRead stamps the gate with this id for somebody who read all of what had this
// hash. It returns ErrMoved when the gate asks about something else, and otherwise what
// Approve returns.
func (a *Aggregate) ApproveRead(id, hash string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	switch asked := a.AskedHash(id); {
	case asked == "":
		return aggregate.Change{}, aggregate.ErrNotFound
	case asked != hash:
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.Approve(id, by, p, now)
}
