package note

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Readable returns aggregate.ErrConflict if a torn read left out the note.
func (a *Aggregate) Readable(time.Time) error {
	if a.Note == nil {
		return aggregate.ErrConflict
	}
	return nil
}

func (a *Aggregate) Origin() aggregate.Origin            { return a.Note.Origin() }
func (a *Aggregate) Beginning() (message, thread string) { return a.Note.ThreadTS, a.Note.ThreadTS }
func (a *Aggregate) Askers() []string                    { return []string{a.Head.Requester} }

// Asks returns the note's question while it waits for a person.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	if !a.IsOpen(a.Head.NoteID) {
		return q, false
	}
	return a.Note.Asks(), true
}

// asked returns the note if it has this id, else nil.
func (a *Aggregate) asked(id string) *Note {
	if a.Note == nil || id != a.Head.NoteID {
		return nil
	}
	return a.Note
}

func (a *Aggregate) AskedBy(id string) aggregate.CardType {
	if a.asked(id) == nil {
		return ""
	}
	return Card
}

// AskedHash returns the hash of what a person reads before deciding.
func (a *Aggregate) AskedHash(id string) string {
	if n := a.asked(id); n != nil {
		return aggregate.HashOf(n.Text)
	}
	return ""
}

func (a *Aggregate) AskedAt(id string) time.Time {
	if a.IsOpen(id) {
		return a.Note.CreatedAt
	}
	return time.Time{}
}

func (a *Aggregate) IsOpen(id string) bool {
	n := a.asked(id)
	return n != nil && n.Status == aggregate.PendingApproval
}

func (a *Aggregate) VerdictOn(id string) aggregate.Verdict {
	if n := a.asked(id); n != nil {
		return n.Verdict
	}
	return aggregate.Verdict{}
}

// ApproveRead stamps the text with this hash. A second stamp by the same person changes nothing.
func (a *Aggregate) ApproveRead(id, hash string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	switch n := a.asked(id); {
	case n == nil:
		return aggregate.Change{}, aggregate.ErrNotFound
	case n.Status == aggregate.Approved && n.ApprovedBy == by.ID:
		return aggregate.Change{}, nil
	case !a.IsOpen(id):
		return aggregate.Change{}, n.Decided()
	case hash != a.AskedHash(id):
		return aggregate.Change{}, aggregate.ErrMoved
	}
	if err := p.Approve(by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	return a.changed(by, "note.approved", now, func(n *Note, at time.Time) {
		n.Gate = n.Gate.Approved(by, hash, at)
		n.Status = aggregate.Approved
	})
}

// Reject decides that the note is not kept.
func (a *Aggregate) Reject(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	reason, err := aggregate.CheckReason(reason)
	switch n := a.asked(id); {
	case n == nil:
		return aggregate.Change{}, aggregate.ErrNotFound
	case err != nil:
		return aggregate.Change{}, err
	case n.Status == aggregate.Rejected && n.RejectedBy == by.ID:
		return aggregate.Change{}, nil
	case !a.IsOpen(id):
		return aggregate.Change{}, n.Decided()
	}
	if err := p.Reject(by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	return a.changed(by, "note.rejected", now, func(n *Note, at time.Time) {
		n.Gate.Reject(by, reason, at)
		n.Status = aggregate.Rejected
	})
}

// End withdraws a waiting note.
func (a *Aggregate) End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if err := p.Withdraw(by, a.Head.Requester); err != nil || !a.IsOpen(a.Head.NoteID) {
		return aggregate.Change{}, err
	}
	return a.changed(by, "note.withdrawn", now, func(n *Note, _ time.Time) { n.Status = aggregate.Cancelled })
}
