package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Stream says that a message in Slack grows with an answer that is not committed yet. No Change puts the row: whoever
// answers does, before Slack is told, so that the message is known whatever happens. The Change that answers takes the
// message over as its first card's; else it is nobody's, and deleted.
type Stream struct {
	aggregate.Meta
	Of          string    `json:"of"`           // key of the first message that the answer is to
	TS          string    `json:"ts,omitempty"` // Slack's; empty while it is not known to be there
	StartedAt   time.Time `json:"started_at"`
	DeleteAfter int64     `json:"delete_after"`
}

// StreamKey is the row's: a conversation answers one thing at a time.
const StreamKey = "STREAM"

// streamKept is how long the row stays where nobody looks at the conversation any more.
const streamKept = 24 * time.Hour

// NewStream is the row of an answer to messages of which i is the first.
func NewStream(i *Inbox, now time.Time) *Stream {
	return &Stream{Meta: aggregate.Meta{Rev: 1}, Of: i.Message, StartedAt: now.UTC(), DeleteAfter: now.Add(streamKept).Unix()}
}

func (s *Stream) Key() string             { return StreamKey }
func (s *Stream) Type() string            { return "stream" }
func (s Stream) At(rev int) aggregate.Row { s.Rev = rev; return &s }

// Leftover is a stream whose answer nobody makes any more; nil if there is none.
func (a *Aggregate) Leftover() *Stream {
	if a.Stream == nil || a.Session != nil && a.Session.Status != Closed && aggregate.Find(a.Inbox, InboxPrefix+a.Stream.Of) != nil {
		return nil
	}
	return a.Stream
}

// takeOver gives the message of a stream to the next card, if the stream's first message is among those answered now.
func (c *change) takeOver(seen []*Inbox) {
	s := c.of.Stream
	if s == nil || s.TS == "" {
		return
	}
	for _, i := range seen {
		if i.Message == s.Of {
			c.shows = s.TS
			c.Remove(s)
			return
		}
	}
}
