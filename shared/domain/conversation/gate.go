package conversation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Act does on the action with this id what its hand does, if the settings allow it; at, form and surface it adds
// itself. A stamp approves the action. Sending it back rejects it, and the agent has a turn for the reason.
//
// Act returns ErrDecided, ErrNotAllowed, ErrNotFound or a *circulation.Refusal, and ErrConflict if the payload is not
// the one that is asked about. If the same hand does the very same again, nothing changes.
func (a *Aggregate) Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	g, again, err := x.ActedOn(act, by, p, c.Now)
	switch {
	case again || err != nil:
		return aggregate.Change{}, err
	case !act.Ends() && x.deletedBy(a.Inbox) != nil:
		return aggregate.Change{}, fmt.Errorf("a message that action %s came of was deleted: %w", id, aggregate.ErrConflict)
	}
	c.Owned = append(c.Owned, on...)
	if g.ApprovedAt != nil {
		c.approve(x, g)
	} else {
		c.reject(x, g)
	}
	c.auditAction(by, g.Entry("action"), x, g.ActDetails(map[string]any{}))
	return c.done()
}

// ActedOn returns the gate of an action, or of a call, with one more act. It reports whether the same hand did the very
// same again, so that nothing changes, and returns what Act does.
func (x *Action) ActedOn(act circulation.Act, by aggregate.Actor, p aggregate.Policy, at time.Time) (g aggregate.Gate,
	again bool, err error) {
	act, denied := p.Act(&x.Gate, act, by, at)
	g, refused := x.Gate.Acted(act)
	s := x.Gate.Status
	switch waits := x.Waits(); {
	case aggregate.Again(refused) && (waits || s == aggregate.Approved && x.Status != ActionCancelled ||
		s == aggregate.Rejected):
		return g, true, nil
	case !waits:
		return g, false, x.Decided()
	case !act.Ends() && x.Sum() != g.AskedSum:
		refused = cmp.Or(refused, fmt.Errorf("%s has another content than is asked: %w", x.ActionID, aggregate.ErrConflict))
	}
	return g, false, cmp.Or(denied, refused)
}

// open has people asked about a new action as the settings say, or nobody.
func (c *change) open(x *Action, asks bool) {
	askers := c.of.AskersOf(x)
	g, err := x.Gate.Under(aggregate.BySettings(asks, askers...), askers, func(g *aggregate.Gate) string {
		x.Gate = *g
		return x.Sum()
	})
	if err != nil {
		c.Fail(err)
	}
	x.Gate = g
}

// Asks returns the action that waits for people's approval, if there is one.
func (a *Aggregate) Asks() (q aggregate.Question, waits bool) {
	x := a.Pending()
	if x == nil || !x.Gate.Terms.ApprovalRequired {
		return q, false
	}
	return x.Asks(), true
}

// Asked returns the gate of the action with this id, with the hash of its payload.
func (a *Aggregate) Asked(id string) (x aggregate.Asked) {
	if row := a.Action(id); row != nil {
		x = aggregate.Asked{Kind: CardAction, Hash: row.Payload.Hash(), Gate: &row.Gate, Open: row == a.Pending()}
	}
	return x
}

// GateAt returns the gate of the action with this key, or nil.
func (a *Aggregate) GateAt(key string) *aggregate.Gate {
	if x := aggregate.Find(a.Actions, key); x != nil {
		return &x.Gate
	}
	return nil
}

// Whole returns the action's gate.
func (x *Action) Whole() *aggregate.Gate { return &x.Gate }

// Readable returns aggregate.ErrNotFound for a forgotten conversation, and aggregate.ErrConflict for a torn read.
func (a *Aggregate) Readable(now time.Time) error {
	switch {
	case a.Head.Forgotten(now):
		return aggregate.ErrNotFound
	case a.Conversation == nil:
		return aggregate.ErrConflict
	}
	return nil
}

// SomeGate reports whether that is so of one of the actions that the conversation still has.
func (a *Aggregate) SomeGate(is func(g *aggregate.Gate) bool) bool {
	return slices.ContainsFunc(a.Actions, func(x *Action) bool { return is(&x.Gate) })
}

// Origin returns where and by whom the conversation was opened.
func (a *Aggregate) Origin() aggregate.Origin { return a.Conversation.Origin() }

// Beginning returns the timestamps of the first message of the conversation's thread and of the thread.
func (a *Aggregate) Beginning() (message, thread string) {
	return a.Conversation.ThreadTS, a.Conversation.ThreadTS
}

// Askers returns the people whose own request is waiting: those of the current action, or else LastAskers.
func (a *Aggregate) Askers() []string {
	if x := a.Current(); x != nil {
		return a.AskersOf(x)
	}
	return a.LastAskers()
}

// LastAskers returns the people whose messages the agent answered since its last proposal, the last first, or who
// opened the conversation.
func (a *Aggregate) LastAskers() []string {
	if a.Conversation == nil || len(a.Conversation.Askers) == 0 {
		return []string{a.Head.Requester}
	}
	return a.Conversation.Askers
}

// Acts in a conversation besides approving and rejecting.
const (
	ActCancel aggregate.Act = "cancel_action"
	ActClose  aggregate.Act = "close_session"
	ActReopen aggregate.Act = "reopen_session"
	// ActCheck has it looked what became of a pull request.
	ActCheck aggregate.Act = "check_action"
)

// Offers returns what people may do in the conversation in its current state. Whether a particular person may do it is
// decided at the click.
func (a *Aggregate) Offers() []aggregate.Offer {
	if a.Conversation.Status == Closed {
		return []aggregate.Offer{{Act: ActReopen}}
	}
	var all []aggregate.Offer
	if o := a.OpenOffer(); o != nil {
		all = append(all, aggregate.Offer{Act: ActMakeRequest, ID: o.ID, Hash: aggregate.HashOf(o.Text)})
	}
	for _, x := range a.Actions {
		if a.Unsure(x.ActionID) != nil && x.Pushed.Look == nil {
			all = append(all, aggregate.Offer{Act: ActCheck, ID: x.ActionID, Kind: CardAction, Hash: x.Payload.Hash()})
		}
	}
	x := a.Current()
	if x == nil {
		return append(all, aggregate.Offer{Act: ActClose})
	}
	of := func(act aggregate.Act) aggregate.Offer {
		return aggregate.Offer{Act: act, ID: x.ActionID, Kind: CardAction, Hash: a.Asked(x.ActionID).Hash}
	}
	if x.Status != ActionPending {
		return append(all, of(ActCancel)) // the conversation can be closed only after the action is cancelled
	}
	return append(all, of(aggregate.ActApprove), of(aggregate.ActReject), of(ActCancel), aggregate.Offer{Act: ActClose})
}

// Origin returns where and by whom the conversation was opened. As for a request, this determines who may see it and
// who may decide.
func (s *Conversation) Origin() aggregate.Origin {
	if s == nil {
		return aggregate.Origin{}
	}
	return aggregate.Origin{Team: s.TeamID, User: s.Opener, Channel: s.Channel, ChannelType: s.ChannelType}
}
