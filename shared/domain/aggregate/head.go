package aggregate

import "time"

// HeadKey is the key of the head row.
const HeadKey = "HEAD"

// Head has the fields that the heads of all kinds share. Every Change requires the Rev that was read and increments it.
// Bookkeeping, the fields from DueAt on, is written outside of Changes.
type Head struct {
	TenantID   string    `json:"tenant_id"`
	Rev        int       `json:"rev"`
	LastChange string    `json:"last_change"`
	Run        int       `json:"run"`      // only this run of the state machine may commit
	Restarts   int       `json:"restarts"` // runs restarted since the last progress
	Requester  string    `json:"requester"`
	CreatedAt  time.Time `json:"created_at"`
	ChangedAt  time.Time `json:"changed_at"`
	Newest     Newest    `json:"newest,omitempty"`
	// Entered is when the run entered the last state of which a commit says so; see Wait.Left.
	Entered *time.Time `json:"entered,omitempty"`
	// Routes notes gates under a rule as they opened and were settled, the newest of each type.
	Routes []Noted `json:"routes,omitempty"`

	DueAt         *time.Time `json:"due_at,omitempty"`
	ShownRev      int        `json:"shown_rev,omitempty"` // the revision that all cards show; see See
	Redraws       int        `json:"redraws,omitempty"`   // how often somebody asked to redraw the cards
	DrawAt        *time.Time `json:"draw_at,omitempty"`   // while Slack limits the rate: when to draw the cards
	SweepFailures int        `json:"sweep_failures,omitempty"`
}

// Bookkeeping lists the head's attributes that are written outside of Changes.
var Bookkeeping = []string{"due_at", "shown_rev", "redraws", "draw_at", "sweep_failures"}

// Root is the head row of one kind; it embeds Head.
type Root interface {
	Row
	Common() *Head
	ID() string // of the aggregate
}

// Common returns the part of the head that all kinds share.
func (h *Head) Common() *Head { return h }

func (h *Head) Key() string   { return HeadKey }
func (h *Head) Type() string  { return "head" }
func (h *Head) Revision() int { return h.Rev }

// Committed returns the head as it is after the Change c was committed on top of was. Bookkeeping is copied from was.
func (h Head) Committed(was Head, c Change) Head {
	h.Rev, h.LastChange = was.Rev+1, c.ID
	h.DueAt, h.ShownRev, h.SweepFailures, h.Redraws, h.DrawAt = was.DueAt, was.ShownRev, was.SweepFailures, was.Redraws, was.DrawAt
	return h
}

// Committed returns a with the rows that a commit of c writes. It changes a's lists, so they must not be shared.
func Committed[A Aggregate](a A, c Change) A {
	if was := *a.Root().Common(); c.Head != nil {
		a.Add(c.Head)
		*a.Root().Common() = a.Root().Common().Committed(was, c)
	}
	for _, r := range c.Rows {
		a.Add(r.At(a.Root().Common().Rev))
	}
	return a
}

// See raises ShownRev to the highest revision in the cards' rows, except rows older than the last redraw request. It
// also leaves out waits at gates that the run has left.
func (h *Head) See(s *Shared) {
	waits := s.Waits
	s.Waits = nil
	for i := range waits {
		if !waits[i].Left(h) {
			s.Waits = append(s.Waits, waits[i])
		}
	}
	for _, c := range s.Cards {
		if c.ShownRedraws == h.Redraws {
			h.ShownRev = max(h.ShownRev, c.ShownRev)
		}
	}
}

// InLine reports whether the cards still wait because of Slack's rate limits. Until DrawAt they are drawn only if the
// aggregate changes.
func (h *Head) InLine(now time.Time) bool { return h.DrawAt != nil && now.Before(*h.DrawAt) }
