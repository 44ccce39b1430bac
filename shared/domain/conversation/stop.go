package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ReasonStopped is why messages are not answered: a person stopped the agent.
const ReasonStopped aggregate.Reason = "stopped"

// Stop ends what the conversation does now: an action that is approved or executes is cancelled, messages that the
// agent is about to answer get a sentence instead. Whoever may withdraw an action may. It is no change when nothing is
// being done.
func (a *Aggregate) Stop(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Session == nil {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	if x := a.Current(); x != nil && x.Status != ActionPending {
		return a.Cancel(x.ActionID, by, p, now)
	}
	if err := a.mayWithdraw(nil, by, p); err != nil {
		return aggregate.Change{}, err
	}
	if a.Session.Status == Closed || a.Head.Resting || len(a.Inbox) == 0 {
		return aggregate.Change{}, nil
	}
	return a.Refused(a.Head.Run, a.Waiting(), Refusal{Reason: ReasonStopped, Text: said.In(a.Session.Locale).stopped}, now)
}
