package call

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
)

// Next returns the state to which a run must go at now: it looks people up, makes the stamped call, or ends.
func (a *Aggregate) Next(now time.Time) aggregate.Next {
	x := a.Call
	if a.LooksUp(now) != nil || x != nil && x.Status == conversation.ActionApproved && !x.Elsewhere && !x.aged(now) {
		return aggregate.Next{State: conversation.StateCall}
	}
	return aggregate.Next{State: aggregate.StateFinish, Outcome: conversation.OutcomeResting}
}

func (a *Aggregate) work(now time.Time) bool { return a.Next(now).State != aggregate.StateFinish }

// Effects returns the run that works on the call, and the cards to redraw.
func (a *Aggregate) Effects(now time.Time) aggregate.Effects {
	out := aggregate.Effects{Wake: a.Waits, Cards: a.Head.ShownRev < a.Head.Rev || a.Head.DrawAt != nil &&
		!a.Head.InLine(now)}
	if a.work(now) {
		out.Run = &aggregate.Run{
			Name: fmt.Sprintf("%s-%d", a.Head.CallID, a.Head.Run),
			Input: fmt.Sprintf(`{"tenant":%q,"kind":%q,"id":%q,"run":%d}`, a.Head.TenantID, Kind.Name, a.Head.CallID,
				a.Head.Run),
			Run: a.Head.Run,
		}
	}
	for _, c := range a.Cards {
		again := a.TryAgainAt(c)
		out.Cards = out.Cards || again != nil && !now.Before(*again)
	}
	return out
}

// RestartRun supersedes a run that died. After a few it gives up.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.work(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	if a.Head.Restarts >= conversation.MaxRestarts {
		return a.GiveUp(run, now)
	}
	c := a.begin(now)
	c.Head.Run++
	c.Head.Restarts++
	return c.done()
}

// PauseRun supersedes a run that ended because Lambda had no capacity.
func (a *Aggregate) PauseRun(run int, _, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.work(now) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	c.Head.Run++
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
	no := conversation.ErrByRules{Why: conversation.ReasonUnrouted}
	if rule := a.Call.Gate.Terms.Rule; rule != nil {
		no.Rule = *rule
	}
	c.refuse(no)
	return c.done()
}

// tryAgainAfter is the interval for retrying a card that Slack refused while a person is asked.
const tryAgainAfter = time.Hour

// TryAgainAt returns when to retry a card that Slack refused permanently, if the call waits, or else nil.
func (a *Aggregate) TryAgainAt(c *aggregate.Card) *time.Time {
	if c.State != aggregate.CardUnreachable || a.Call == nil || !a.Call.asks() {
		return nil
	}
	tried := c.CreatedAt
	if c.TriedAt != nil {
		tried = *c.TriedAt
	}
	again := tried.Add(tryAgainAfter)
	return &again
}

// DueAt returns when the sweeper must look again.
func (a *Aggregate) DueAt(now time.Time) *time.Time {
	var due *time.Time
	by := func(t *time.Time) {
		if t != nil && (due == nil || t.Before(*due)) {
			due = t
		}
	}
	soon := now.Add(5 * time.Minute)
	switch {
	case a.Head.InLine(now):
		by(a.Head.DrawAt)
	case a.Head.ShownRev < a.Head.Rev, a.Head.DrawAt != nil:
		later := now.Add(min(max(5*time.Minute, now.Sub(a.Head.ChangedAt)), time.Hour))
		by(&later)
	}
	for _, c := range a.Cards {
		if again := a.TryAgainAt(c); again != nil && again.After(now) {
			by(again)
		} else if again != nil {
			by(&soon)
		}
	}
	if a.work(now) {
		by(&soon)
	}
	if x := a.Call; x != nil {
		switch {
		case x.Status == conversation.ActionExecuting:
			by(&x.Claim.LeaseUntil)
		case x.unrouted():
			by(x.LookUpAt)
		case x.asks():
			by(x.Gate.Terms.DecideBy)
		default:
			by(x.goodUntil())
		}
	}
	return due
}

// OverdueNeeds returns none: a call depends on no other aggregate.
func (a *Aggregate) OverdueNeeds() (aggregate.Ref, bool) { return aggregate.Ref{}, false }

// Overdue returns what time decides about the call.
func (a *Aggregate) Overdue(now time.Time, _ aggregate.Aggregate) []aggregate.Overdue {
	of := func(decide func(*Aggregate) (aggregate.Change, error)) aggregate.Decision[aggregate.Aggregate] {
		return func(x aggregate.Aggregate) (aggregate.Change, error) { return decide(x.(*Aggregate)) }
	}
	return []aggregate.Overdue{
		{Decide: of(func(a *Aggregate) (aggregate.Change, error) { return a.Expire(now) })},
		{Decide: of(func(a *Aggregate) (aggregate.Change, error) { return a.Crashed(now) })},
		{Decide: of(func(a *Aggregate) (aggregate.Change, error) { return a.restartStuck(now) }), Repair: true},
	}
}

func (a *Aggregate) restartStuck(now time.Time) (aggregate.Change, error) {
	if !a.work(now) || now.Sub(a.Head.ChangedAt) < aggregate.StuckAfter {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.RestartRun(a.Head.Run, now)
}
