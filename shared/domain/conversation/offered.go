package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Offered is a request that the agent wants to make, and that a person makes by a button: where the agent was shown
// files or output, these may have told it what to ask for.
type Offered struct {
	aggregate.Meta
	Number      int        `json:"number"`
	ID          string     `json:"offer_id"`
	Text        string     `json:"text,omitempty"`         // once the request is made, HandOver has it
	User        string     `json:"user"`                   // the author of the message that asked for it
	RouteAskers []string   `json:"route_askers,omitempty"` // the others whose words the agent was shown
	MessageTS   string     `json:"message_ts"`             // the timestamp of that message
	CreatedAt   time.Time  `json:"created_at"`
	MadeBy      string     `json:"made_by,omitempty"`
	MadeAt      *time.Time `json:"made_at,omitempty"`
	TaskID      string     `json:"task_id,omitempty"`
}

func (o *Offered) Key() string             { return fmt.Sprintf("OFFERED#%04d", o.Number) }
func (o *Offered) Type() string            { return "offered" }
func (o Offered) At(rev int) aggregate.Row { o.Rev = rev; return &o }

// CardOffered is the card of a request that the agent wants to make.
const CardOffered aggregate.CardType = "offered"

// ActMakeRequest makes the request that the agent wants to make.
const ActMakeRequest aggregate.Act = "make_request"

// AuditOffered is recorded when the agent wants to make a request.
const AuditOffered aggregate.Action = "session.request_offered"

// offer has a person decide whether the agent's request is made. It takes the place of an earlier one that nobody made.
func (c *change) offer(text string) {
	user, ts := c.asked()
	for _, o := range c.of.Offered {
		if o.MadeAt == nil {
			c.Remove(o)
		}
	}
	c.Conversation.Offered++
	o := &Offered{Number: c.Conversation.Offered, Text: legible.FirstBytes(text, task.MaxText), User: user,
		MessageTS: ts, RouteAskers: task.Others(user, c.routeAskers()...), CreatedAt: c.Now}
	o.ID = aggregate.Derive(c.Now, "offered", c.Head.TenantID, c.Conversation.ID, o.Key())
	c.Put(o)
	c.card(CardOffered, o.Key())
	c.audit(aggregate.Actor{Type: aggregate.ActorAgent, ID: c.Conversation.AgentID}, AuditOffered, "session",
		c.Conversation.ID, map[string]any{"asked_by": o.User, "hash": aggregate.HashOf(o.Text)})
}

// OpenOffer returns the request that waits for a person to make it, or nil.
func (a *Aggregate) OpenOffer() *Offered {
	for _, o := range a.Offered {
		if o.MadeAt == nil && a.Conversation != nil && a.Conversation.Status != Closed {
			return o
		}
	}
	return nil
}

// MakeRequest makes the request with this id, in the name of the person who presses the button: whose message asked for
// it, or who may approve. It returns ErrDecided if somebody else made it, ErrNotAllowed, or ErrNotFound if the agent
// wants to make another one meanwhile.
func (a *Aggregate) MakeRequest(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (
	aggregate.Change, error) {
	var o *Offered
	for _, x := range a.Offered {
		if x.ID == id {
			o = x
		}
	}
	switch {
	case o == nil:
		return aggregate.Change{}, aggregate.ErrNotFound
	case o.MadeAt != nil && o.MadeBy == by.ID:
		return aggregate.Change{}, nil
	case o.MadeAt != nil:
		return aggregate.Change{}, aggregate.ErrDecided{Status: string(aggregate.Approved), By: o.MadeBy, At: *o.MadeAt}
	case a.Conversation.Status == Closed:
		return aggregate.Change{}, aggregate.ErrDecided{Status: string(Closed), By: a.Conversation.ClosedBy,
			At: *a.Conversation.ClosedAt, Reason: a.Conversation.CloseReason}
	}
	if err := p.Request(by); err != nil {
		return aggregate.Change{}, err
	}
	if err := p.Withdraw(by, o.User); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.active()
	made := *o
	made.MadeBy, made.MadeAt, made.Text = by.ID, &c.Now, ""
	made.TaskID = c.makes(HandOver{Text: o.Text, User: by.ID, MessageTS: o.MessageTS,
		RouteAskers: append([]string{o.User}, o.RouteAskers...)}, by)
	c.Put(&made)
	m := Message{Sender: FromSystem, TaskID: made.TaskID}
	m.own(fmt.Sprintf(saidOfTasks.In(c.Conversation.Locale).made, made.TaskID))
	c.say(m)
	return c.done()
}
