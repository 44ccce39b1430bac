package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Create writes an aggregate's first rows without reading before, each only if it is absent. It returns ErrExists when
// the head exists because the same message came before. It returns aggregate.ErrFull when a new aggregate would exceed
// a quota. While the table is busy it retries for two seconds, or until ctx ends.
func (s *Store) Create(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error {
	c = s.numbered(c)
	items, err := s.creating(ref, c)
	if err != nil {
		return fmt.Errorf("create %s: %w", ref, err)
	}
	counters, err := s.countMoves(ref.Tenant, c.Counts)
	if err != nil {
		return fmt.Errorf("create %s: %w", ref, err)
	}
	err = s.t.TransactPast(ctx, c.ID, append(items, counters...))
	var l *table.Lost
	switch {
	case err == nil:
		return nil
	case errors.As(err, &l) && l.Failed(0):
		if table.TextOf(l.Found(0), "last_change") == c.ID {
			return nil // an earlier try went through, its answer was lost
		}
		err = ErrExists
	}
	return fmt.Errorf("create %s: %w", ref, full(err, c.Counts, len(items)))
}

// creating returns what puts an aggregate's first rows, the head's first. c has its id.
func (s *Store) creating(ref aggregate.Ref, c aggregate.Change) ([]types.TransactWriteItem, error) {
	pk, err := s.partition(ref)
	if err != nil {
		return nil, err
	}
	due := c.Now.Add(dueAfterCommit)
	root := c.Head.At(1).(aggregate.Root)
	root.Common().LastChange, root.Common().DueAt, root.Common().Newest = c.ID, &due, aggregate.Newest("").After(0, c)
	it, err := headItem(pk, ref, root)
	if err != nil {
		return nil, err
	}
	head := s.t.Put(it, 0)
	head.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	rest, err := s.actions(ref, c, 1)
	return append([]types.TransactWriteItem{head}, rest...), err
}
