package store

import (
	"context"

	"ringi/shared/domain/aggregate"
)

// packRow makes the item of a row as the commit rev writes it, with the indexes that lists find it by.
func packRow(kind aggregate.Kind, head aggregate.Root, pk string, r aggregate.Row, rev int) (Item, error) {
	if x, checked := r.(aggregate.Checked); checked {
		if err := x.Check(); err != nil {
			return nil, err
		}
	}
	it, err := Pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return nil, err
	}
	it["rev"] = Number(rev)
	if x, listed := r.(aggregate.Indexed); listed {
		for _, i := range x.Indexes(head) {
			Index(it, i.N, i.PK, i.SK)
		}
	}
	if kind.Columns != nil {
		for name, value := range kind.Columns(r) {
			it[name] = Text(value)
		}
	}
	return it, nil
}

// unpackRow is the row of an item of a kind's partition; nil when TTL may delete it any
// time, and for a type that is not known: a later release's.
func (s *Store) unpackRow(kind aggregate.Kind, it Item) (aggregate.Row, error) {
	r := kind.Row(TextOf(it, "type"))
	if r == nil || Expired(it, s.t.Now()) {
		return nil, nil
	}
	return r, Unpack(it, r)
}

// Rows lists rows, of which keep leaves some out. Indexes may be a moment behind. It returns aggregate.ErrField
// for a limit outside 1 to MaxPage, or a cursor that is not this list's.
func Rows[T any](ctx context.Context, s *Store, l List, cursor string, limit int, keep func(T) bool) (Page[T], error) {
	return ReadPage(ctx, s.t, l, cursor, limit, func(it Item) (*T, error) {
		var x T
		if err := Unpack(it, &x); err != nil || !keep(x) {
			return nil, err
		}
		return &x, nil
	})
}
