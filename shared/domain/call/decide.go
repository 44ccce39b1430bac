package call

import (
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
)

// mostLookingUp is how long it is tried to look up whom a rule asks.
const mostLookingUp = time.Hour

// ErrAged says that people are looked up for too long, or that a call was stamped too long ago to begin.
var ErrAged = conversation.ErrAged

// Readable returns aggregate.ErrConflict if a torn read left out the call.
func (a *Aggregate) Readable(time.Time) error {
	if a.Call == nil {
		return aggregate.ErrConflict
	}
	return nil
}

func (a *Aggregate) Origin() aggregate.Origin { return a.Call.Origin() }

// Beginning is the call's card, which begins its thread.
func (a *Aggregate) Beginning() (message, thread string) {
	for _, c := range a.Cards {
		if c.MessageTS != "" {
			return c.MessageTS, c.MessageTS
		}
	}
	return "", ""
}

func (a *Aggregate) Askers() []string { return []string{a.Head.Requester} }

// asked returns the call if it has this id, else nil.
func (a *Aggregate) asked(id string) *Call {
	if a.Call == nil || id != a.Head.CallID {
		return nil
	}
	return a.Call
}

// Asks returns the call's question while it waits for people.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	if !a.IsOpen(a.Head.CallID) {
		return q, false
	}
	return a.Call.Asks(), true
}

func (a *Aggregate) AskedBy(id string) aggregate.CardType {
	if a.asked(id) == nil {
		return ""
	}
	return Card
}

// AskedHash returns the hash of what a person reads before deciding.
func (a *Aggregate) AskedHash(id string) string {
	x := a.asked(id)
	switch {
	case x == nil:
		return ""
	case x.Gate.AskedSum != "":
		return x.Gate.AskedSum
	}
	return x.Payload.Hash()
}

func (a *Aggregate) AskedAt(id string) time.Time {
	if a.IsOpen(id) {
		return *a.Call.Gate.AskedAt
	}
	return time.Time{}
}

func (a *Aggregate) IsOpen(id string) bool {
	x := a.asked(id)
	return x != nil && x.asks()
}

func (x *Call) asks() bool {
	return x.Status == conversation.ActionPending && x.Gate.Status == aggregate.PendingApproval
}

func (a *Aggregate) VerdictOn(id string) aggregate.Verdict {
	if x := a.asked(id); x != nil {
		return x.Gate.Verdict
	}
	return aggregate.Verdict{}
}

// GateWith returns the call's gate, or nil.
func (a *Aggregate) GateWith(id string) *aggregate.Gate {
	if x := a.asked(id); x != nil {
		return &x.Gate
	}
	return nil
}

// GateAt returns the gate of the row with this key, or nil.
func (a *Aggregate) GateAt(key string) *aggregate.Gate {
	if a.Call == nil || key != Key {
		return nil
	}
	return &a.Call.Gate
}

// OnRoute reports whether somebody is on the call's route, see Gate.OnRoute: then they may read it.
func (a *Aggregate) OnRoute(user string, by *circulation.Delegation) bool {
	return a.Call != nil && a.Call.Gate.OnRoute(user, by)
}

// Act does on the call what its hand does along its route, as it is done on an agent's action; see
// conversation.Aggregate. Whoever answers for the key now counts as an asker, as who did when it was asked for. Sending
// it back ends it: the agent asks for another call, or for none.
func (a *Aggregate) Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	x := a.asked(id)
	if x == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	c := a.begin(now)
	act, denied := p.Act(&x.Gate, act, by, c.Now)
	g, refused := x.Gate.Acted(act)
	switch s := x.Gate.Status; {
	case aggregate.Again(refused) && (x.asks() || s == aggregate.Approved || s == aggregate.Rejected):
		return aggregate.Change{}, nil
	case !x.asks():
		return aggregate.Change{}, x.decided()
	case p.Answers != "" && act.Gives() && (act.Hand.User == p.Answers || act.Principal.User == p.Answers) &&
		(x.Gate.Ruled() || !p.AllowSelf):
		return aggregate.Change{}, aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf}
	case a.Head.AsOpened(Key, &x.Gate) != nil:
		return aggregate.Change{}, a.Head.AsOpened(Key, &x.Gate)
	case denied != nil:
		return aggregate.Change{}, denied
	case refused != nil:
		return aggregate.Change{}, refused
	case act.Kind == circulation.GiveBack: // a call has no next version that somebody could correct
		return aggregate.Change{}, &circulation.Refusal{Why: circulation.WhyNoVersion, Stage: act.Stage}
	case act.Gives() && x.sum() != g.AskedSum:
		return aggregate.Change{}, fmt.Errorf("call %s has another content than is asked: %w", id,
			aggregate.ErrConflict)
	}
	c.Owned = append(c.Owned, on...)
	c.row.Gate = g
	switch {
	case g.ApprovedAt != nil:
		if err := c.Head.Settle(Key, &g); err != nil {
			c.Fail(err)
		}
		c.settle(aggregate.Approved)
		if c.to(conversation.ActionApproved); !x.Elsewhere {
			c.Head.Run++ // a new run is started at once
		}
	case g.RejectedAt != nil:
		c.settle(aggregate.Rejected)
		c.to(conversation.ActionCancelled)
		c.row.CancelledBy, c.row.CancelReason = g.RejectedBy, conversation.ReasonRejected
		if act.Kind == circulation.Deny {
			c.row.CancelReason = conversation.ReasonDenied
		}
	}
	c.audit(by, conversation.OnRoute.Entry(&g), g.ActDetails(map[string]any{}))
	return c.done()
}

// decided returns ErrDecided with the call's status, and who decided when. It returns ErrConflict while people are
// looked up.
func (x *Call) decided() error {
	if x.unrouted() {
		return fmt.Errorf("nobody is asked yet: %w", aggregate.ErrConflict)
	}
	if err := x.Gate.Decided(); err != nil && x.CancelReason != conversation.ReasonWithdrawn {
		return err
	}
	at := x.CreatedAt
	if x.CompletedAt != nil {
		at = *x.CompletedAt
	}
	return aggregate.ErrDecided{Status: string(x.Status), By: x.CancelledBy, At: at, Reason: x.CancelReason}
}

// MayWithdraw returns ErrNotAllowed with the rule by which somebody may not cancel the call.
func (a *Aggregate) MayWithdraw(_ string, by aggregate.Actor, p aggregate.Policy) error {
	return p.WithdrawFrom(a.GateAt(Key), by, a.Head.Requester)
}

// End cancels a call that waits, or is stamped and not begun, for a person whom MayWithdraw allows it. It returns
// ErrInFlight while the call is made, and ErrDecided once it is over.
func (a *Aggregate) End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Call == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if err := a.MayWithdraw(a.Head.CallID, by, p); err != nil {
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
		return aggregate.Change{}, x.decided()
	}
	c, was := a.begin(now), x.Status
	c.settle(aggregate.Cancelled)
	c.to(conversation.ActionCancelled)
	c.row.CancelledBy, c.row.CancelReason, c.row.LookUpAt = hand, why, nil
	details := map[string]any{"was": was}
	if why != conversation.ReasonWithdrawn {
		details["reason"] = why
	}
	c.audit(by, conversation.AuditCancelled, details)
	return c.done()
}

// Expire cancels a call whose time limit has passed: people didn't decide, or nobody used their stamps. Only the
// sweeper calls it, so that a late click still counts until then.
func (a *Aggregate) Expire(now time.Time) (aggregate.Change, error) {
	x := a.Call
	details := map[string]any{}
	switch {
	case x == nil:
		return aggregate.Change{}, aggregate.ErrNotDue
	case x.asks() && x.Gate.Terms.DecideBy != nil && !now.Before(*x.Gate.Terms.DecideBy):
		details["asked_at"] = aggregate.TimeText(*x.Gate.AskedAt)
	case x.aged(now):
		details["reason"], details["was"] = conversation.ReasonAged, x.Status
	default:
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.row.CancelReason = conversation.ReasonExpired
	if x.aged(now) {
		c.row.CancelReason = conversation.ReasonAged
	}
	c.settle(aggregate.Expired)
	c.to(conversation.ActionCancelled)
	c.audit(aggregate.System(), conversation.AuditExpired, details)
	return c.done()
}

// goodUntil returns until when a stamped call may begin.
func (x *Call) goodUntil() *time.Time {
	if x.Status != conversation.ActionApproved {
		return nil
	}
	if until := x.Gate.GoodUntil(); until != nil {
		return until
	}
	until := x.Gate.ApprovedAt.AddDate(0, 0, aggregate.DefaultApprovalDays)
	return &until
}

// aged reports whether the call was stamped too long ago, and hasn't begun.
func (x *Call) aged(now time.Time) bool {
	until := x.goodUntil()
	return until != nil && now.After(*until)
}

// unrouted reports whether the call's people must be looked up before it waits.
func (x *Call) unrouted() bool {
	return x.Status == conversation.ActionPending && x.Gate.Status == aggregate.Generating
}

// LooksUp returns the call if a run looks people up for it now, or nil.
func (a *Aggregate) LooksUp(now time.Time) *Call {
	if x := a.Call; x != nil && x.unrouted() && (x.LookUpAt == nil || !now.Before(*x.LookUpAt)) {
		return x
	}
	return nil
}

// opens begins a Change with which a run opens or ends the call.
func (a *Aggregate) opens(run int, now time.Time) (*change, error) {
	if a.Head.Run != run {
		return nil, aggregate.ErrSuperseded
	}
	if a.Call == nil || !a.Call.unrouted() {
		return nil, aggregate.ErrMoved
	}
	c := a.begin(now)
	c.Head.Restarts = 0
	c.Head.Run++ // this run ends now
	return c, nil
}

// OpenOnRoute has people asked along a route, or without a rule if o is nil. It relies on the revision of the settings
// in terms, and on the tenant's rows in on. It returns ErrMoved if the call doesn't wait for its route.
func (a *Aggregate) OpenOnRoute(run int, o *aggregate.Opening, terms aggregate.Terms, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	c, err := a.opens(run, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	c.open(o, terms)
	c.under(terms.SettingsRev)
	c.Owned = append(c.Owned, on...)
	return c.done()
}

// WaitForRoute puts off looking people up. Too long after the call was asked for it returns ErrAged: then it is
// refused.
func (a *Aggregate) WaitForRoute(run int, until, now time.Time) (aggregate.Change, error) {
	c, err := a.opens(run, now)
	switch {
	case err != nil:
		return aggregate.Change{}, err
	case !now.Before(a.Call.CreatedAt.Add(mostLookingUp)):
		return aggregate.Change{}, ErrAged
	}
	until = until.UTC().Truncate(time.Millisecond)
	c.row.LookUpAt = &until
	return c.done()
}

// RefuseByRule ends the call because nobody is asked about it.
func (a *Aggregate) RefuseByRule(run int, no conversation.ErrByRules, rev int, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	c, err := a.opens(run, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	c.refuse(no)
	c.under(rev)
	c.Owned = append(c.Owned, on...)
	return c.done()
}

func (c *change) refuse(no conversation.ErrByRules) {
	c.settle(aggregate.Cancelled)
	c.to(conversation.ActionCancelled)
	c.row.CancelReason, c.row.ErrorDetail, c.row.LookUpAt = no.Why, no.Detail, nil
	about := map[string]any{"reason": no.Why}
	if no.Rule.ID != "" {
		c.row.Gate.Terms.Rule, about["rule"] = &no.Rule, no.Rule
	}
	c.audit(aggregate.System(), conversation.AuditCancelled, about)
}

// Numbering returns the call for a claim, or an attempt, that gives it the next numbers of a series, if it needs some.
func (a *Aggregate) Numbering(of task.Series) *Aggregate {
	next := *a
	next.last = of
	return &next
}

// Unnumbered reports whether the stamped call gets numbers when it is claimed or taken, and which.
func (a *Aggregate) Unnumbered() (task.Lack, bool) {
	if x := a.Call; x != nil && x.Status == conversation.ActionApproved {
		return task.LackOf(&x.Gate, x.DecisionNumber, x.Document)
	}
	return task.Lack{}, false
}

// ErrTaken says that another attempt took the grant.
var ErrTaken = errors.New("another attempt took it: it runs once")
