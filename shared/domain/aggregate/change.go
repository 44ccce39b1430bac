package aggregate

import (
	"encoding/json"
	"slices"
	"time"
)

// Change is one commit: the head, the rows it writes, the rows it relied on, and the audit entries that record it. The
// store writes it in one transaction. A Change without a head leaves the aggregate's revision unchanged and puts each
// of its rows only if that row is absent.
type Change struct {
	ID     string // set by the store, which uses it to recognize its own commit when the answer was lost
	Head   Root   // the new head; the commit adds one to its Rev
	Rows   []Row  // written if their Revision has not changed since they were read
	Drop   []Row  // deleted if their Revision has not changed since they were read
	Beside []Listed
	Rely   []Row   // must have the Revision with which they were read; 0: must be absent
	Owned  []Owned // the tenant's rows that the decision relied on
	Counts []Count
	Copies []Copy // made before the commit
	Audit  []AuditEntry
	Now    time.Time
	// Made is the row among Rows that a model produced, or nil.
	Made Row
	// Then is an error to return after the commit, when the Change does only a part of what was asked for.
	Then error
}

// Listed is a row of a list that grows without limit, such as the messages of a conversation. It is stored in a
// partition of its own, and only put if it is absent. No decision or effect reads it.
type Listed struct {
	List string // prefix of the partition key, such as MESSAGES#; the tenant and Of follow
	Of   string // id of the list's owner
	Row  Row
	Err  error // returned if only this row is there already; nil: ErrConflict
}

// Copy is an object in the bucket that must be copied before a Change is committed, because the Change's rows name the
// copy. The object's name is the hash of its content.
type Copy struct{ From, To string }

// Decision makes a Change from a loaded aggregate. It must be pure, because it is called again after a conflict.
type Decision[A any] func(A) (Change, error)

// Owned is a row of the tenant's that must still have the revision with which it was read; 0: it must be absent.
type Owned struct {
	Partition string // what begins the partition key, such as DELEGATE#, before the tenant; empty: TENANT#
	Key       string
	Rev       int
	Err       error // returned if only this row has changed; nil: ErrConflict
}

// Empty reports whether the Change writes neither a head nor rows.
func (c Change) Empty() bool { return c.Head == nil && len(c.Rows) == 0 }

// Put adds rows to write. A row replaces an earlier one with the same key, and RelyOn is not needed for it.
func (c *Change) Put(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		c.Rely, c.Rows, c.Drop = slices.DeleteFunc(c.Rely, same), slices.DeleteFunc(c.Rows, same), slices.DeleteFunc(c.Drop, same)
		c.Rows = append(c.Rows, r)
	}
}

// Remove adds rows to delete. A row that was to be written is then only deleted.
func (c *Change) Remove(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		c.Rely, c.Rows, c.Drop = slices.DeleteFunc(c.Rely, same), slices.DeleteFunc(c.Rows, same), slices.DeleteFunc(c.Drop, same)
		c.Drop = append(c.Drop, r)
	}
}

// RelyOn adds rows that must not have changed. It ignores rows that are already written, deleted or relied on.
func (c *Change) RelyOn(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		if !slices.ContainsFunc(c.Rows, same) && !slices.ContainsFunc(c.Rely, same) && !slices.ContainsFunc(c.Drop, same) {
			c.Rely = append(c.Rely, r)
		}
	}
}

// Written returns the row with this key that c writes, or nil.
func (c *Change) Written(key string) Row {
	if i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Key() == key }); i >= 0 {
		return c.Rows[i]
	}
	return nil
}

// Moment returns the time of the head's next Change: now in milliseconds, but always after the previous Change.
func (h *Head) Moment(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if next := h.ChangedAt.Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// Details encodes the details of an audit entry: strings, numbers, booleans and lists of these.
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
