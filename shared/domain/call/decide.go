package call

import (
	"cmp"
	"errors"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// ErrAged says that a call was stamped too long ago to begin.
var ErrAged = errors.New("it was approved too long ago to begin")

// Readable returns aggregate.ErrConflict if a torn read left out the call.
func (a *Aggregate) Readable(time.Time) error {
	if a.Call == nil {
		return aggregate.ErrConflict
	}
	return nil
}

func (a *Aggregate) Origin() aggregate.Origin { return a.Call.Origin() }

// Beginning returns the call's card, once it is posted, and the thread that it begins or, of the key's day, stands in.
func (a *Aggregate) Beginning() (message, thread string) {
	for _, c := range a.Cards {
		if c.MessageTS != "" {
			return c.MessageTS, cmp.Or(a.Call.ThreadTS, c.MessageTS)
		}
	}
	return "", a.Call.ThreadTS
}

func (a *Aggregate) Askers() []string {
	if a.Call == nil {
		return []string{a.Head.Requester}
	}
	return []string{a.Call.Answers}
}

// AnsweredBy is that of the call, if it could be read.
func (a *Aggregate) AnsweredBy(user string) bool { return a.Call != nil && a.Call.AnsweredBy(user) }

// Asked returns the call's gate if it has this id, with the hash of what a person reads before deciding.
func (a *Aggregate) Asked(id string) (out aggregate.Asked) {
	if x := a.Call; x != nil && id == a.Head.CallID {
		out = aggregate.Asked{Kind: Card, Hash: x.Payload.Hash(), Gate: &x.Gate, Open: x.Action().Waits()}
	}
	return out
}

// Asks returns the call's question while it waits for people.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	if !a.Asked(a.Head.CallID).Open {
		return q, false
	}
	return a.Call.Asks(), true
}

// GateAt returns the gate of the row with this key, or nil.
func (a *Aggregate) GateAt(key string) *aggregate.Gate {
	if key != Key {
		return nil
	}
	return a.Asked(a.Head.CallID).Gate
}

// SomeGate reports whether that is so of the call's gate.
func (a *Aggregate) SomeGate(is func(g *aggregate.Gate) bool) bool {
	return a.Call != nil && is(&a.Call.Gate)
}

// Act does on the call what its hand does along its route, as it is done on an agent's action; see
// conversation.Aggregate. Sending it back ends it: the agent asks for another call, or for none.
func (a *Aggregate) Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	x := a.Call
	if x == nil || id != a.Head.CallID {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	c := a.begin(now)
	g, again, err := x.Action().ActedOn(act, by, p, c.Now)
	if again || err != nil {
		return aggregate.Change{}, err
	}
	c.Owned = append(c.Owned, on...)
	c.row.Gate = g
	switch {
	case g.ApprovedAt != nil:
		c.settle(aggregate.Approved)
		if c.to(conversation.ActionApproved); !x.Elsewhere {
			c.Head.Run++ // a new run is started at once
		}
	case g.RejectedAt != nil && act.Kind.Does().Final:
		c.cancel(aggregate.Rejected, g.RejectedBy, ReasonDenied)
	case g.RejectedAt != nil:
		c.cancel(aggregate.Rejected, g.RejectedBy, conversation.ReasonRejected)
	}
	c.audit(by, g.Entry("action"), g.ActDetails(map[string]any{}))
	return c.done()
}

// End cancels a call that waits, or is stamped and not begun. Whoever answers for its key may. It returns ErrInFlight
// while the call is made, and ErrDecided once it is over.
func (a *Aggregate) End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Call == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if err := p.WithdrawFrom(&a.Call.Gate, by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	return a.cancel(by, conversation.ReasonWithdrawn, now)
}

// Cancel is End by the agent's own key. A key that didn't ask for the call finds none.
func (a *Aggregate) Cancel(key string, now time.Time) (aggregate.Change, error) {
	if a.Call == nil || a.Call.KeyID != key {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	return a.cancel(aggregate.Actor{Type: aggregate.ActorAgent, ID: key}, conversation.ReasonWithdrawn, now)
}

func (a *Aggregate) cancel(by aggregate.Actor, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	x, hand := a.Call, ""
	if by.Type == aggregate.ActorUser {
		hand = by.ID
	}
	switch {
	case x.CancelReason == conversation.ReasonWithdrawn && x.CancelledBy == hand:
		return aggregate.Change{}, nil
	case x.Status == conversation.ActionExecuting:
		return aggregate.Change{}, aggregate.ErrInFlight
	case x.Over():
		return aggregate.Change{}, x.Action().Decided()
	}
	c, details := a.begin(now), map[string]any{"was": x.Status}
	c.cancel(aggregate.Cancelled, hand, why)
	if why != conversation.ReasonWithdrawn {
		details["reason"] = why
	}
	c.audit(by, conversation.AuditCancelled, details)
	return c.done()
}

// Expire cancels a call whose time limit has passed: people didn't decide, or nobody used their stamps. Only the
// sweeper calls it, so that a late click still counts until then.
func (a *Aggregate) Expire(now time.Time) (aggregate.Change, error) {
	x, why, details := a.Call, conversation.ReasonExpired, map[string]any{}
	switch {
	case x != nil && x.Action().Waits() && x.Gate.Terms.DecideBy != nil && !now.Before(*x.Gate.Terms.DecideBy):
		details["asked_at"] = aggregate.TimeText(*x.Gate.AskedAt)
	case x != nil && x.aged(now):
		why = ReasonAged
		details["reason"], details["was"] = why, x.Status
	default:
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.cancel(aggregate.Expired, "", why)
	c.audit(aggregate.System(), conversation.AuditExpired, details)
	return c.done()
}

// goodUntil returns until when a stamped call may begin.
func (x *Call) goodUntil() *time.Time {
	if x.Status != conversation.ActionApproved {
		return nil
	}
	until := x.Gate.ApprovedAt.AddDate(0, 0, aggregate.ApprovalDays)
	return cmp.Or(x.Gate.GoodUntil(), &until)
}

// aged reports whether the call was stamped too long ago, and hasn't begun.
func (x *Call) aged(now time.Time) bool {
	until := x.goodUntil()
	return until != nil && now.After(*until)
}

// mostLookingUp is how long it is tried to look up whom a rule asks about a call.
const mostLookingUp = time.Hour

// Unopened reports whether people must be looked up before the gate opens.
func (x *Call) Unopened() bool {
	return x.Status == conversation.ActionPending && x.Gate.Status == aggregate.Generating
}

// LooksUp reports whether a run looks up whom the call asks now.
func (a *Aggregate) LooksUp(now time.Time) bool {
	x := a.Call
	return x != nil && x.Unopened() && (x.LookUpAt == nil || !now.Before(*x.LookUpAt))
}

// Routed is what a run found out about whom a call asks: why nobody is, a time at which to look people up again, or
// else the opening, which is nil if the settings say who is asked.
type Routed struct {
	Refused *aggregate.Refusal
	Again   time.Time
	Opening *aggregate.Opening
	Terms   aggregate.Terms // of the settings under which all of that is so
}

// Route opens the call, ends it, or puts off looking people up; that is done for an hour at most. It relies on the
// tenant's rows in on. It returns ErrMoved if the call doesn't wait for its route.
func (a *Aggregate) Route(run int, r Routed, now time.Time, on ...aggregate.Owned) (aggregate.Change, error) {
	switch x := a.Call; {
	case a.Head.Run != run:
		return aggregate.Change{}, aggregate.ErrSuperseded
	case x == nil || !x.Unopened():
		return aggregate.Change{}, aggregate.ErrMoved
	case !r.Again.IsZero() && !now.Before(x.CreatedAt.Add(mostLookingUp)):
		r.Refused = &aggregate.Refusal{Why: ReasonSilent}
	}
	c, at := a.begin(now), r.Again.UTC().Truncate(time.Millisecond)
	c.Head.Restarts = 0
	c.Head.Run++ // this run ends now
	switch {
	case r.Refused != nil:
		c.refuse(*r.Refused)
	case !r.Again.IsZero():
		c.row.LookUpAt = &at
	default:
		c.open(r.Opening, r.Terms)
	}
	c.Owned = append(c.Owned, tenancy.SettingsAt(r.Terms.SettingsRev))
	c.Owned = append(c.Owned, on...)
	return c.done()
}

// refuse ends a call about which nobody is asked.
func (c *change) refuse(no aggregate.Refusal) {
	if no.Rule.ID != "" {
		c.row.Gate.Terms.Rule = &no.Rule
	}
	c.end(Refused, aggregate.Cancelled, "", no.Why)
	c.row.ErrorDetail = no.Detail
	c.audit(aggregate.System(), AuditRefused, no.Details())
}

// Unnumbered returns when the stamped call was settled, if it gets a number when it is claimed or taken: where its rule
// says so.
func (a *Aggregate) Unnumbered() (settled time.Time, is bool) {
	x := a.Call
	if x == nil || x.Status != conversation.ActionApproved || x.Claim != nil || x.DecisionNumber != "" ||
		x.Gate.ApprovedAt == nil || x.Gate.ApprovedBy == "" || x.Gate.Terms.Rule == nil || !x.Gate.Terms.Rule.Numbered {
		return settled, false
	}
	return *x.Gate.ApprovedAt, true
}

// ErrTaken says that another attempt took the grant.
var ErrTaken = errors.New("another attempt took it: it runs once")

// Reasons why a call isn't made, beside those of an agent's action and, where the rules let nobody be asked, those of a
// request's steps.
const (
	ReasonDenied aggregate.Reason = "denied"        // for good, on a route
	ReasonAged   aggregate.Reason = "approval_aged" // it was stamped, and not begun in time
	// ReasonSilent: Slack didn't say whom the rule asks.
	ReasonSilent aggregate.Reason = "route_silent"
	// ReasonUnrouted: several tries to look people up failed.
	ReasonUnrouted aggregate.Reason = "route_failed"
)
