package store

import (
	"context"
	"errors"
	"fmt"
	"time"

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
func (s *Store) Decide(ctx context.Context, ref task.Ref, decide func(*task.Aggregate) (task.Change, error)) (*task.Aggregate, error) {
	stop := time.Now().Add(decideFor)
	if at, ok := ctx.Deadline(); ok {
		stop = at.Add(-decideMargin)
	}
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
			if c.Uncovered {
				err = fmt.Errorf("decide on task %s: %w", ref.Task, task.ErrUncovered)
			}
			return a, err
		}
		if !errors.Is(err, task.ErrConflict) || odd >= tornReads || !wait.until(ctx, stop) {
			return nil, fmt.Errorf("decide on task %s: %w", ref.Task, err)
		}
	}
}
