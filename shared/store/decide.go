package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/aggregate"
)

const (
	decideFor    = 10 * time.Second       // when the caller sets no deadline
	decideMargin = 200 * time.Millisecond // left to the caller to say that it failed
	// tornReads is how often a decision may find one head's rows at odds with each other before they count as
	// inconsistent rather than as a torn read.
	tornReads = 3
)

// Decide loads an aggregate, lets decide make a change of it, and commits that. When
// somebody else was faster it does so again, until shortly before ctx's
// deadline, ten seconds at most when there is none. It returns the aggregate as
// it became, and with it the change's Then.
//
// An error of decide ends it and is returned wrapped; so does a conflict that lasts.
func (s *Store) Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	stop := decideUntil(ctx)
	ctx, cancel := context.WithDeadline(ctx, stop)
	defer cancel()
	wait := newBackoff(10*time.Millisecond, 500*time.Millisecond)
	odd := 0 // decisions in a row that found the rows of one head at odds
	rev := 0
	for {
		a, err := s.Load(ctx, ref)
		if err != nil {
			return nil, err
		}
		if now := a.Root().Revision(); now != rev {
			odd, rev = 0, now
		}
		c, err := decide(a)
		if err != nil {
			odd++
		} else if a, err = s.Commit(ctx, a, c); err == nil {
			return a, told(ref, c)
		}
		if !errors.Is(err, aggregate.ErrConflict) || odd >= tornReads || !wait.until(ctx, stop) {
			return nil, fmt.Errorf("decide on %s %s: %w", ref.Kind, ref.ID, err)
		}
	}
}

// DecideOn is Decide for a caller who has just loaded the aggregate or committed to it: as long as nobody else moved
// it there is nothing to read. Since the caller's rows may be out of date, only a change that commits is final: after
// an error of decide, an empty change or a conflict, the rows are read and decided on again.
func (s *Store) DecideOn(ctx context.Context, a aggregate.Aggregate, decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	ref := a.Ref()
	within, cancel := context.WithDeadline(ctx, decideUntil(ctx))
	defer cancel()
	if c, err := decide(a); err == nil && !c.Empty() {
		after, err := s.Commit(within, a, c)
		switch {
		case err == nil:
			return after, told(ref, c)
		case !errors.Is(err, aggregate.ErrConflict):
			return nil, fmt.Errorf("decide on %s %s: %w", ref.Kind, ref.ID, err)
		}
	}
	return s.Decide(ctx, ref, decide)
}

// decideUntil is when a decision gives up.
func decideUntil(ctx context.Context) time.Time {
	if at, ok := ctx.Deadline(); ok {
		return at.Add(-decideMargin)
	}
	return time.Now().Add(decideFor)
}

// told is the error that the decider of a committed change gets: its Then.
func told(ref aggregate.Ref, c aggregate.Change) error {
	if c.Then == nil {
		return nil
	}
	return fmt.Errorf("decide on %s %s: %w", ref.Kind, ref.ID, c.Then)
}
