package aggregate

import (
	"slices"
	"time"
)

// Row is one item of an aggregate's partition.
type Row interface {
	// Key names the row within its aggregate; it is the sort key in the table.
	Key() string
	// Type tells which row of its kind it is; the item's attribute "type".
	Type() string
	// Revision is the commit that last wrote the row, 0 for a row not yet written.
	Revision() int
	// At is a copy of the row as the commit rev wrote it.
	At(rev int) Row
}

// Indexed is a row that lists find.
type Indexed interface{ Indexes(head Root) []Index }

// Index puts a row into one of the table's indexes, 1 to 3.
type Index struct {
	N      int
	PK, SK string
}

// Checked is a row that says itself whether it may be written: a last look, after the decision's own.
type Checked interface{ Check() error }

// Counted is a row that adds to sums which are kept of what it is about.
type Counted interface {
	// Counts is the id of what the sums are of, and what the row adds to each by its name.
	Counts() (of string, adds map[string]int)
}

// Objects is a row with a list whose elements have a member of type JSON, or *Blob. The table keeps
// that as an object where DynamoDB would not change it.
type Objects interface {
	Objects() (list, member string, blob bool)
}

// Meta is what every row carries.
type Meta struct {
	Rev int `json:"rev"`
}

// Revision is the commit that last wrote the row.
func (m Meta) Revision() int { return m.Rev }

// ByKey are rows by their keys.
func ByKey[R Row](rows []R) map[string]Row {
	out := make(map[string]Row, len(rows))
	for _, r := range rows {
		out[r.Key()] = r
	}
	return out
}

// Last is the last of rows, nil when there is none.
func Last[R any](rows []*R) *R {
	if len(rows) == 0 {
		return nil
	}
	return rows[len(rows)-1]
}

// Find is the row with this key, nil when there is none.
func Find[R Row](rows []R, key string) (none R) {
	for _, r := range rows {
		if r.Key() == key {
			return r
		}
	}
	return none
}

// Insert puts a row in its place among rows sorted by key, over one with the same key.
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

// timeForm has exactly milliseconds, so that times sort as text.
const timeForm = "2006-01-02T15:04:05.000Z"

// TimeText is a time as keys and attributes have it.
func TimeText(t time.Time) string { return t.UTC().Format(timeForm) }

// PendingIndex lists what waits for a person of a tenant.
func PendingIndex(tenant string, since time.Time, id string) Index {
	return Index{N: 1, PK: PendingOf(tenant), SK: TimeText(since) + "#" + id}
}

// PendingOf is the partition of what waits in a tenant.
func PendingOf(tenant string) string { return "TENANT#" + tenant + "#PENDING" }
