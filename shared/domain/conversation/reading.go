package conversation

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// Read is what an agent read of the conversation's files by one call of a tool.
type Read struct {
	Tool    string    `json:"tool"`
	Path    string    `json:"path,omitempty"` // as the agent named it
	Text    string    `json:"text,omitempty"` // what it searched for
	From    int       `json:"from,omitempty"` // lines of a file; 0: none were shown
	To      int       `json:"to,omitempty"`
	Version string    `json:"version,omitempty"` // of the files
	Failed  bool      `json:"failed,omitempty"`
	At      time.Time `json:"at"`
}

// Reading is what the agent has read for an answer that is not committed yet. It stands until messages are answered.
type Reading struct {
	Of   string         `json:"of"`   // key of the first message that the answer is to
	Kept aggregate.Blob `json:"kept"` // the calls and their results
	Read []Read         `json:"read,omitempty"`
}

// ReadFor returns what was read for an answer to these messages by an earlier try; nil if there is nothing.
func (a *Aggregate) ReadFor(seen []*Inbox) *Reading {
	r := a.Conversation.Reading
	if r == nil || !slices.ContainsFunc(seen, func(i *Inbox) bool { return i.Message == r.Of }) {
		return nil
	}
	return r
}

// ReadOn records what an answer to the messages seen has cost so far and what the agent reads for it. x has the usage
// and, if one was made, the summary. The messages stay unanswered. It returns ErrMoved if one of them was answered
// meanwhile, such as by a person who stopped the agent.
func (a *Aggregate) ReadOn(run int, seen []*Inbox, r Reading, x Answer, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	for _, i := range seen {
		if aggregate.Find(a.Inbox, i.Key()) == nil {
			return aggregate.Change{}, aggregate.ErrMoved
		}
	}
	c := a.unanswered(x, now)
	c.Conversation.Reading = &r
	c.progress()
	return c.done()
}

// unanswered begins a Change that records what an answer cost that is not made yet, and the summary made for it.
func (a *Aggregate) unanswered(x Answer, now time.Time) *change {
	c := a.begin(now)
	c.charge(x.Usage)
	c.fold(x)
	for _, i := range a.Inbox {
		if slices.Contains(x.Folded, i.Message) {
			folded := *i
			folded.Folded = true
			c.Put(&folded)
		}
	}
	return c
}
