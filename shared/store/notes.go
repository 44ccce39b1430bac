package store

import (
	"context"

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
	return table.Wrapped(err, "note %s of %s", r.Key(), ref)
}

// DropNote deletes a row that PutNote put, unless it is of something else by now.
func (s *Store) DropNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string) error {
	return table.Wrapped(s.dropIf(ctx, ref, r.Key(), "of", of), "drop note %s of %s", r.Key(), ref)
}
