package conversation

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// approve moves an action to approved, with its gate as people left it.
func (c *change) approve(x *Action, g aggregate.Gate) {
	c.progress()
	c.active()
	c.Conversation.PendingActionID = ""
	c.move(x, ActionApproved, func(n *Action) {
		n.Payload = c.lasting(n.Payload)
		n.Gate = g
		n.settle(aggregate.Approved)
		n.ApprovedBy = ApprovedByUser
	})
}

// AskersOf returns the people whose own request the action is.
func (a *Aggregate) AskersOf(x *Action) []string {
	if len(x.Askers) == 0 {
		return []string{a.Head.Requester}
	}
	return x.Askers
}

// reject ends an action that people rejected, with its gate as they left it.
func (c *change) reject(x *Action, g aggregate.Gate) {
	c.progress()
	c.active()
	c.over(x, ActionCancelled, func(n *Action) {
		n.Gate = g
		n.settle(aggregate.Rejected)
		n.CancelledBy, n.CancelReason, n.ErrorDetail = g.RejectedBy, ReasonRejected, g.RejectionReason
	})
}

// Cancel withdraws an action that waits, is approved or executes. Allowed are those who asked for it, the
// conversation's opener and every approver. An executing action is stopped by the invocation that runs it, and its
// outcome is recorded in Late.
func (a *Aggregate) Cancel(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if x.Status == ActionCancelled && x.CancelReason == ReasonWithdrawn && x.CancelledBy == by.ID {
		return aggregate.Change{}, nil
	}
	if x.Status.Over() {
		return aggregate.Change{}, x.Decided()
	}
	if err := a.mayWithdraw(x, by, p); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	c.active()
	c.over(x, ActionCancelled, func(n *Action) {
		n.settle(aggregate.Cancelled)
		n.CancelledBy, n.CancelReason = by.ID, ReasonWithdrawn
		if n.Claim == nil { // else its invocation says so, or the sweeper orders it
			n.lookWhatIsThere(by.ID, c.Now)
		}
	})
	c.auditAction(by, AuditCancelled, x, map[string]any{"was": x.Status})
	return c.done()
}

func (a *Aggregate) mayWithdraw(x *Action, by aggregate.Actor, p aggregate.Policy) error {
	if x != nil && slices.Contains(x.Askers, by.ID) {
		return p.Withdraw(by, by.ID)
	}
	return p.Withdraw(by, a.Head.Requester)
}

// Expire cancels an action whose time limit has passed. Only the sweeper calls it, so a late click still counts until
// then.
func (a *Aggregate) Expire(now time.Time) (aggregate.Change, error) {
	x := a.Current()
	if x == nil || x.Status != ActionPending || x.Gate.Terms.DecideBy == nil || now.Before(*x.Gate.Terms.DecideBy) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.progress()
	c.over(x, ActionCancelled, func(n *Action) {
		n.settle(aggregate.Expired)
		n.CancelReason = ReasonExpired
	})
	c.auditAction(aggregate.System(), AuditExpired, x, map[string]any{"asked_at": aggregate.TimeText(x.CreatedAt)})
	return c.done()
}

// End closes the conversation and cancels an action that waits. Allowed are the opener and every approver, who may
// cancel any action. It returns ErrInFlight while an action is approved or executes: it must be cancelled first.
func (a *Aggregate) End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Conversation != nil && a.Conversation.Status == Closed {
		return aggregate.Change{}, nil
	}
	if err := a.mayWithdraw(nil, by, p); err != nil {
		return aggregate.Change{}, err
	}
	return a.close(by, ReasonClosed, now)
}

// CloseIdle closes a conversation that has been idle for tenancy.IdleDays.
func (a *Aggregate) CloseIdle(now time.Time) (aggregate.Change, error) {
	if at := a.idleAt(); at == nil || now.Before(*at) || a.work(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.close(aggregate.System(), ReasonIdle, now)
}

// idleAt returns when the conversation closes by itself, or nil.
func (a *Aggregate) idleAt() *time.Time {
	if a.Conversation == nil || a.Conversation.Status == Closed || a.Current() != nil {
		return nil
	}
	at := a.Conversation.LastActivityAt.Add(tenancy.IdleDays * 24 * time.Hour)
	return &at
}

func (a *Aggregate) close(by aggregate.Actor, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	x := a.Current()
	if x != nil && x.Status != ActionPending {
		c.Fail(aggregate.ErrInFlight)
	}
	c.progress()
	if x != nil {
		c.Conversation.PendingActionID = ""
		c.move(x, ActionCancelled, func(n *Action) {
			n.settle(aggregate.Cancelled)
			n.CompletedAt, n.CancelledBy, n.CancelReason = &c.Now, by.ID, why
		})
		c.auditAction(by, AuditCancelled, x, map[string]any{"reason": why})
	}
	for _, i := range a.Inbox[:min(len(a.Inbox), mostTogether)] {
		c.Remove(i)
	}
	c.to(Closed)
	c.Conversation.ClosedBy, c.Conversation.ClosedAt, c.Conversation.CloseReason = by.ID, &c.Now, why
	c.Conversation.Error, c.Conversation.ErrorDetail = "", ""
	c.Head.Resting, c.Head.Acting = true, ""
	if !c.Conversation.IsCached {
		at := c.Now.Add(forgetAfter)
		c.Head.ForgottenAt = &at
	}
	c.card(CardSession, SessionSubject+"#"+aggregate.TimeText(c.Now))
	c.Record(&c.Head, by, AuditClosed, "session", c.Conversation.ID, map[string]any{"reason": why})
	return c.done()
}

// Reopen reopens a closed conversation in its thread. The agent no longer knows the earlier messages, but the workspace
// is unchanged. Messages written since the end are answered. Everybody who may make requests may reopen it. It returns
// ErrNotFound for a conversation that is forgotten.
func (a *Aggregate) Reopen(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.Head.Forgotten(now) {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if a.Conversation != nil && a.Conversation.Status != Closed {
		return aggregate.Change{}, nil
	}
	if err := p.Request(by); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.to(Open)
	from := c.Now
	for _, i := range a.Inbox { // these messages came after the end
		if i.CreatedAt.Before(from) {
			from = i.CreatedAt
		}
	}
	c.Conversation.HistoryFrom, c.Conversation.CollapsedThrough, c.Conversation.SummaryKey = &from, "", ""
	c.Conversation.ClosedBy, c.Conversation.ClosedAt, c.Conversation.CloseReason = "", nil, ""
	c.Head.ForgottenAt, c.Head.Resting = nil, true
	c.progress()
	c.active()
	c.Record(&c.Head, by, AuditReopened, "session", c.Conversation.ID, nil)
	return c.done()
}

// decidable returns the action with this id, or ErrNotFound.
func (a *Aggregate) decidable(id string) (*Action, error) {
	x := a.Action(id)
	if x == nil {
		return nil, aggregate.ErrNotFound
	}
	return x, nil
}

// Waits reports whether people are asked about the action.
func (x *Action) Waits() bool {
	return x.Status == ActionPending && x.Gate.Status == aggregate.PendingApproval
}

// Decided returns ErrDecided with the action's status, and who decided when.
func (x *Action) Decided() error {
	if err := x.Gate.Decided(); err != nil && x.CancelReason != ReasonWithdrawn {
		return err
	}
	at := x.CreatedAt
	if x.CompletedAt != nil {
		at = *x.CompletedAt
	}
	return aggregate.ErrDecided{Status: string(x.Status), By: x.CancelledBy, At: at, Reason: x.CancelReason}
}

// over ends an action and tells the agent the result.
func (c *change) over(x *Action, as ActionStatus, fill func(n *Action)) {
	ended := c.move(x, as, func(n *Action) {
		n.CompletedAt = &c.Now
		fill(n)
	})
	if c.Conversation.PendingActionID == x.ActionID {
		c.Conversation.PendingActionID = ""
	}
	if c.Head.Acting == x.ActionID {
		c.Head.Acting = ""
		c.to(Open)
	}
	m := c.say(ended.told(c.Conversation.Locale))
	if why := ended.CancelReason; why != ReasonExpired && why != ReasonDeleted { // else nobody is waiting for an answer
		c.tell(m)
	}
	c.archive()
}

// TurnAway adds a card to a closed conversation to which people wrote. It has a button to reopen the conversation,
// because the card about its end may be far above. The messages are answered after that. It returns ErrNotDue if there
// are no such messages.
func (a *Aggregate) TurnAway(now time.Time) (aggregate.Change, error) {
	newest := a.waitsInVain()
	if newest == nil {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	left := mostCards           // somebody who closes and reopens repeatedly can leave many
	for _, x := range a.Cards { // older cards are removed, because people see only the newest
		if x.CardType == CardSession && x.State == aggregate.CardPosted && left > 0 {
			c.Remove(x)
			left--
		}
	}
	c.card(CardSession, SessionSubject+"#"+newest.Message)
	return c.done()
}
