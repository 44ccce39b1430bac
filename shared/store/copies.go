package store

import (
	"context"
	"errors"
	"fmt"

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
		items = append(items, s.t.Put(it, 0))
	}
	err = s.t.TransactPast(ctx, s.newID(), items)
	var l *table.Lost
	if errors.As(err, &l) {
		return fmt.Errorf("copies of %s: %w", ref, ErrClaimed)
	}
	return err
}
