package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/aggregate"
)

// DecideBoth is Decide for two aggregates of a tenant at once: what decide makes of them is written in one
// transaction, both changes or neither. An empty change leaves its aggregate alone. It returns neither change's Then
// nor its Owned.Err.
func (s *Store) DecideBoth(ctx context.Context, first, second aggregate.Ref,
	decide func(a, b aggregate.Aggregate) (ofA, ofB aggregate.Change, err error),
) error {
	stop := decideUntil(ctx)
	ctx, cancel := context.WithDeadline(ctx, stop)
	defer cancel()
	wait := newBackoff(10*time.Millisecond, 500*time.Millisecond)
	for odd := 0; ; {
		a, err := s.Load(ctx, first)
		if err != nil {
			return err
		}
		b, err := s.Load(ctx, second)
		if err != nil {
			return err
		}
		ofA, ofB, err := decide(a, b)
		if err != nil {
			odd++
		} else if err = s.commitBoth(ctx, a, b, ofA, ofB); err == nil {
			return nil
		} else {
			odd = 0
		}
		if !errors.Is(err, aggregate.ErrConflict) || odd >= tornReads || !wait.until(ctx, stop) {
			return fmt.Errorf("decide on %s and %s: %w", first.ID, second.ID, err)
		}
	}
}

// commitBoth is Commit for the changes of two aggregates. No place in a quota is taken by it.
func (s *Store) commitBoth(ctx context.Context, a, b aggregate.Aggregate, ofA, ofB aggregate.Change) error {
	switch {
	case ofB.Empty():
		_, err := s.Commit(ctx, a, ofA)
		return err
	case ofA.Empty():
		_, err := s.Commit(ctx, b, ofB)
		return err
	case a.Ref().Tenant != b.Ref().Tenant:
		return fmt.Errorf("aggregates of two tenants: %w", aggregate.ErrNotFound)
	}
	ofA, ofB = s.numbered(ofA), s.numbered(ofB)
	items, err := s.moves(a, ofA)
	if err != nil {
		return err
	}
	others, err := s.moves(b, ofB)
	if err != nil {
		return err
	}
	counters, err := s.countMoves(a.Ref().Tenant, summed(slices.Concat(ofA.Counts, ofB.Counts)))
	if err != nil {
		return err
	}
	err = s.transact(ctx, ofA.ID, slices.Concat(items, others, counters))
	switch {
	case err == nil, s.wentThrough(ctx, a.Ref(), ofA.ID, err):
		return nil
	case !answered(err):
		return fmt.Errorf("%w: %w", aggregate.ErrUnconfirmed, err)
	}
	return err
}

// summed has each counter once: a transaction takes one action for an item.
func summed(counts []aggregate.Count) []aggregate.Count {
	var out []aggregate.Count
	for _, c := range counts {
		if i := slices.IndexFunc(out, func(x aggregate.Count) bool { return x.Key == c.Key }); i >= 0 {
			out[i].By += c.By
		} else {
			out = append(out, c)
		}
	}
	return out
}
