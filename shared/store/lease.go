package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// PutLease takes, renews or releases a lease if it is as a has read it. The head does not change. It returns
// aggregate.ErrInFlight when another caller was faster. A write whose answer was lost counts as successful.
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
