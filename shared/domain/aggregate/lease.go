package aggregate

import "time"

// Lease says which invocation works on something outside of this program that a row stands for, such as a managed
// session, and until when. No Change puts it, because it is renewed far more often than the aggregate changes and
// carries no state. Whoever writes it conditions on the lease as it was read.
type Lease struct {
	Of         string     `json:"of"`                      // key of the row
	Invocation string     `json:"invocation"`              // empty: no invocation may work on it before LeaseUntil
	LeaseUntil time.Time  `json:"lease_until"`             // zero: nobody ever had it
	Ended      bool       `json:"ended,omitempty"`         // what the row stands for had ended when this was written
	Run        int        `json:"run"`                     // of whoever wrote it
	Pauses     int        `json:"pauses"`                  // of that run
	WaitedMS   int64      `json:"waited_ms,omitempty"`     // how long nobody came to take it, though it was free
	Failing    *time.Time `json:"failing_since,omitempty"` // since when the vendor has only asked us to wait
}

// LeaseKey returns the sort key of the lease that belongs to the row with the sort key of.
func LeaseKey(of string) string { return "LEASE#" + of }

// Key returns the lease's sort key, which contains that of the row it belongs to.
func (l *Lease) Key() string { return LeaseKey(l.Of) }

// Type returns "lease", the row's type in the table.
func (l *Lease) Type() string { return "lease" }

// Revision returns 0, since no Change writes a lease.
func (l *Lease) Revision() int { return 0 }

// At returns a copy of the lease: it has no revision to set.
func (l Lease) At(int) Row { return &l }

// Same reports whether both leases name the same holder and end at the same time. Nil stands for no lease.
func (l *Lease) Same(as *Lease) bool {
	if l == nil || as == nil {
		return l == as
	}
	return l.Of == as.Of && l.Invocation == as.Invocation && l.LeaseUntil.Equal(as.LeaseUntil)
}
