package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// Offered is a request that the agent wants to make, and that a person makes by a button: what the agent was shown may
// have told it what to ask for. The relay creates a task from one that is made.
type Offered struct {
	aggregate.Meta
	Number    int        `json:"number"`
	ID        string     `json:"offer_id"`
	Text      string     `json:"text"`
	Named     string     `json:"named,omitempty"` // the beginning of the text, with people's names for their ids
	User      string     `json:"user"`            // the author of the message that asked for it
	MessageTS string     `json:"message_ts"`      // the timestamp of that message
	MadeBy    string     `json:"made_by,omitempty"`
	MadeAt    *time.Time `json:"made_at,omitempty"`
	TaskID    string     `json:"task_id,omitempty"`
	Done      bool       `json:"done,omitempty"` // the task is created
}

func (o *Offered) Key() string             { return fmt.Sprintf("OFFERED#%04d", o.Number) }
func (o *Offered) Type() string            { return "offered" }
func (o Offered) At(rev int) aggregate.Row { o.Rev = rev; return &o }

// CardOffered is the card of a request that the agent wants to make.
const CardOffered aggregate.CardType = "offered"

// ActMakeRequest makes the request that the agent wants to make.
const ActMakeRequest aggregate.Act = "make_request"

const (
	// AuditOffered is recorded when the agent wants to make a request.
	AuditOffered aggregate.Action = "session.request_offered"
	// AuditRequestMade is recorded when a person makes it.
	AuditRequestMade aggregate.Action = "session.request_made"
)

// asked returns who wrote the newest answered message of a person, and its timestamp. Until one is answered, as where a
// model was never asked, the thread's first message stands in for it.
func (c *change) asked() (user, ts string) {
	s := &c.Conversation
	if s.AskedBy == "" {
		return c.of.LastAskers()[0], s.ThreadTS
	}
	return s.AskedBy, s.AskedTS
}

// offer has a person decide whether the agent's request is made. It takes the place of an earlier one that nobody made.
// A message becomes one task: where it did, that is said instead.
func (c *change) offer(text, named string) {
	user, ts := c.asked()
	for _, o := range c.of.Offered {
		if o.MadeAt != nil && o.MessageTS == ts {
			m := Message{Sender: FromSystem}
			m.own(fmt.Sprintf(wordsOf.In(c.Conversation.Locale).Offers.Already, o.TaskID))
			c.post(m)
			return
		}
	}
	for _, o := range c.of.Offered {
		if o.MadeAt == nil {
			c.Remove(o)
		}
	}
	c.Conversation.Offered++
	o := &Offered{Number: c.Conversation.Offered, Text: language.FirstBytes(text, task.MaxText), User: user,
		MessageTS: ts, Named: language.FirstBytes(named, task.MaxSentence)}
	o.ID = aggregate.Derive(c.Now, "offered", c.Head.TenantID, c.Conversation.ID, o.Key())
	c.Put(o)
	c.card(CardOffered, o.Key())
	c.Record(&c.Head, aggregate.Actor{Type: aggregate.ActorAgent, ID: c.Conversation.AgentID}, AuditOffered, "session",
		c.Conversation.ID, map[string]any{"asked_by": o.User, "hash": aggregate.HashOf(o.Text)})
}

// OpenOffer returns the request that waits for a person to make it, or nil.
func (a *Aggregate) OpenOffer() *Offered {
	if a.Conversation == nil || a.Conversation.Status == Closed {
		return nil
	}
	return aggregate.First(a.Offered, func(o *Offered) bool { return o.MadeAt == nil })
}

// MakeRequest makes the request with this id, in the name of the person who presses the button: whose message asked for
// it, or who may approve. It returns ErrDecided if somebody else made it, ErrNotAllowed, or ErrNotFound if the agent
// wants to make another one meanwhile.
func (a *Aggregate) MakeRequest(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (
	aggregate.Change, error) {
	o := aggregate.First(a.Offered, func(o *Offered) bool { return o.ID == id })
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
	made.MadeBy, made.MadeAt = by.ID, &c.Now
	_, ref, err := made.receive(&c.Conversation)
	c.Fail(err)
	made.TaskID = ref.ID
	c.Put(&made)
	c.Record(&c.Head, by, AuditRequestMade, "session", c.Conversation.ID,
		map[string]any{"task": made.TaskID, "asked_by": by.ID, "hash": aggregate.HashOf(made.Text)})
	m := Message{Sender: FromSystem, TaskID: made.TaskID}
	m.own(fmt.Sprintf(wordsOf.In(c.Conversation.Locale).Offers.Made, made.TaskID))
	c.say(m)
	return c.done()
}

// receive returns the first Change of the task.
func (o *Offered) receive(s *Conversation) (aggregate.Change, aggregate.Ref, error) {
	source := task.SourceChannel
	if s.ChannelType == "im" {
		source = task.SourceAgentContainer
	}
	return task.Receive(s.TenantID, task.Request{
		TeamID: s.TeamID, Text: o.Text, User: o.MadeBy, Channel: s.Channel, ChannelType: s.ChannelType,
		MessageTS: o.MessageTS, ThreadTS: s.ThreadTS, Source: source, EventID: task.OfferedIn(s.ID),
	}, *o.MadeAt)
}

// making reports whether the task must be created.
func (o *Offered) making() bool { return o.MadeAt != nil && !o.Done }

// made returns the task that must be created.
func (o *Offered) made(a *Aggregate) (aggregate.Making, error) {
	if a.Conversation == nil {
		return aggregate.Making{}, aggregate.ErrConflict
	}
	begin, ref, err := o.receive(a.Conversation)
	key := o.Key()
	return aggregate.Making{Ref: ref, Begin: begin, Made: func(x aggregate.Aggregate) (aggregate.Change, error) {
		return x.(*Aggregate).offerMade(key)
	}}, err
}

// offerMade records that the task was created.
func (a *Aggregate) offerMade(key string) (aggregate.Change, error) {
	o := aggregate.Find(a.Offered, key)
	if o == nil || !o.making() {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(a.Head.ChangedAt)
	n := *o
	n.Done = true
	c.Put(&n)
	return c.done()
}
