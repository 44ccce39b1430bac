package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

const (
	decideFor    = 10 * time.Second       // when the caller sets no deadline
	decideMargin = 200 * time.Millisecond // left to the caller to say that it failed
	// tornReads is how often a decision may find one head's rows at odds with
	// each other before that is a fact and no torn read.
	tornReads = 3
)

// Decide loads a task, lets decide make a change of it, and commits that. When
// somebody else was faster it does so again, until shortly before ctx's
// deadline, ten seconds at most when there is none. It returns the aggregate as
// it became, and with it task.ErrUncovered when the committed change only
// recorded that a write's outcome is unknown.
//
// An error of decide ends it and is returned wrapped; so does a conflict that lasts.
func (s *Store) Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error) {
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
		if a.Head.Rev != rev {
			odd, rev = 0, a.Head.Rev
		}
		c, err := decide(a)
		if err != nil {
			odd++
		} else if a, err = s.Commit(ctx, a, c); err == nil {
			return a, uncovered(ref, c)
		}
		if !errors.Is(err, aggregate.ErrConflict) || odd >= tornReads || !wait.until(ctx, stop) {
			return nil, fmt.Errorf("decide on task %s: %w", ref.Task, err)
		}
	}
}

// DecideOn is Decide for a caller who has just loaded the task or committed to
// it: as long as nobody else moved it there is nothing to read. Of rows that may
// be behind only a change that commits is believed; an error of decide, or no
// change, is asked for again with the rows as they are, and so is a conflict.
func (s *Store) DecideOn(ctx context.Context, a *task.Aggregate, decide task.Decision) (*task.Aggregate, error) {
	ref := a.Ref()
	within, cancel := context.WithDeadline(ctx, decideUntil(ctx))
	defer cancel()
	if c, err := decide(a); err == nil && !c.Empty() {
		after, err := s.Commit(within, a, c)
		switch {
		case err == nil:
			return after, uncovered(ref, c)
		case !errors.Is(err, aggregate.ErrConflict):
			return nil, fmt.Errorf("decide on task %s: %w", ref.Task, err)
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

func uncovered(ref aggregate.Ref, c task.Change) error {
	if !c.Uncovered {
		return nil
	}
	return fmt.Errorf("decide on task %s: %w", ref.Task, aggregate.ErrUncovered)
}
