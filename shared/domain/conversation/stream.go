package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// Stream is the row of an answer that is streamed to a Slack message before it is committed. No Change puts it. It is
// put before the message is posted, so that the message can always be found. The Change with the answer uses the
// message for its first card; without an answer the message is deleted.
type Stream struct {
	aggregate.Meta
	Of          string    `json:"of"`           // key of the first message that is being answered
	TS          string    `json:"ts,omitempty"` // the Slack message's timestamp; empty until it is known to exist
	StartedAt   time.Time `json:"started_at"`
	DeleteAfter int64     `json:"delete_after"`
}

// StreamKey is the row's key. A conversation streams one answer at a time.
const StreamKey = "STREAM"

// streamKept is when the row expires if nobody removes it.
const streamKept = 24 * time.Hour

// NewStream returns the row for an answer to the message i and those after it.
func NewStream(i *Inbox, now time.Time) *Stream {
	return &Stream{Meta: aggregate.Meta{Rev: 1}, Of: i.Message, StartedAt: now.UTC(), DeleteAfter: now.Add(streamKept).Unix()}
}

func (s *Stream) Key() string             { return StreamKey }
func (s *Stream) Type() string            { return "stream" }
func (s Stream) At(rev int) aggregate.Row { s.Rev = rev; return &s }

// Leftover returns a stream whose answer will not be committed, or nil.
func (a *Aggregate) Leftover() *Stream {
	if a.Stream == nil || a.Conversation != nil && a.Conversation.Status != Closed && aggregate.Find(a.Inbox, InboxPrefix+a.Stream.Of) != nil {
		return nil
	}
	return a.Stream
}

// takeOver uses the stream's Slack message for the next card, if the stream's first message is among those answered
// now.
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
