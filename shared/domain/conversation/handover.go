package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// HandOver is a request that the agent makes to the pipeline. The relay creates a task from it.
type HandOver struct {
	aggregate.Meta
	Number    int       `json:"number"`
	Text      string    `json:"text"`
	User      string    `json:"user"`       // the author of the message that asked for it
	MessageTS string    `json:"message_ts"` // the timestamp of that message
	TaskID    string    `json:"task_id"`
	Done      bool      `json:"done,omitempty"`
	CreatedAt time.Time `json:"created_at"`
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
// message it does nothing.
func (c *change) handOver(text string, seen []*Inbox) {
	if of := newestOf(seen); of != nil {
		by := aggregate.Actor{Type: aggregate.ActorAgent, ID: c.Conversation.AgentID}
		c.makes(HandOver{Text: legible.FirstBytes(text, task.MaxText), User: of.User, MessageTS: of.TS}, by)
	}
}

// makes records a request of which the relay makes a task, and returns the task's id.
func (c *change) makes(h HandOver, by aggregate.Actor) string {
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
		Source: source, EventID: task.HandedOverBy(s.ID),
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
