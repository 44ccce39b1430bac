package aggregate

import (
	"slices"
	"time"
)

// Row is one item of an aggregate's partition.
type Row interface {
	// Key names the row within its aggregate; it is the sort key in the table.
	Key() string
	// Type returns the item's attribute "type", which tells the rows of a kind apart.
	Type() string
	Revision() int
	// At returns a copy of the row with the revision rev.
	At(rev int) Row
}

// Indexed is a row that has entries in the table's indexes.
type Indexed interface{ Indexes(head Root) []Index }

// Index is an entry in one of the table's indexes, which are numbered 1 to 3.
type Index struct {
	N      int
	PK, SK string
}

// Checked is a row that is validated once more just before it is written.
type Checked interface{ Check() error }

// Counted is a row that adds to stored sums.
type Counted interface {
	// Counts returns the id to which the sums belong, and what the row adds to each sum by name.
	Counts() (of string, adds map[string]int)
}

// Objects is a row with a list whose elements have a member of type JSON or *Blob. The table stores that member as an
// object if DynamoDB would not change it.
type Objects interface {
	Objects() (list, member string, blob bool)
}

// Meta is embedded in every row that a Change writes.
type Meta struct {
	Rev int `json:"rev"`
}

func (m Meta) Revision() int { return m.Rev }

// ByKey returns the rows by their keys.
func ByKey[R Row](rows []R) map[string]Row {
	out := make(map[string]Row, len(rows))
	for _, r := range rows {
		out[r.Key()] = r
	}
	return out
}

// Last returns the last row, or nil.
func Last[R any](rows []*R) *R {
	if len(rows) == 0 {
		return nil
	}
	return rows[len(rows)-1]
}

// Find returns the row with this key, or nil.
func Find[R Row](rows []R, key string) (none R) {
	for _, r := range rows {
		if r.Key() == key {
			return r
		}
	}
	return none
}

// Insert adds a row to rows sorted by key, or replaces the one with the same key.
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

// timeForm always has three digits of milliseconds, so that times sort as text.
const timeForm = "2006-01-02T15:04:05.000Z"

// TimeText formats a time for keys and attributes.
func TimeText(t time.Time) string { return t.UTC().Format(timeForm) }

// PendingIndex is the index entry of something that waits for people of the tenant.
func PendingIndex(tenant string, since time.Time, id string) Index {
	return Index{N: 1, PK: PendingOf(tenant), SK: TimeText(since) + "#" + id}
}

// OwedBy returns the partition key of the index entries of copies whose person owes a stamp, by since when.
func OwedBy(tenant, user string) string { return "TENANT#" + tenant + "#OWED#" + user }

// PendingOf returns the partition key of a tenant's PendingIndex entries.
func PendingOf(tenant string) string { return "TENANT#" + tenant + "#PENDING" }
