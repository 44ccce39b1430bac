package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// PutLease takes, renews or releases a lease of a's: it is put over the one that a has, as it was read. It is no
// commit: the head stays as it is. It returns aggregate.ErrInFlight when another was faster; a write whose answer was
// lost counts.
func (s *Store) PutLease(ctx context.Context, a aggregate.Aggregate, l *aggregate.Lease) error {
	ref := a.Ref()
	e := table.NewExpression()
	var asRead string
	if was := aggregate.Find(a.Common().Leases, l.Key()); was == nil {
		asRead = e.Absent()
	} else {
		asRead = table.Both(e.Is("invocation", "=", was.Invocation), e.Is("lease_until", "=", was.LeaseUntil))
	}
	err := s.putIf(ctx, ref, l, e, asRead)
	if err == nil {
		return nil
	}
	var is aggregate.Lease
	if s.RowAt(ctx, Place{ref, l.Key()}, &is) == nil && l.Same(&is) {
		return nil
	}
	if table.ConditionFailed(err) {
		err = aggregate.ErrInFlight
	}
	return fmt.Errorf("lease %s of %s: %w", l.Of, ref, err)
}
