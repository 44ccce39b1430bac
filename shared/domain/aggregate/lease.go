package aggregate

import "time"

// Lease says which invocation works on an external resource, such as a managed session, and until when. No Change
// writes it: it is renewed far more often than the aggregate changes, and carries no state. Writers require that the
// lease is still as they read it.
type Lease struct {
	Of         string     `json:"of"`                      // key of the row
	Invocation string     `json:"invocation"`              // empty: no invocation may work on it before LeaseUntil
	LeaseUntil time.Time  `json:"lease_until"`             // zero: nobody has held it yet
	Ended      bool       `json:"ended,omitempty"`         // the resource had already ended at the time of this write
	Run        int        `json:"run"`                     // the writer's run
	Pauses     int        `json:"pauses"`                  // pauses of that run so far
	WaitedMS   int64      `json:"waited_ms,omitempty"`     // total time in which nobody took the free lease
	Failing    *time.Time `json:"failing_since,omitempty"` // since when the vendor has only told us to wait
}

// LeaseKey returns the sort key of the lease on the row with the sort key of.
func LeaseKey(of string) string { return "LEASE#" + of }

func (l *Lease) Key() string { return LeaseKey(l.Of) }

func (l *Lease) Type() string { return "lease" }

// Revision returns 0 because no Change writes a lease.
func (l *Lease) Revision() int { return 0 }

// At returns an unchanged copy, because a lease has no revision.
func (l Lease) At(int) Row { return &l }

// Same reports whether both leases have the same holder and the same end. Nil means no lease.
func (l *Lease) Same(as *Lease) bool {
	if l == nil || as == nil {
		return l == as
	}
	return l.Of == as.Of && l.Invocation == as.Invocation && l.LeaseUntil.Equal(as.LeaseUntil)
}
