package store

import "ringi/shared/domain/aggregate"

// packRow makes the item of a row as the commit rev writes it, with the indexes that lists find it by.
func packRow(kind aggregate.Kind, head aggregate.Root, pk string, r aggregate.Row, rev int) (item, error) {
	if x, checked := r.(aggregate.Checked); checked {
		if err := x.Check(); err != nil {
			return nil, err
		}
	}
	it, err := pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return nil, err
	}
	it["rev"] = number(rev)
	if x, listed := r.(aggregate.Indexed); listed {
		for _, i := range x.Indexes(head) {
			index(it, i.N, i.PK, i.SK)
		}
	}
	if kind.Columns != nil {
		for name, value := range kind.Columns(r) {
			it[name] = text(value)
		}
	}
	return it, nil
}

// unpackRow is the row of an item of a kind's partition; nil when TTL may delete it any
// time, and for a type that is not known: a later release's.
func (s *Store) unpackRow(kind aggregate.Kind, it item) (aggregate.Row, error) {
	r := kind.Row(textOf(it, "type"))
	if r == nil || expired(it, s.now()) {
		return nil, nil
	}
	return r, unpack(it, r)
}
