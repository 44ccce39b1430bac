package conversation

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// unheard returns the action that was withdrawn while an invocation executed it, as long as nobody has recorded what
// became of it; nil if there is none.
func (a *Aggregate) unheard() *Action {
	if a.Conversation == nil {
		return nil
	}
	for _, x := range a.Actions {
		if x.unheard() {
			return x
		}
	}
	return nil
}

func (x *Action) unheard() bool {
	return x.Status == ActionCancelled && x.CancelReason == ReasonWithdrawn && x.Claim != nil && x.Late == nil &&
		(x.Pushed == nil || x.Pushed.Look == nil && x.Pushed.Unseen == "")
}

// EndWithdrawn records what is known of a withdrawn action whose invocation ended without a result: of a pull request a
// run looks what is there, unless the conversation has ended. It returns ErrNotDue if there is no such action, and while
// its invocation may still record the result.
func (a *Aggregate) EndWithdrawn(now time.Time) (aggregate.Change, error) {
	x := a.unheard()
	if x == nil || x.leased(now) || a.Head.Forgotten(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	begun := x.Pushed != nil && x.Pushed.Commit != "" // its branch may be there
	if begun && a.Conversation.Status != Closed {
		c := a.begin(now)
		c.progress()
		n := *x
		n.lookWhatIsThere(x.CancelledBy, c.Now)
		c.Put(&n)
		c.auditAction(aggregate.System(), AuditLooked, x, map[string]any{"branch": x.Pushed.Branch})
		return c.done()
	}
	why, _ := x.cutOff()
	return a.late(x, Result{Status: ActionFailed, Error: why, Lines: x.Lines, Dropped: x.Dropped, Missing: x.Missing}, now)
}

// deletedBy returns the message in the inbox by which a person deleted one from which the action came, or nil.
func (x *Action) deletedBy(inbox []*Inbox) *Inbox {
	for _, i := range inbox {
		if i.Deleted && slices.Contains(x.AskedIn, i.Changes) {
			return i
		}
	}
	return nil
}

// errDeleted refuses a stamp on an action that is about to be withdrawn.
func errDeleted(id string) error {
	return fmt.Errorf("a message that action %s came of was deleted: %w", id, aggregate.ErrConflict)
}

// takeBack withdraws the action that waits if one of the messages from which it came was deleted, and notes on it if
// one was edited. Slack doesn't say who deleted a message.
func (a *Aggregate) takeBack(c *change, seen []*Inbox) {
	x := a.Current()
	if x == nil || x.Status != ActionPending {
		return
	}
	if x.deletedBy(seen) != nil {
		c.over(x, ActionCancelled, func(n *Action) {
			n.settle(aggregate.Cancelled)
			n.CancelReason = ReasonDeleted
		})
		c.auditAction(aggregate.System(), AuditCancelled, x, map[string]any{"was": x.Status, "reason": ReasonDeleted})
		return
	}
	edited := func(i *Inbox) bool { return i.Changes != "" && slices.Contains(x.AskedIn, i.Changes) }
	if slices.ContainsFunc(seen, edited) {
		n := *x
		n.EditedAt = &c.Now
		c.Put(&n)
	}
}

// cutOff returns what is known of an action whose invocation ended without a result.
func (x *Action) cutOff() (why aggregate.Reason, outcome Outcome) {
	switch {
	case x.ActionType == CodeGenerate, x.Pushed != nil && x.Pushed.Commit == "":
		return ReasonInterrupted, ""
	case x.Reads():
		return ReasonReadCutOff, ""
	}
	return ReasonUnknown, OutcomeUnknown
}
