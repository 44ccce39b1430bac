package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// ReadAfter records that somebody has read what was stamped for them at the gate with this id (後閲), also once the
// task is over. It is no stamp, and no run waits for it. A second time nothing changes. It returns ErrNotFound for what
// isn't theirs to read.
func (a *Aggregate) ReadAfter(id string, by aggregate.Actor, _ aggregate.Policy, now time.Time) (aggregate.Change,
	error) {
	row := a.gateOf(id)
	if row == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	c := a.begin(now)
	rows := a.Readings(row.gate(), by, c.Now)
	if len(rows) == 0 {
		theirs := func(x *aggregate.Reading) bool { return x.Asked == row.gate().AskedSum && x.By == by.ID }
		if slices.ContainsFunc(a.Reads, theirs) {
			return aggregate.Change{}, nil
		}
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	on, typ, of, about := a.onRoute(row)
	for _, r := range rows {
		details := map[string]any{"principal": r.(*aggregate.Reading).User, "asked": row.gate().AskedSum}
		for name, v := range about {
			details[name] = v
		}
		c.audit(by, on.Read, typ, of, details)
	}
	c.Put(rows...)
	c.RelyOn(row)
	return c.done()
}
