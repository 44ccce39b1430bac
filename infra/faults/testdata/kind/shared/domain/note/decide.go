package note

import (
	"cmp"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
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

func (a *Aggregate) IsOpen(id string) bool {
	n := a.asked(id)
	return n != nil && n.Status == aggregate.PendingApproval
}

// GateWith returns the note's gate, or nil.
func (a *Aggregate) GateWith(id string) *aggregate.Gate {
	if n := a.asked(id); n != nil {
		return &n.Gate
	}
	return nil
}

var onRoute = aggregate.OnRoute{
	Approved: "note.approved", Acts: map[circulation.Kind]aggregate.Action{circulation.SendBack: "note.rejected"},
}

// Act approves the note, or decides that it is not kept. The same again by the same person changes nothing.
func (a *Aggregate) Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
	_ ...aggregate.Owned) (aggregate.Change, error) {
	n := a.asked(id)
	if n == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	act, denied := p.Act(&n.Gate, act, by, now.UTC().Truncate(time.Millisecond))
	g, refused := n.Gate.Acted(act)
	switch {
	case aggregate.Again(refused):
		return aggregate.Change{}, nil
	case !a.IsOpen(id):
		return aggregate.Change{}, n.Decided()
	case denied != nil || refused != nil:
		return aggregate.Change{}, cmp.Or(denied, refused)
	}
	return a.changed(by, onRoute.Entry(&g), now, func(n *Note, _ time.Time) {
		if n.Gate = g; g.ApprovedAt != nil {
			n.Status = aggregate.Approved
		} else {
			n.Status = aggregate.Rejected
		}
	})
}

// End withdraws a waiting note.
func (a *Aggregate) End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if err := p.Withdraw(by, a.Head.Requester); err != nil || !a.IsOpen(a.Head.NoteID) {
		return aggregate.Change{}, err
	}
	return a.changed(by, "note.withdrawn", now, func(n *Note, _ time.Time) { n.Status = aggregate.Cancelled })
}
