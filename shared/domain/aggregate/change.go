package aggregate

import (
	"encoding/json"
	"slices"
	"time"
)

// Change is one commit: the head, the rows it writes, the rows it relied on, and the audit entries that record it.
// The store writes it in one transaction. A Change without a head leaves the aggregate's revision as it is, and puts
// each of its rows only if it is absent.
type Change struct {
	ID     string // given by the store, which recognises by it a commit whose answer was lost
	Head   Root   // the new head; the commit adds one to its Rev
	Rows   []Row  // each is written on condition that its Revision is still as it was read
	Drop   []Row  // are deleted on condition that their Revision is still as it was read
	Beside []Listed
	Rely   []Row   // must still have the Revision that they were read with; with Revision 0 they must still be absent
	Owned  []Owned // the tenant's rows that the decision relied on
	Counts []Count
	Audit  []AuditEntry
	Now    time.Time
	// Made is the row among Rows that a model made, nil if none did.
	Made Row
	// Then is the error that the decider gets after the commit, when the Change is only a part of what they asked
	// for.
	Then error
}

// Listed is a row of a list that grows without end, such as what was said. It stands in a partition of its own beside
// its aggregate's, is put with the Change that names it, only if it is absent, and no decision or effect reads it.
type Listed struct {
	List string // what the partition's key begins with, such as MESSAGES#; the tenant and Of follow
	Of   string // id of what it is a list of
	Row  Row
}

// Decision makes a Change of an aggregate as it was loaded. It is a pure function: it may be asked again of newer rows.
type Decision[A any] func(A) (Change, error)

// Owned is a row of the tenant's that must still have the revision that it was read with; 0: there must still be none.
type Owned struct {
	Key string
	Rev int
	Err error // returned when only this row has changed; nil: ErrConflict
}

// Empty reports whether there is nothing to commit, because the rows say already what was decided.
func (c Change) Empty() bool { return c.Head == nil && len(c.Rows) == 0 }

// Put writes rows. Of two rows with one key the later is written; a written row needs no RelyOn.
func (c *Change) Put(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		c.Rely, c.Rows, c.Drop = slices.DeleteFunc(c.Rely, same), slices.DeleteFunc(c.Rows, same), slices.DeleteFunc(c.Drop, same)
		c.Rows = append(c.Rows, r)
	}
}

// Remove deletes rows; of one that is written too, only the deletion counts.
func (c *Change) Remove(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		c.Rely, c.Rows, c.Drop = slices.DeleteFunc(c.Rely, same), slices.DeleteFunc(c.Rows, same), slices.DeleteFunc(c.Drop, same)
		c.Drop = append(c.Drop, r)
	}
}

// RelyOn names rows that must not have changed; one that is named or written already stays as it is.
func (c *Change) RelyOn(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		if !slices.ContainsFunc(c.Rows, same) && !slices.ContainsFunc(c.Rely, same) && !slices.ContainsFunc(c.Drop, same) {
			c.Rely = append(c.Rely, r)
		}
	}
}

// Written is the row with this key that c writes, nil if it writes none.
func (c *Change) Written(key string) Row {
	if i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Key() == key }); i >= 0 {
		return c.Rows[i]
	}
	return nil
}

// Moment is the time of a head's next Change: now, in milliseconds, but at least one after its last Change.
func (h *Head) Moment(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if next := h.ChangedAt.Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// Details are an audit entry's, of strings, numbers, flags and lists of them.
func Details(values map[string]any) JSON {
	if values == nil {
		return "{}"
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic("encode audit details: " + err.Error())
	}
	return JSON(text)
}
