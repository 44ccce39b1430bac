package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ApproveRead stamps the gate with this id for somebody who read all of what had this
// hash. It returns ErrMoved when the gate asks about something else, and otherwise what
// Approve returns.
func (a *Aggregate) ApproveRead(id, hash string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	switch {
	case a.AskedBy(id) == "":
		return aggregate.Change{}, aggregate.ErrNotFound
	case a.AskedHash(id) != hash:
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.Approve(id, by, p, now)
}

// Asks is the gate that waits for people's approval, if one does. None does while a person has to choose what a message
// is meant to be.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	open, waits := a.OpenGate()
	return open.Question, waits && open.Terms.ApprovalRequired && a.Choosing() == nil
}

// AskedAt is when the gate with this id began to wait, zero if there is no such gate.
func (a *Aggregate) AskedAt(id string) time.Time {
	terms, ok := a.TermsOf(id)
	if !ok || terms.DecideBy == nil {
		return time.Time{}
	}
	return terms.DecideBy.Add(-time.Duration(terms.ApprovalHours) * time.Hour) // a row is older: its generation came first
}

// Readable returns aggregate.ErrConflict for a torn read, which lacks the request.
func (a *Aggregate) Readable(time.Time) error {
	if a.Request == nil {
		return aggregate.ErrConflict
	}
	return nil
}

// Origin is where the task was asked for, and by whom.
func (a *Aggregate) Origin() aggregate.Origin { return a.Request.Origin() }

// Beginning is the message that asked for the task, and its thread.
func (a *Aggregate) Beginning() (message, thread string) {
	return a.Request.MessageTS, a.Request.ThreadTS
}
