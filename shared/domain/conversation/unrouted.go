package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// mostLookingUp is how long it is tried to look up whom a rule asks about an action. Meanwhile no other action can be
// proposed.
const mostLookingUp = time.Hour

// LookUp is a rule whose people must be looked up before they are asked about an action.
type LookUp struct {
	Rule circulation.Rule
	At   *time.Time // when to try; nil: at once
}

// lookUp leaves a new action without a route: nobody is asked, and only a run opens it.
func (x *Action) lookUp(of LookUp) {
	x.Gate.Status, x.Gate.AskedAt, x.Gate.Terms.Rule, x.Gate.Terms.DecideBy = aggregate.Generating, nil, &of.Rule, nil
	x.Gate.Terms.ApprovalRequired, x.LookUpAt = true, of.At
}

// Unrouted returns the action whose people must be looked up before it waits, or nil.
func (a *Aggregate) Unrouted() *Action {
	if x := a.Current(); x != nil && x.unrouted() {
		return x
	}
	return nil
}

func (x *Action) unrouted() bool {
	return x.Status == ActionPending && x.Gate.Status == aggregate.Generating && x.Gate.Terms.Rule != nil
}

// RefusedByRule reports whether an action ended because nobody could be asked about it.
func (x *Action) RefusedByRule() bool {
	return x.Status == ActionCancelled && x.Gate.Status == aggregate.Generating && x.CancelledBy == "" &&
		x.CancelReason != ReasonIdle
}

// LooksUp returns the action whose people a run looks up now, or nil.
func (a *Aggregate) LooksUp(now time.Time) *Action {
	if x := a.Unrouted(); x != nil && (x.LookUpAt == nil || !now.Before(*x.LookUpAt)) {
		return x
	}
	return nil
}

// opens begins a Change with which a run opens or ends the action with this id. It returns ErrMoved if that doesn't
// wait for its route.
func (a *Aggregate) opens(run int, id string, now time.Time) (*change, *Action, error) {
	if err := a.working(run); err != nil {
		return nil, nil, err
	}
	x := a.Unrouted()
	if x == nil || x.ActionID != id {
		return nil, nil, aggregate.ErrMoved
	}
	return a.begin(now), x, nil
}

// OpenOnRoute has people asked along a route about the action with this id, or without a rule if o is nil. It relies on
// the revision of the settings in terms, and on the tenant's rows in on. It returns ErrMoved if the action doesn't wait
// for its route.
func (a *Aggregate) OpenOnRoute(run int, id string, o *aggregate.Opening, terms aggregate.Terms, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	c, x, err := a.opens(run, id, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	n := *x
	n.Gate = aggregate.Gate{Status: aggregate.PendingApproval, Terms: terms, AskedAt: &c.Now}
	n.LookUpAt, c.Conversation.Refused = nil, 0
	if o == nil {
		by := aggregate.BySettings(true, a.AskersOf(x)...)
		o = &by
	}
	c.open(&n, *o)
	c.Put(&n)
	c.progress()
	c.active()
	c.under(terms.SettingsRev)
	c.Owned = append(c.Owned, on...)
	c.rest()
	return c.done()
}

// WaitForRoute puts off looking people up for the action with this id. Too long after it was proposed it returns
// ErrAged: then it is refused.
func (a *Aggregate) WaitForRoute(run int, id string, until, now time.Time) (aggregate.Change, error) {
	c, x, err := a.opens(run, id, now)
	switch {
	case err != nil:
		return aggregate.Change{}, err
	case !now.Before(x.CreatedAt.Add(mostLookingUp)):
		return aggregate.Change{}, ErrAged
	}
	n, at := *x, until.UTC().Truncate(time.Millisecond)
	n.LookUpAt = &at
	c.Put(&n)
	c.progress()
	c.rest()
	return c.done()
}

// RefuseByRule ends the action with this id because nobody is asked about it; text says why, in words for people and the
// agent. The agent is told of its own, and has a
// turn unless its proposals are refused again and again. It relies on the revision rev of the settings, and on the
// tenant's rows in on.
func (a *Aggregate) RefuseByRule(run int, id string, no ErrByRules, text string, rev int, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	c, x, err := a.opens(run, id, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	c.refuseUnrouted(x, no, text)
	c.under(rev)
	c.Owned = append(c.Owned, on...)
	c.rest()
	return c.done()
}

// refuseUnrouted ends an action about which nobody is asked.
func (c *change) refuseUnrouted(x *Action, no ErrByRules, text string) {
	c.progress()
	c.active()
	if x.RequestedBy == RequestedByAgent {
		c.Conversation.Refused++
	}
	c.over(x, ActionCancelled, func(n *Action) {
		n.settle(aggregate.Cancelled)
		n.CancelReason, n.ErrorDetail, n.LookUpAt, n.whyRefused = no.Why, no.Detail, nil, text
		if no.Rule.ID != "" {
			n.Gate.Terms.Rule = &no.Rule
		}
	})
	about := map[string]any{"reason": no.Why}
	if no.Rule.ID != "" {
		about["rule"] = no.Rule
	}
	c.auditAction(aggregate.System(), AuditCancelled, x, about)
}

// hearsOf reports whether the agent has a turn for what became of an action that has ended.
func (c *change) hearsOf(x *Action) bool {
	switch {
	case x.CancelReason == ReasonExpired, x.CancelReason == ReasonAged, x.CancelReason == ReasonSilent,
		x.CancelReason == ReasonUnrouted, x.CancelReason == ReasonDeleted:
		return false // nobody is waiting for an answer
	case x.CancelReason == ReasonDenied: // it is not to be tried in another way
		return false
	case x.whyRefused != "":
		return x.RequestedBy == RequestedByAgent && c.Conversation.Refused <= mostRefused
	}
	return true
}

// toldRefusedByRule returns the system's message about an action about which nobody is asked.
func (x *Action) toldRefusedByRule(locale string) Message {
	m := Message{Sender: FromSystem, ActionID: x.ActionID}
	m.own(fmt.Sprintf(said.In(locale).refusedByRule, x.Number))
	m.quote(x.whyRefused)
	return m
}
