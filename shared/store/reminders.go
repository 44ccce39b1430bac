package store

import (
	"context"
	"iter"
	"time"

	"ringi/shared/domain/tenancy"
)

// DueReminders returns the rows by which people are reminded of what waits for them that are due at a time, those first
// that were due first. See DueDelegations for stale entries and errors.
func (s *Store) DueReminders(ctx context.Context, at time.Time) iter.Seq2[tenancy.Reminding, error] {
	return dueRows[tenancy.Reminding](ctx, s, tenancy.RemindersDue, at)
}

// SaveReminding commits next.Over(was). It returns aggregate.ErrConflict if the row is not as was.
func (s *Store) SaveReminding(ctx context.Context, next, was tenancy.Reminding) error {
	return s.changeOnce(ctx, next.Over(was), nil)
}
