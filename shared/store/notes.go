package store

import (
	"context"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// PutNote puts a row outside of commits. With first it requires that there is no such row, else that the existing row's
// attribute "of" equals of. It returns ErrClaimed if that doesn't hold.
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

// DropNote deletes a row that PutNote put, unless its attribute "of" has changed.
func (s *Store) DropNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string) error {
	return table.Wrapped(s.dropIf(ctx, ref, r.Key(), "of", of), "drop note %s of %s", r.Key(), ref)
}
