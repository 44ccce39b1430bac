package conversation

import (
	"fmt"
	"maps"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Decision is the Decision of a session.
type Decision = aggregate.Decision[*Aggregate]

// change is a Change under construction.
type change struct {
	aggregate.Draft
	Head    Head    // as it shall be
	Session Session // as it shall be; written by done
	of      *Aggregate
	said    int      // messages that this Change has made
	drawn   int      // cards that this Change has made
	shows   string   // Slack's message that the next card takes over
	late    []string // keys of messages that this Change answers and that stand before From
}

// begin opens a change at now, but never before the conversation's last one. Rows of two commits are an
// aggregate.ErrConflict.
func (a *Aggregate) begin(now time.Time) *change {
	c := &change{Head: a.Head, of: a}
	c.Now = a.Head.Moment(now)
	c.Head.ChangedAt = c.Now
	if a.Session == nil {
		c.Fail(fmt.Errorf("the session's row is not there: %w", aggregate.ErrConflict))
		return c
	}
	c.Session = *a.Session
	if n := a.Session.Actions; n > 0 && aggregate.Find(a.Actions, ActionKey(n)) == nil { // the last one never leaves
		c.Fail(fmt.Errorf("action %d is not there: %w", n, aggregate.ErrConflict))
	}
	return c
}

// done is the Change as it is committed, or the first error of its making.
func (c *change) done() (aggregate.Change, error) {
	head, session := c.Head, c.Session
	return c.Done(&head, &session)
}

// active records that somebody, or the agent, did something.
func (c *change) active() { c.Session.LastActivityAt = c.Now }

// progress records that the conversation has moved on.
func (c *change) progress() { c.Head.Restarts = 0 }

// under makes c rely on the settings as they were read.
func (c *change) under(rev int) {
	c.Owned = append(c.Owned, aggregate.Owned{Key: tenancy.SettingsKey, Rev: rev, Err: aggregate.ErrSettings})
}

// to moves the conversation's status; the same status is no move.
func (c *change) to(s Status) {
	if is := c.Session.Status; is != s && !SessionMoves.Allows(is, s) {
		c.Fail(fmt.Errorf("session %s cannot become %s: %w", is, s, aggregate.ErrConflict))
	}
	c.Session.Status = s
}

// move writes an action's next status, and what fill adds to its row, which it returns.
func (c *change) move(x *Action, to ActionStatus, fill func(n *Action)) *Action {
	if !ActionMoves.Allows(x.Status, to) {
		c.Fail(fmt.Errorf("action %s: %s cannot become %s: %w", x.ActionID, x.Status, to, aggregate.ErrConflict))
	}
	n := *x
	n.Status = to
	fill(&n)
	c.Put(&n)
	return &n
}

// settle moves the gate of an action that waits, with the action's own move.
func (n *Action) settle(to aggregate.GateStatus) {
	if aggregate.GateMoves.Allows(n.Gate.Status, to) {
		n.Gate.Status = to
	}
}

// keep returns when a conversation's messages expire, in Unix seconds; 0 if the conversation is kept.
func (s *Session) keep(now time.Time) int64 {
	if s.IsCached {
		return 0
	}
	days := max(s.IdleDays, leastKeptDays) // also of a conversation that goes on for weeks
	return now.Add(time.Duration(days)*24*time.Hour + forgetAfter).Unix()
}

const (
	// forgetAfter is how long a conversation that is not kept may be looked at after it was closed.
	forgetAfter = 24 * time.Hour
	// leastKeptDays is how long what was said stays in the table at the least, though nobody finds it once the
	// conversation is forgotten.
	leastKeptDays = 90
)

// say puts a message of the agent or the system into the list, by the change's time.
func (c *change) say(m Message) *Message {
	m.SessionID, m.CreatedAt = c.Session.ID, c.Now.Add(time.Duration(c.said)*time.Millisecond)
	m.MessageID = uuid("said", c.Session.ID, fmt.Sprint(c.Session.Messages))
	m.DeleteAfter = c.Session.keep(c.Now)
	c.said++
	c.Session.Messages++
	if c.said > 1 { // the head's time runs ahead, so that the next Change's messages follow
		c.Head.ChangedAt = m.CreatedAt
	}
	c.Beside = append(c.Beside, aggregate.Listed{List: MessagesList, Of: c.Session.ID, Row: &m})
	return &m
}

// tell leaves something for the agent to answer.
func (c *change) tell(m *Message) {
	c.Put(&Inbox{Message: m.Key(), User: m.User, TS: m.TS, CreatedAt: m.CreatedAt, DeleteAfter: m.DeleteAfter})
}

// card makes the row of a card that shows subject; its message comes later. Cards stand in the thread in the order in
// which they were made.
func (c *change) card(typ aggregate.CardType, subject string) {
	card := &aggregate.Card{
		ID: aggregate.Derive(c.Now, "card", c.Session.ID, string(typ), subject), AggregateID: c.Session.ID, CardType: typ, Subject: subject,
		Channel: c.Session.Channel, State: aggregate.CardNone, CreatedAt: c.Now.Add(time.Duration(c.drawn) * time.Millisecond),
	}
	if typ == CardAction { // the agent's words stand before what it wants to do
		card.CreatedAt = card.CreatedAt.Add(mostParts * time.Millisecond)
	}
	c.drawn++
	if c.of.Card(card.Key()) == nil {
		if c.shows != "" && typ == CardMessage { // it shows something, so it is drawn again
			card.State, card.MessageTS, c.shows = aggregate.CardPosted, c.shows, ""
		}
		c.Put(card)
	}
}

func (c *change) audit(by aggregate.Actor, action aggregate.Action, resourceType, resourceID string, details map[string]any) {
	c.Record(&c.Head, by, action, resourceType, resourceID, details)
}

// auditAction is audit about an action.
func (c *change) auditAction(by aggregate.Actor, as aggregate.Action, x *Action, details map[string]any) {
	details = maps.Clone(details)
	if details == nil {
		details = map[string]any{}
	}
	details["type"], details["hash"] = x.ActionType, x.Payload.Hash()
	c.audit(by, as, "action", x.ActionID, details)
}
