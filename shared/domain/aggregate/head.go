package aggregate

import "time"

// HeadKey is the key of the head row.
const HeadKey = "HEAD"

// Head has the fields that the heads of all kinds share. Every Change is committed on condition of its Rev and adds
// one. When it is due, what its cards show and how sweeps failed are bookkeeping, which is written outside of
// Changes.
type Head struct {
	TenantID   string    `json:"tenant_id"`
	Rev        int       `json:"rev"`
	LastChange string    `json:"last_change"`
	Run        int       `json:"run"`      // only this run of the state machine may commit
	Restarts   int       `json:"restarts"` // runs started anew since the last progress
	Requester  string    `json:"requester"`
	CreatedAt  time.Time `json:"created_at"`
	ChangedAt  time.Time `json:"changed_at"`

	DueAt         *time.Time `json:"due_at,omitempty"`
	ShownRev      int        `json:"shown_rev,omitempty"` // the revision that all cards show, unless a card's row says it (see See)
	Redraws       int        `json:"redraws,omitempty"`   // how often somebody asked for the cards to be drawn anew
	DrawAt        *time.Time `json:"draw_at,omitempty"`   // when its cards may be drawn, while they wait because of Slack's rate limits
	SweepFailures int        `json:"sweep_failures,omitempty"`
}

// Bookkeeping are the attributes of a head that are written outside of Changes.
var Bookkeeping = []string{"due_at", "shown_rev", "redraws", "draw_at", "sweep_failures"}

// Root is the head row of a kind: it embeds Head.
type Root interface {
	Row
	Common() *Head
	ID() string // of the aggregate
}

// Common is the head without what its kind adds.
func (h *Head) Common() *Head { return h }

func (h *Head) Key() string   { return HeadKey }
func (h *Head) Type() string  { return "head" }
func (h *Head) Revision() int { return h.Rev }

// Committed is the head of the Change c as it is after c was committed to was: the bookkeeping stays that of was,
// since no Change writes it.
func (h Head) Committed(was Head, c Change) Head {
	h.Rev, h.LastChange = was.Rev+1, c.ID
	h.DueAt, h.ShownRev, h.SweepFailures, h.Redraws, h.DrawAt = was.DueAt, was.ShownRev, was.SweepFailures, was.Redraws, was.DrawAt
	return h
}

// Committed adds to an aggregate, whose lists of rows are its own, what a commit of c writes.
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

// See takes the revision that all cards show from their rows, where it is higher than the head's. What a row says does
// not count if a redraw was asked for since.
func (h *Head) See(cards []*Card) {
	for _, c := range cards {
		if c.ShownRedraws == h.Redraws {
			h.ShownRev = max(h.ShownRev, c.ShownRev)
		}
	}
}

// InLine reports whether the cards wait for a time after now, because of Slack's rate limits. Before it they are
// drawn only if the aggregate changes.
func (h *Head) InLine(now time.Time) bool { return h.DrawAt != nil && now.Before(*h.DrawAt) }
