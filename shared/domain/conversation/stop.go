package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ReasonStopped says that a person stopped the agent before it answered.
const ReasonStopped aggregate.Reason = "stopped"

// Stop ends the conversation's current work: it cancels an action that is approved, executes or waits for its route, or
// answers waiting messages with a fixed sentence. Whoever may withdraw an action may stop it. Without current work
// nothing changes.
func (a *Aggregate) Stop(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Conversation == nil {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	if x := a.Current(); x != nil && (x.Status != ActionPending || x.unrouted()) {
		return a.Cancel(x.ActionID, by, p, now)
	}
	if err := a.mayWithdraw(nil, by, p); err != nil {
		return aggregate.Change{}, err
	}
	if a.Conversation.Status == Closed || a.Head.Resting || len(a.Inbox) == 0 {
		return aggregate.Change{}, nil
	}
	return a.Refused(a.Head.Run, a.Waiting(), Refusal{Reason: ReasonStopped, Text: said.In(a.Conversation.Locale).stopped}, now)
}
