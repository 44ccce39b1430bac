package task

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// WillAsk reports whether people will be asked about the next generated policy or steps. It ignores gates of single
// steps, and those whose people the tenant's rules name.
func (a *Aggregate) WillAsk(s tenancy.Settings) bool {
	p := a.Prompt()
	stands := p != nil && p.Status == aggregate.Approved
	return s.ProcessApprovalRequired && !a.UnderRules(s) || !stands && a.asksForPolicy(s)
}

// Drafts reports whether the next state asks a model for a policy or for steps.
func (a *Aggregate) Drafts(now time.Time) bool {
	state := a.Next(now).State
	return state == StateDraftPrompt || state == StatePlanProcess
}

// vouchedFor is how long a stamp proves that somebody may approve. It is as long as Slack's answers about people are
// cached.
const vouchedFor = time.Minute

// Decidable reports whether the rows alone prove that somebody may approve the task's next version under s: nobody is
// asked, or a person has just stamped the policy under the same settings and may stamp the steps, too.
func (a *Aggregate) Decidable(s tenancy.Settings, now time.Time) bool {
	if !a.WillAsk(s) {
		return true
	}
	p := a.Prompt()
	return p != nil && p.Status == aggregate.Approved && p.ApprovedBy != "" && p.ApprovedAt != nil &&
		now.Sub(*p.ApprovedAt) < vouchedFor && p.Terms.SettingsRev == s.Rev
}

// Undecidable reports whether the task is parked because nobody could approve the next version. No generation has
// failed, and none runs until that changes.
func (h Head) Undecidable() bool { return h.Parked != nil && h.Parked.Sentence == ReasonNobodyApproves }

// ParkUndecidable parks a task whose next version nobody could approve, before a model is asked for it. Nothing changes
// if no version is generated next or nobody is asked about it. A person's retry is not counted, because no model was
// asked.
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
