package conversation

import (
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
