package call

import (
	"errors"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// Next returns the state to which a run must go at now: it looks people up, makes the stamped call, or ends.
func (a *Aggregate) Next(now time.Time) aggregate.Next {
	x := a.Call
	if a.LooksUp(now) || x != nil && x.Status == conversation.ActionApproved && !x.Elsewhere && !x.aged(now) {
		return aggregate.Next{State: conversation.StateCall}
	}
	return aggregate.Next{State: aggregate.StateFinish, Outcome: conversation.OutcomeResting}
}

func (a *Aggregate) work(now time.Time) bool { return a.Next(now).State != aggregate.StateFinish }

// Effects returns the run that works on the call, and the cards to redraw.
func (a *Aggregate) Effects(now time.Time) aggregate.Effects {
	out := aggregate.Effects{Wake: a.Waits}
	if a.Forgotten(now) { // nothing is left to commit it to
		out.Erased = func(aggregate.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, aggregate.ErrNotDue }
		return out
	}
	if a.work(now) {
		out.Run = aggregate.RunOf(a.Ref(), a.Head.Run)
	}
	out.Cards, _ = aggregate.Drawing(a, !a.Head.Shown(), a.Asked(a.Head.CallID).Open, now)
	return out
}

// rerun begins a Change that supersedes a run.
func (a *Aggregate) rerun(run int, now time.Time) (*change, error) {
	if a.Head.Run != run || !a.work(now) {
		return nil, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	c.Head.Run++
	return c, nil
}

// RestartRun supersedes a run that died. After a few it gives up.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	c, err := a.rerun(run, now)
	switch {
	case err != nil:
		return aggregate.Change{}, err
	case a.Head.Restarts >= conversation.MaxRestarts:
		return a.GiveUp(run, now)
	}
	c.Head.Restarts++
	return c.done()
}

// PauseRun supersedes a run that ended because Lambda had no capacity.
func (a *Aggregate) PauseRun(run int, _, now time.Time) (aggregate.Change, error) {
	c, err := a.rerun(run, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	return c.done()
}

// GiveUp ends the work of a run: nobody is asked, or the stamped call fails.
func (a *Aggregate) GiveUp(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.work(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	if a.Call.Status == conversation.ActionApproved {
		return a.end(Result{Status: conversation.ActionFailed, Error: conversation.ReasonRunFailed}, now)
	}
	c := a.begin(now)
	c.refuse(aggregate.Refusal{Why: ReasonUnrouted})
	return c.done()
}

// DueAt returns when the sweeper must look again.
func (a *Aggregate) DueAt(now time.Time) *time.Time {
	_, due := aggregate.Drawing(a, !a.Head.Shown(), a.Asked(a.Head.CallID).Open, now)
	by := func(t *time.Time) {
		if t != nil {
			due = aggregate.Sooner(due, *t)
		}
	}
	if a.work(now) {
		due = aggregate.Sooner(due, now.Add(5*time.Minute))
	}
	if x := a.Call; x != nil {
		switch {
		case x.Status == conversation.ActionExecuting:
			by(&x.Claim.LeaseUntil)
		case x.Unopened():
			by(x.LookUpAt)
		case x.Action().Waits():
			by(x.Gate.Terms.DecideBy)
		default:
			by(x.goodUntil())
		}
		by(x.forgottenAt())
	}
	return due
}

// Overdue returns what time decides about the call.
func (a *Aggregate) Overdue(now time.Time) []aggregate.Overdue {
	return []aggregate.Overdue{
		{Decide: aggregate.At(now, (*Aggregate).Expire)},
		{Decide: aggregate.At(now, (*Aggregate).Crashed)},
		aggregate.Restarting(now, (*Aggregate).work),
	}
}

// Follow ends a call that waits, or is stamped and not begun, if its key was revoked, has ended or lost the tool.
func (a *Aggregate) Follow(k tenancy.Key, now time.Time) (aggregate.Change, error) {
	x := a.Call
	if x == nil || x.KeyID != k.ID || x.Over() || x.Status == conversation.ActionExecuting {
		return aggregate.Change{}, nil
	}
	if why, over := errors.AsType[tenancy.ErrKey](k.Holds(x.Tool, now)); over {
		return a.cancel(aggregate.System(), KeyReason(why), now)
	}
	return aggregate.Change{}, nil
}

// Reasons for a call that isn't made because of its key: it was revoked or has expired, or lost the tool.
const (
	ReasonKey     aggregate.Reason = "key_over"
	ReasonKeyTool aggregate.Reason = "key_tool"
)

// KeyReason returns the reason for what Key.Holds says.
func KeyReason(e tenancy.ErrKey) aggregate.Reason {
	if e.Why == tenancy.KeyTool {
		return ReasonKeyTool
	}
	return ReasonKey
}

// forgottenAt returns when nothing is left of a call that ended without anybody's act, nil for any other.
func (x *Call) forgottenAt() *time.Time {
	if !x.Over() || len(x.Gate.Acts) > 0 || x.KeepDays == 0 {
		return nil
	}
	at := x.CompletedAt.AddDate(0, 0, x.KeepDays)
	return &at
}

// Forgotten reports whether all of the call's rows must be deleted at now.
func (a *Aggregate) Forgotten(now time.Time) bool {
	if a.Call == nil {
		return false
	}
	at := a.Call.forgottenAt()
	return at != nil && !now.Before(*at)
}
