package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
)

// PutNote puts a row that no Change does, about what it is of: where there is none, or over the one of the same. It returns
// ErrClaimed otherwise.
func (s *Store) PutNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string, first bool) error {
	e := NewExpression()
	var asRead string
	if first {
		asRead = e.Absent()
	} else {
		asRead = e.Is("of", "=", of)
	}
	err := s.putIf(ctx, ref, r, e, asRead)
	if ConditionFailed(err) {
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
	e := NewExpression()
	err = s.t.DeleteIf(ctx, Key(pk, r.Key()), e, e.Is("of", "=", of))
	if err != nil && !ConditionFailed(err) {
		return fmt.Errorf("drop note %s of %s: %w", r.Key(), ref, err)
	}
	return nil
}
