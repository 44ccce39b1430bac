package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

const (
	decideFor    = 10 * time.Second       // if the caller sets no deadline
	decideMargin = 200 * time.Millisecond // left for the caller to report the failure
	// tornReads is how many times in a row a decision may find the rows of one head inconsistent before that counts as
	// an error instead of a torn read.
	tornReads = 3
)

// Decide loads an aggregate, calls decide to make a change of it, and commits that. When another commit was faster it
// starts again, until shortly before ctx's deadline, or for ten seconds if there is none. It returns the aggregate
// after the commit and the change's Then.
//
// An error of decide, or a conflict that persists, is returned wrapped.
func (s *Store) Decide(ctx context.Context, ref aggregate.Ref,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	return s.decide(ctx, ref, nil, false, decide)
}

// DecideFrom is Decide for a caller who has just loaded the aggregate: it is loaded again only after a conflict.
func (s *Store) DecideFrom(ctx context.Context, a aggregate.Aggregate,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	return s.decide(ctx, a.Ref(), a, false, decide)
}

// decide decides on an aggregate, the first time as it is loaded already, if it is; its rows may be stale.
func (s *Store) decide(ctx context.Context, ref aggregate.Ref, a aggregate.Aggregate, stale bool,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	stop := decideUntil(ctx)
	ctx, cancel := context.WithDeadline(ctx, stop)
	defer cancel()
	wait := table.NewBackoff(10*time.Millisecond, 500*time.Millisecond)
	odd, rev := 0, 0 // decisions in a row that found the rows of the head at this revision inconsistent
	for ; ; a, stale = nil, false {
		var err error
		if a == nil {
			if a, err = s.Load(ctx, ref); err != nil {
				return nil, err
			}
		}
		if now := a.Root().Revision(); now != rev {
			odd, rev = 0, now
		}
		c, err := decide(a)
		if stale && (err != nil || c.Head == nil) {
			continue
		}
		if err != nil {
			odd++
		} else if after, failed := s.Commit(ctx, a, c); failed == nil {
			return after, told(ref, c)
		} else {
			err = failed
		}
		if !errors.Is(err, aggregate.ErrConflict) || odd >= tornReads || !wait.Until(ctx, stop) {
			return nil, decideOn(ref, err)
		}
	}
}

func decideUntil(ctx context.Context) time.Time {
	if at, ok := ctx.Deadline(); ok {
		return at.Add(-decideMargin)
	}
	return time.Now().Add(decideFor)
}

// told returns the Then of a committed change as the caller's error.
func told(ref aggregate.Ref, c aggregate.Change) error {
	if c.Then == nil {
		return nil
	}
	return decideOn(ref, c.Then)
}

func decideOn(ref aggregate.Ref, err error) error { return fmt.Errorf("decide on %s: %w", ref, err) }

// Load reads every row of an aggregate by one consistent query. It returns aggregate.ErrNotFound when the tenant has no
// such aggregate, and ErrNewerSchema when a later release wrote a row in a newer form. Rows of unknown types are
// skipped: a later release wrote them. So are waits at gates that the run has left.
func (s *Store) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	a, err := s.load(ctx, ref, "")
	if err != nil {
		return nil, err
	}
	if a.Root().Common().TenantID == "" {
		return nil, fmt.Errorf("load %s: %w", ref, aggregate.ErrNotFound)
	}
	a.Root().Common().See(a.Common())
	return a, nil
}

// Uses reads only an aggregate's usage rows. For an aggregate that doesn't exist it returns none.
func (s *Store) Uses(ctx context.Context, ref aggregate.Ref) ([]*aggregate.Use, error) {
	a, err := s.load(ctx, ref, (&aggregate.Use{}).Key())
	if err != nil {
		return nil, err
	}
	return a.Common().Uses, nil
}

// load reads the rows of an aggregate whose sort keys begin with prefix.
func (s *Store) load(ctx context.Context, ref aggregate.Ref, prefix string) (aggregate.Aggregate, error) {
	pk, err := s.partition(ref)
	if err != nil {
		return nil, err
	}
	kind, _ := s.kinds.Named(ref.Kind)
	e := table.NewExpression()
	var which []string
	if prefix != "" {
		which = []string{e.Begins("SK", prefix)}
	}
	a := kind.New()
	for r, err := range table.Queried(ctx, s.t, s.t.Find(e, "", pk, which...), func(it table.Item) (aggregate.Row, error) {
		return s.unpackRow(kind, it)
	}) {
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", ref, err)
		}
		if r != nil {
			a.Add(r)
		}
	}
	return a, nil
}

// Head reads the head alone, consistently. It serves frequent checks during a long call. It returns
// aggregate.ErrNotFound as Load does.
func (s *Store) Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error) {
	kind, _ := s.kinds.Named(ref.Kind)
	h, _ := kind.Row("head").(aggregate.Root)
	return h, s.RowAt(ctx, Place{ref, aggregate.HeadKey}, h)
}

// ownHead is Head as the kind's own type.
func ownHead[H any](ctx context.Context, s *Store, ref aggregate.Ref) (h H, err error) {
	root, err := s.Head(ctx, ref)
	if err == nil {
		h = *any(root).(*H)
	}
	return h, err
}
