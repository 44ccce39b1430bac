package aggregate

import "slices"

func ByKey[R Row](rows []R) map[string]Row {
	out := make(map[string]Row, len(rows))
	for _, r := range rows {
		out[r.Key()] = r
	}
	return out
}

func Last[R any](rows []*R) *R {
	if len(rows) == 0 {
		return nil
	}
	return rows[len(rows)-1]
}

func Find[R Row](rows []R, key string) (none R) {
	for _, r := range rows {
		if r.Key() == key {
			return r
		}
	}
	return none
}

func Insert[R Row](rows []R, r R) []R {
	i, found := slices.BinarySearchFunc(rows, r.Key(), func(x R, key string) int {
		switch {
		case x.Key() < key:
			return -1
		case x.Key() > key:
			return 1
		}
		return 0
	})
	if found {
		rows[i] = r
		return rows
	}
	return slices.Insert(rows, i, r)
}

// Row is one item of a task's partition that a Change writes or relies on.
type Row interface {
	// Key names the row within its task; it is the sort key in the table.
	Key() string
	// Revision is the commit that last wrote the row, 0 for a row not yet written.
	Revision() int
	At(rev int) Row
}

// Meta is what every row carries.
type Meta struct {
	Rev int `json:"rev"`
}

// Revision is the commit that last wrote the row.
func (m Meta) Revision() int { return m.Rev }

// HeadKey is the key of the head row.
const HeadKey = "HEAD"
