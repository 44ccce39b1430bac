package decide

import (
	"cmp"
	"errors"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// Refilled is what a form came back with that an asker fills in again. Its hash is not to be trusted.
type Refilled struct{ Hash string }

// MayRefill reports whether a person may open the form now. Its change is never committed.
func MayRefill(hash string) Act {
	return Shown(task.CardProcess, hash, on(func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		_ time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, t.MayRefill(id, by, p)
	}))
}

// Asks reports whether what was given back is this person's own request, also when it waits no more, and is still what
// the form showed or what was filled in meanwhile.
func (f Refilled) Asks() Act {
	return Gate(task.CardProcess, on(func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		_ time.Time) (aggregate.Change, error) {
		err := t.AsksFor(id, by, p)
		if err == nil && t.Asked(id).Hash != f.Hash && t.RefilledBefore(id) == nil {
			err = aggregate.ErrMoved
		}
		return aggregate.Change{}, err
	}))
}

// Save makes what was filled in the next version. Who comes second is told that theirs wasn't used, and whose was.
func (f Refilled) Save(made task.Refill) Act {
	return Gate(task.CardProcess, on(func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		change, err := t.Refill(id, made, by, p, now)
		if t.Asked(id).Hash != f.Hash && (err != nil || !change.Empty()) {
			err = aggregate.ErrMoved
		}
		if _, old := errors.AsType[aggregate.ErrNotLatest](err); old || errors.Is(err, aggregate.ErrMoved) {
			return aggregate.Change{}, cmp.Or(t.RefilledBefore(id), err)
		}
		return change, err
	}))
}
