package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ReasonNoRoom is why a run pauses whose functions could not be invoked: as many ran as the account may run at once.
const ReasonNoRoom aggregate.Reason = "no_room"

// PauseRun records that a run's functions could not be invoked for want of room, which is nobody's failure: the next
// run begins at until, and counts as no restart. It returns ErrSuperseded when the head's run is another, or there is
// nothing to run: a person's decision, or a contest's end, begins the next run.
func (a *Aggregate) PauseRun(run int, until, now time.Time) (aggregate.Change, error) {
	if a.Head.Ended != nil {
		return a.reclose(run, now)
	}
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if !a.work(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	a.relyOnStage(c)
	c.startRun()
	tried := a.TryingSince().Add(latest(until, &c.Now).Sub(latest(a.Head.ChangedAt, a.Head.PausedUntil))).UTC().Truncate(time.Millisecond)
	c.Head.TryingFrom = &tried
	until = until.UTC().Truncate(time.Millisecond)
	c.Head.PausedUntil, c.Head.PausedFor = &until, ReasonNoRoom
	return c.done()
}
