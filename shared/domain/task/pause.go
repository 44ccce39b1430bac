package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ReasonNoRoom says that a run pauses because the account's limit of concurrent Lambda invocations was reached.
const ReasonNoRoom aggregate.Reason = "no_room"

// PauseRun records that a run's functions could not be invoked because of ReasonNoRoom. The next run begins at until
// and does not count as a restart. It returns ErrSuperseded if the head names another run. It also does so if there is
// nothing to run until a decision or a contest's end, which start the next run themselves.
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
