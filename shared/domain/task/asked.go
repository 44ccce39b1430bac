package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// Asks returns the gate that waits for people's approval, if there is one. While a person has to choose how to treat
// the message, no gate does.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	open, waits := a.OpenGate()
	return open.Question, waits && open.Terms.ApprovalRequired && a.Choosing() == nil
}

// AskedAt returns when the gate with this id began to wait, or zero if there is no such gate.
func (a *Aggregate) AskedAt(id string) time.Time {
	terms, ok := a.TermsOf(id)
	if !ok || terms.DecideBy == nil {
		return time.Time{}
	}
	// CreatedAt would be too early: the row is created before its content is generated.
	return terms.DecideBy.Add(-time.Duration(terms.ApprovalHours) * time.Hour)
}

// Readable returns aggregate.ErrConflict if the request is missing, which happens in a torn read.
func (a *Aggregate) Readable(time.Time) error {
	if a.Request == nil {
		return aggregate.ErrConflict
	}
	return nil
}

// OnRoute reports whether somebody is on the route of one of the task's gates: then they may read it.
func (a *Aggregate) OnRoute(user string) bool {
	return slices.ContainsFunc(a.gates(), func(row Gated) bool { return row.gate().OnRoute(user) })
}

// Homes returns the homes of the task's gates: who is there may read it.
func (a *Aggregate) Homes() (channels []string) {
	for _, row := range a.gates() {
		if home := row.gate().Home; home != "" {
			channels = append(channels, home)
		}
	}
	return channels
}

// Origin returns where and by whom the task was requested.
func (a *Aggregate) Origin() aggregate.Origin { return a.Request.Origin() }

// Beginning returns the timestamps of the requesting message and of its thread.
func (a *Aggregate) Beginning() (message, thread string) {
	return a.Request.MessageTS, a.Request.ThreadTS
}
