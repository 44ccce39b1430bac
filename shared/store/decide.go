package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
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
	all, err := s.decide(ctx, []aggregate.Ref{ref}, func(all []aggregate.Aggregate) ([]aggregate.Change, error) {
		c, err := decide(all[0])
		return []aggregate.Change{c}, err
	})
	if all == nil {
		return nil, err
	}
	return all[0], err
}

// DecideBoth is Decide for two aggregates of a tenant at once: what decide makes of them is written in one
// transaction, both changes or neither. An empty change leaves its aggregate alone; the rows of a change without a head
// are put even if the other change is refused.
func (s *Store) DecideBoth(ctx context.Context, first, second aggregate.Ref,
	decide func(a, b aggregate.Aggregate) (ofA, ofB aggregate.Change, err error),
) error {
	if first.Tenant != second.Tenant {
		return fmt.Errorf("decide on %s and %s, of two tenants: %w", first.ID, second.ID, aggregate.ErrNotFound)
	}
	_, err := s.decide(ctx, []aggregate.Ref{first, second}, func(all []aggregate.Aggregate) ([]aggregate.Change, error) {
		ofA, ofB, err := decide(all[0], all[1])
		return []aggregate.Change{ofA, ofB}, err
	})
	return err
}

// decide is Decide for some aggregates of a tenant.
func (s *Store) decide(ctx context.Context, refs []aggregate.Ref, decide func([]aggregate.Aggregate) ([]aggregate.Change, error)) ([]aggregate.Aggregate, error) {
	stop := decideUntil(ctx)
	ctx, cancel := context.WithDeadline(ctx, stop)
	defer cancel()
	wait := table.NewBackoff(10*time.Millisecond, 500*time.Millisecond)
	odd := 0 // decisions in a row that found the rows of one head at odds
	revs := make([]int, len(refs))
	for {
		all := make([]aggregate.Aggregate, len(refs))
		for i, ref := range refs {
			a, err := s.Load(ctx, ref)
			if err != nil {
				return nil, err
			}
			if now := a.Root().Revision(); now != revs[i] {
				odd, revs[i] = 0, now
			}
			all[i] = a
		}
		changes, err := decide(all)
		if err != nil {
			odd++
		} else if all, err = s.commit(ctx, all, changes); err == nil {
			return all, told(refs, changes)
		}
		if !errors.Is(err, aggregate.ErrConflict) || odd >= tornReads || !wait.Until(ctx, stop) {
			return nil, decideOn(refs, err)
		}
	}
}

// DecideOn is Decide for a caller who has just loaded the aggregate or committed to it: as long as nobody else moved
// it there is nothing to read. Since the caller's rows may be out of date, only a change of the head that commits is
// final: after an error of decide, a change without a head or a conflict, the rows are read and decided on again.
func (s *Store) DecideOn(ctx context.Context, a aggregate.Aggregate, decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	refs := []aggregate.Ref{a.Ref()}
	within, cancel := context.WithDeadline(ctx, decideUntil(ctx))
	defer cancel()
	if c, err := decide(a); err == nil && c.Head != nil {
		after, err := s.Commit(within, a, c)
		switch {
		case err == nil:
			return after, told(refs, []aggregate.Change{c})
		case !errors.Is(err, aggregate.ErrConflict):
			return nil, decideOn(refs, err)
		}
	}
	return s.Decide(ctx, refs[0], decide)
}

// decideUntil is when a decision gives up.
func decideUntil(ctx context.Context) time.Time {
	if at, ok := ctx.Deadline(); ok {
		return at.Add(-decideMargin)
	}
	return time.Now().Add(decideFor)
}

// told is the error that the decider of committed changes gets: the first one's Then.
func told(refs []aggregate.Ref, changes []aggregate.Change) error {
	for _, c := range changes {
		if c.Then != nil {
			return decideOn(refs, c.Then)
		}
	}
	return nil
}

func decideOn(refs []aggregate.Ref, err error) error {
	return fmt.Errorf("decide on %s: %w", strings.Trim(fmt.Sprint(refs), "[]"), err)
}
