package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
)

type found struct {
	ref  aggregate.Ref
	keep bool
	a    aggregate.Aggregate // after its decisions; nil: effects loads it again
	// why the other aggregate, which a decision depends on, could not be read
	unread error
	over   bool                                    // nothing more is done for it in this sweep
	erased aggregate.Decision[aggregate.Aggregate] // not nil: it must be deleted, and then this be committed
}

// decide makes the decisions that depend only on time. It returns how many of them another function should have made.
// If the other aggregate that a decision depends on can't be read, that decision waits, and decide returns the error
// after everything else is done.
func (h *Handler) decide(ctx context.Context, f *found) (repairs int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, f.ref.Log())
	a, err := h.Store.Load(ctx, f.ref)
	if err != nil {
		return 0, fmt.Errorf("load it: %w", err)
	}
	if l, ends := a.(ending); ends && l.Late(h.Now()) {
		slog.WarnContext(ctx, "should have ended long ago", f.ref.Log())
		boot.Count(boot.ContestLate, 1)
	}
	beside, unread := h.beside(ctx, a)
	for _, d := range a.Overdue(h.Now(), beside) {
		if d.Beside && unread != nil {
			continue
		}
		if _, err := d.Decide(a); notDue(err) {
			continue
		}
		n, err := h.Store.Decide(ctx, f.ref, d.Decide)
		switch {
		case err == nil:
			a = n
			if d.Repair {
				repairs++
			}
		case !notDue(err):
			return repairs, fmt.Errorf("settle: %w", err)
		}
	}
	if _, wants := a.Beside(); wants { // otherwise nothing depends on the other aggregate any more
		f.unread = unread
	}
	if f.keep {
		f.a = a
	}
	return repairs, nil
}

// effects carries out every effect, and only then sets the aggregate's next due time. It returns how many repairs it
// made.
func (h *Handler) effects(ctx context.Context, f *found) (repairs int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, f.ref.Log())
	a := f.a
	if a == nil {
		if a, err = h.Store.Load(ctx, f.ref); err != nil {
			return 0, fmt.Errorf("load it again: %w", err)
		}
	}
	e := a.Effects(h.Now())
	repairs, err = h.Effects.Run(ctx, a, e, true)
	err = errors.Join(err, f.unread)
	f.erased = e.Erased
	// The cards are drawn even if the task's run could not be woken.
	if e.Cards && !a.Root().Common().InLine(h.Now()) {
		err = errors.Join(err, h.Effects.Redraw(ctx, f.ref, *a.Root().Common(), aggregate.NewID()))
	}
	if err != nil {
		return repairs, err
	}
	due := a.DueAt(h.Now())
	if soon := h.Now().Add(time.Second); due != nil && due.Before(soon) {
		due = &soon
	}
	if err := h.Store.Postpone(ctx, f.ref, *a.Root().Common(), due); err != nil && !errors.Is(err, aggregate.ErrConflict) {
		return repairs, fmt.Errorf("put off: %w", err)
	}
	return repairs, nil // after a conflict the task has changed, which makes it due again
}

// ending is an aggregate that must end by a certain time.
type ending interface{ Late(now time.Time) bool }

// errUnread means that the other aggregate could not be read.
var errUnread = errors.New("load what is beside")

func notDue(err error) bool {
	return errors.Is(err, aggregate.ErrNotDue) || errors.Is(err, aggregate.ErrInFlight) ||
		errors.Is(err, aggregate.ErrSuperseded)
}

// beside loads the other aggregate that a's overdue decisions depend on. It returns nil if they depend on none or it is
// gone.
func (h *Handler) beside(ctx context.Context, a aggregate.Aggregate) (aggregate.Aggregate, error) {
	ref, wants := a.Beside()
	if !wants {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, besideWithin)
	defer cancel()
	other, err := h.Store.Load(ctx, ref)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnread, err)
	}
	return other, nil
}
