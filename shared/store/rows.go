package store

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// packRow makes a row's item for the commit with revision rev, with its index keys.
func packRow(kind aggregate.Kind, head aggregate.Root, pk string, r aggregate.Row, rev int) (table.Item, error) {
	if x, checked := r.(aggregate.Checked); checked {
		if err := x.Check(); err != nil {
			return nil, err
		}
	}
	it, err := table.Pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return nil, err
	}
	it["rev"] = table.Number(rev)
	if x, listed := r.(aggregate.Indexed); listed {
		for _, i := range x.Indexes(head) {
			table.Index(it, i.N, i.PK, i.SK)
		}
	}
	if kind.Columns != nil {
		for name, value := range kind.Columns(r) {
			it[name] = table.Text(value)
		}
	}
	return it, nil
}

// unpackRow makes a row of an item. It returns nil when the TTL has passed, and for unknown types, which a later
// release wrote.
func (s *Store) unpackRow(kind aggregate.Kind, it table.Item) (aggregate.Row, error) {
	r := kind.Row(table.TextOf(it, "type"))
	if r == nil || table.Expired(it, s.t.Now()) {
		return nil, nil
	}
	return r, table.Unpack(it, r)
}
