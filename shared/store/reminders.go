package store

import (
	"context"
	"iter"
	"time"

	"ringi/shared/domain/tenancy"
)

// DueReminders returns the rows by which people are reminded of what waits for them that are due at a time, those first
// that were due first. See OverDelegations for stale entries and errors.
func (s *Store) DueReminders(ctx context.Context, at time.Time) iter.Seq2[tenancy.Reminding, error] {
	return dueRows[tenancy.Reminding](ctx, s, tenancy.RemindersDue, at)
}

// BeginReminding makes the row of a tenant that has none. It returns aggregate.ErrConflict if there is one.
func (s *Store) BeginReminding(ctx context.Context, tenant string, now time.Time) error {
	return s.changeOnce(ctx, tenancy.Reminding{TenantID: tenant}.Begun(now), nil)
}

// SaveReminding puts next in the place of was. It returns aggregate.ErrConflict if the row has changed.
func (s *Store) SaveReminding(ctx context.Context, next, was tenancy.Reminding) error {
	return s.changeOnce(ctx, next.Next(was), nil)
}

// EndReminding deletes the row. It returns aggregate.ErrConflict if the row has changed.
func (s *Store) EndReminding(ctx context.Context, was tenancy.Reminding) error {
	return s.changeOnce(ctx, was.Over(), nil)
}
