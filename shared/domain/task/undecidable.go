package task

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// WillAsk reports whether people are certain to be asked before anything is executed: under these settings the policy
// or the steps that a model makes next are theirs to approve. A step's own gate may open all the same.
func (a *Aggregate) WillAsk(s tenancy.Settings) bool {
	p := a.Prompt()
	stands := p != nil && p.Status == aggregate.Approved
	return s.ProcessApprovalRequired || !stands && a.asksForPolicy(s)
}

// Drafts reports whether a model is asked next for a version of the policy or of the steps.
func (a *Aggregate) Drafts(now time.Time) bool {
	state := a.Next(now).State
	return state == StateDraftPrompt || state == StatePlanProcess
}

// Undecidable reports whether the task is parked because nobody may approve what comes next: no draft has failed, and
// none is written while that stays so.
func (h Head) Undecidable() bool { return h.Parked != nil && h.Parked.Sentence == ReasonNobodyApproves }

// ParkUndecidable parks a task whose next version nobody could approve, before a model is asked for it. It is no change
// where no version is made next, or nobody is asked about it. The try that a person asked for is given back: no model
// was asked.
func (a *Aggregate) ParkUndecidable(run int, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil || !a.Drafts(now) || !a.WillAsk(s) {
		return aggregate.Change{}, err
	}
	c := a.park(ReasonNobodyApproves, "", now)
	if a.Head.Retried != nil {
		c.Head.Retries--
	}
	return c.done()
}
