package aggregate

import (
	"encoding/json"
	"slices"
	"time"
)

// Change is one commit: the head, the rows it writes, the rows it relied on, and
// the audit entries that record it. The store writes it in one transaction. One without a head
// moves nothing: its rows are put where they are absent.
type Change struct {
	ID     string  // given by the store; how a lost answer is recognised
	Head   Root    // as it shall be, but for Rev, which the commit adds one to
	Rows   []Row   // each on its Revision as read
	Rely   []Row   // must still have the Revision that they were read with; one of Revision 0 must still be absent
	Owned  []Owned // what it relied on of the tenant's
	Counts []Count
	Audit  []AuditEntry
	Now    time.Time
	// Made is the row among Rows that a model made, nil if none did.
	Made Row
	// Then is what whoever decides is told once it is committed: it is not all that they asked for.
	Then error
}

// Decision makes a Change of an aggregate as it was loaded. It is a pure function: it may be asked again of newer rows.
type Decision[A any] func(A) (Change, error)

// Owned is a row of the tenant's that must still have the revision that it was read with; 0: there must still be none.
type Owned struct {
	Key string
	Rev int
	Err error // when nothing but this has changed; nil: ErrConflict
}

// Empty reports whether there is nothing to commit: the decision stands already.
func (c Change) Empty() bool { return c.Head == nil && len(c.Rows) == 0 }

// Put writes rows. A row has one place in a Change: the last one wins, and what is written is relied on already.
func (c *Change) Put(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		c.Rely, c.Rows = slices.DeleteFunc(c.Rely, same), slices.DeleteFunc(c.Rows, same)
		c.Rows = append(c.Rows, r)
	}
}

// RelyOn names rows that must not have changed; one that is named or written already stays as it is.
func (c *Change) RelyOn(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		if !slices.ContainsFunc(c.Rows, same) && !slices.ContainsFunc(c.Rely, same) {
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

// Moment is when a Change of a head happens: now in milliseconds, but never before its last one.
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
