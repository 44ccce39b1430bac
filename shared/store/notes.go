package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// PutNote puts a row that no Change does, about what it is of: where there is none, or over the one of the same. It
// returns ErrClaimed otherwise.
func (s *Store) PutNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string, first bool) error {
	e := table.NewExpression()
	var asRead string
	if first {
		asRead = e.Absent()
	} else {
		asRead = e.Is("of", "=", of)
	}
	err := s.putIf(ctx, ref, r, e, asRead)
	if table.ConditionFailed(err) {
		err = ErrClaimed
	}
	if err != nil {
		return fmt.Errorf("note %s of %s: %w", r.Key(), ref, err)
	}
	return nil
}

// DropNote deletes a row that PutNote put, unless it is of something else by now.
func (s *Store) DropNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	err = s.t.DeleteIf(ctx, table.Key(pk, r.Key()), e, e.Is("of", "=", of))
	if err != nil && !table.ConditionFailed(err) {
		return fmt.Errorf("drop note %s of %s: %w", r.Key(), ref, err)
	}
	return nil
}
