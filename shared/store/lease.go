package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/aggregate"
)

// PutLease takes, renews or releases a lease of a's: it is put over the one that a has, as it was read. It is no commit:
// the head stays as it is. It returns aggregate.ErrInFlight when another was faster; a write whose answer was lost counts.
func (s *Store) PutLease(ctx context.Context, a aggregate.Aggregate, l *aggregate.Lease) error {
	ref := a.Ref()
	failed := func(err error) error { return fmt.Errorf("lease %s of %s: %w", l.Of, ref, err) }
	pk, err := s.partition(ref)
	if err != nil {
		return failed(err)
	}
	it, err := pack(l.Type(), pk, l.Key(), l)
	if err != nil {
		return failed(err)
	}
	e := newExpression()
	var asRead string
	if was := aggregate.Find(a.Common().Leases, l.Key()); was == nil {
		asRead = e.absent()
	} else {
		asRead = both(e.is("invocation", "=", was.Invocation), e.is("lease_until", "=", was.LeaseUntil))
	}
	err = unhindered(ctx, func() error {
		_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &s.table, Item: it, ConditionExpression: &asRead,
			ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		})
		return err
	})
	if err == nil {
		return nil
	}
	var is aggregate.Lease
	if unseen := s.get(ctx, pk, l.Key(), &is); unseen == nil && l.Same(&is) {
		return nil
	}
	if conditionFailed(err) {
		err = aggregate.ErrInFlight
	}
	return failed(err)
}
