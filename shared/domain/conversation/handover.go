package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// HandOver is a request that the agent makes to the pipeline. The relay creates a task from it.
type HandOver struct {
	aggregate.Meta
	Number      int       `json:"number"`
	Text        string    `json:"text"`
	User        string    `json:"user"`                   // the author of the message that asked for it
	RouteAskers []string  `json:"route_askers,omitempty"` // the others whose words the agent was shown
	MessageTS   string    `json:"message_ts"`             // the timestamp of that message
	TaskID      string    `json:"task_id"`
	Done        bool      `json:"done,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	// EndedAs, EndedAt and EndedFor say how the task ended, once the conversation was told.
	EndedAs  task.TaskStatus  `json:"ended_as,omitempty"`
	EndedAt  *time.Time       `json:"ended_at,omitempty"`
	EndedFor aggregate.Reason `json:"ended_for,omitempty"`
}

func (h *HandOver) Key() string             { return fmt.Sprintf("HANDOVER#%04d", h.Number) }
func (h *HandOver) Type() string            { return "handover" }
func (h HandOver) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// AuditHandedOver is recorded when the agent makes a request to the pipeline.
const AuditHandedOver aggregate.Action = "session.handed_over"

// newestOf returns the newest message among seen that a person wrote, or nil.
func newestOf(seen []*Inbox) (of *Inbox) {
	for _, i := range seen {
		if i.User != "" {
			of = i
		}
	}
	return of
}

// handOver makes a request on behalf of the author of the newest message among seen that a person wrote. Without such a
// message it does nothing. It returns the task's id.
func (c *change) handOver(text string, seen []*Inbox) (taskID string) {
	if of := newestOf(seen); of != nil {
		by := aggregate.Actor{Type: aggregate.ActorAgent, ID: c.Conversation.AgentID}
		return c.makes(HandOver{Text: legible.FirstBytes(text, task.MaxText), User: of.User, MessageTS: of.TS,
			RouteAskers: c.routeAskers()}, by)
	}
	return ""
}

// hands makes the request of an answer, unless a person makes it by a button: also where the answer is to nobody's
// message, but to what an action came to. It returns nil for an answer without one, and if the message became a task.
func (c *change) hands(x Answer, seen []*Inbox) *Handed {
	if x.HandOver == "" || c.handedOf() != nil {
		return nil
	}
	h := &Handed{Text: legible.FirstBytes(x.HandOver, task.MaxText)}
	if !x.ByButton {
		h.TaskID = c.handOver(x.HandOver, seen)
	}
	return h
}

// asked returns who wrote the newest answered message of a person, and its timestamp. Until one is answered, as where a
// model was never asked, the thread's first message stands in for it.
func (c *change) asked() (user, ts string) {
	s := &c.Conversation
	if s.AskedBy == "" {
		return c.of.LastAskers()[0], s.ThreadTS
	}
	return s.AskedBy, s.AskedTS
}

// handedOf returns the request that the newest answered message of a person became, or nil. A message becomes one task.
func (c *change) handedOf() *HandOver {
	_, ts := c.asked()
	for _, h := range c.of.Handed {
		if h.MessageTS == ts {
			return h
		}
	}
	return nil
}

// handedAlready says that a request was not handed over, because its message became a task already.
func (c *change) handedAlready() {
	m := Message{Sender: FromSystem}
	m.own(fmt.Sprintf(saidOfTasks.In(c.Conversation.Locale).already, c.handedOf().TaskID))
	c.card(CardMessage, MessageSubject(c.say(m).Key(), 0))
}

// makes records a request of which the relay makes a task, and returns the task's id.
func (c *change) makes(h HandOver, by aggregate.Actor) string {
	h.RouteAskers = task.Others(h.User, h.RouteAskers...)
	h.Number, h.CreatedAt = len(c.of.Handed)+1, c.Now
	_, ref, err := h.receive(&c.Conversation)
	c.Fail(err)
	h.TaskID = ref.ID
	c.Put(&h)
	c.audit(by, AuditHandedOver, "session", c.Conversation.ID,
		map[string]any{"task": h.TaskID, "asked_by": h.User, "hash": aggregate.HashOf(h.Text)})
	return h.TaskID
}

// receive returns the first Change of the task.
func (h *HandOver) receive(s *Conversation) (aggregate.Change, aggregate.Ref, error) {
	source := task.SourceChannel
	if s.ChannelType == "im" {
		source = task.SourceAgentContainer
	}
	return task.Receive(s.TenantID, task.Request{
		TeamID: s.TeamID, Text: h.Text, User: h.User, Channel: s.Channel, ChannelType: s.ChannelType, MessageTS: h.MessageTS, ThreadTS: s.ThreadTS,
		Source: source, EventID: task.HandedOverBy(s.ID), RouteAskers: h.RouteAskers,
		Authors: h.RouteAskers,
	}, h.CreatedAt)
}

// made returns the task that must be created.
func (h *HandOver) made(a *Aggregate) (aggregate.Making, error) {
	if a.Conversation == nil {
		return aggregate.Making{}, aggregate.ErrConflict
	}
	begin, ref, err := h.receive(a.Conversation)
	number := h.Number
	return aggregate.Making{Ref: ref, Begin: begin, Made: func(x aggregate.Aggregate) (aggregate.Change, error) {
		return x.(*Aggregate).handed(number)
	}}, err
}

// handed records that the task was created.
func (a *Aggregate) handed(number int) (aggregate.Change, error) {
	for _, h := range a.Handed {
		if h.Number == number && !h.Done {
			c := a.begin(a.Head.ChangedAt)
			n := *h
			n.Done = true
			c.Put(&n)
			return c.done()
		}
	}
	return aggregate.Change{}, aggregate.ErrNotDue
}

// TaskEnded tells people and the agent how a task ended that was handed over, once for each end. The agent is not asked
// for an answer. It returns ErrNotDue if that was said, and if the conversation is closed or forgotten.
func (a *Aggregate) TaskEnded(id string, e task.Ended, now time.Time) (aggregate.Change, error) {
	if a.Head.Forgotten(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	if a.Conversation == nil {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	var h *HandOver
	for _, x := range a.Handed {
		if x.TaskID == id {
			h = x
		}
	}
	if h == nil || a.Conversation.Status == Closed || h.EndedAt != nil && !e.At.After(*h.EndedAt) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	n := *h
	n.EndedAs, n.EndedAt, n.EndedFor = e.As, &e.At, e.Reason
	c.Put(&n)
	m := Message{Sender: FromSystem, TaskID: id}
	m.own(fmt.Sprintf(saidOfTasks.In(a.Conversation.Locale).of(e), id))
	c.card(CardMessage, MessageSubject(c.say(m).Key(), 0))
	return c.done()
}

type wordsOfTasks struct {
	made, already, done, failed, unknown, rejected, expired, cancelled, answered, refused string
}

var saidOfTasks = language.InEach(
	wordsOfTasks{
		made:    "依頼をタスク %s として受け付けました。",
		already: "依頼はしていません。最後のメッセージは、すでにタスク %s になっています。もう 1 件必要な場合は、その旨を書いてください。",
		done:    "タスク %s は完了しました。", failed: "タスク %s は失敗しました。理由はカードに表示されています。",
		unknown:  "タスク %s は、書き込みの結果が不明のまま終了しました。実行されたかどうかを、人が確認する必要があります。",
		rejected: "タスク %s は却下されました。", expired: "タスク %s は、期限までに承認されず終了しました。",
		cancelled: "タスク %s はキャンセルされました。", answered: "タスク %s は、承認が不要なため、返答だけで終了しました。",
		refused: "タスク %s は受け付けられませんでした。理由はカードに表示されています。",
	},
	wordsOfTasks{
		made: "The request became task %s.",
		already: "No new request was made: the last message already became task %s. " +
			"If you need another one, say so.",
		done: "Task %s is done.", failed: "Task %s failed. See its card for the reason.",
		unknown:   "Task %s ended with a write whose outcome is unknown. A person needs to check.",
		rejected:  "Task %s was rejected.",
		expired:   "Task %s expired: nobody approved it in time.",
		cancelled: "Task %s was cancelled.",
		answered:  "Task %s ended with a reply; there was nothing to approve.",
		refused:   "Task %s was declined. See its card for the reason.",
	},
)

// of returns the sentence about an end.
func (w wordsOfTasks) of(e task.Ended) string {
	switch {
	case e.As == task.TaskCompleted:
		return w.done
	case e.As == task.TaskAnswered:
		return w.answered
	case e.As == task.TaskRefused:
		return w.refused
	case e.Reason == task.ReasonToolUnknown:
		return w.unknown
	case e.As == task.TaskFailed:
		return w.failed
	case e.Reason == task.ReasonStepRejected, e.Reason == task.ReasonMaxVersions, e.Reason == task.ReasonDenied:
		return w.rejected
	case e.Reason == task.ReasonExpired:
		return w.expired
	}
	return w.cancelled
}

var _ task.Asker = (*Aggregate)(nil)

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
