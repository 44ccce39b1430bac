package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// AddCopies writes the rows of a card's copies, all or none. If one of them exists, another caller was faster, and its
// rows are not changed.
func (s *Store) AddCopies(ctx context.Context, ref aggregate.Ref, copies []*aggregate.Card) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	var items []types.TransactWriteItem
	for _, c := range copies {
		it, err := table.Pack(c.Type(), pk, c.Key(), c)
		if err != nil {
			return err
		}
		if c.OwedSince != nil {
			table.Index(it, 2, aggregate.OwedBy(ref.Tenant, c.User), aggregate.TimeText(*c.OwedSince))
		}
		items = append(items, s.t.Put(it, 0))
	}
	err = s.t.TransactPast(ctx, s.newID(), items)
	var l *table.Lost
	if errors.As(err, &l) {
		return fmt.Errorf("copies of %s: %w", ref, ErrClaimed)
	}
	return err
}

// OwedCopy notes since when a copy's person owes a stamp, nil: they owe none, and adds or removes the entry by which
// lists find it. rev is the head's when that was found out; what a later drawing noted stays.
func (s *Store) OwedCopy(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, since *time.Time, rev int) error {
	e := table.NewExpression()
	if since != nil {
		e.Set("owed_since", *since)
		e.Set("GSI2PK", aggregate.OwedBy(ref.Tenant, c.User))
		e.Set("GSI2SK", aggregate.TimeText(*since))
	} else {
		e.Remove("owed_since", "GSI2PK", "GSI2SK")
	}
	e.Set("owed_rev", rev)
	_, err := s.updateCard(ctx, "note who owes by", ref, c.Key(), e, table.AnyOf(e.Lacks("owed_rev"), e.Is("owed_rev", "<=", rev)))
	if errors.Is(err, ErrClaimed) {
		return nil
	}
	return err
}
