package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

const (
	// MaxText is how much of a message is kept, in bytes of UTF-8. Slack's own limit is 40,000 characters.
	MaxText = 120_000
	// maxTitle is how much of the first message stands for a conversation in lists, in characters.
	maxTitle = 80
)

// Inbound is a message of a person's, as Slack brought it.
type Inbound struct {
	Team, Channel, ChannelType string
	Thread                     string // the thread's root: the message itself, if it begins one
	TS                         string
	User                       string
	Text                       string
	Attachments                []Attachment // not read yet
}

// Opening is what a conversation begins with.
type Opening struct {
	AgentID  string
	IsCached bool
	IdleDays int
	Locale   string
}

// Ref is the conversation that the message belongs to, if it is one's.
func (in Inbound) Ref() aggregate.Ref {
	return RefOf(aggregate.TenantID(in.Team), ID(in.Team, in.Channel, in.Thread))
}

// workspace is what the work folder of a conversation there is called, for rules and for people: Slack's workspace and
// channel.
func (in Inbound) workspace() string { return in.Team + "/" + in.Channel }

// message returns the row that keeps the message.
func (in Inbound) message(keep int64) (*Message, error) {
	at, err := aggregate.ParseTS(in.TS)
	if err != nil {
		return nil, err
	}
	return &Message{
		MessageID: MessageID(in.Team, in.Channel, in.TS), SessionID: in.Ref().ID, Sender: FromUser, Content: legible.FirstBytes(in.Text, MaxText),
		CreatedAt: at, Attachments: in.Attachments, User: in.User, TS: in.TS, DeleteAfter: keep,
	}, nil
}

// Begin opens a conversation with its first message. It is for the store's Begin: the rows must all be absent. It
// returns an error for a timestamp that is none.
func Begin(in Inbound, o Opening, now time.Time) (aggregate.Change, error) {
	now = now.UTC().Truncate(time.Millisecond)
	ref := in.Ref()
	s := &Session{
		ID: ref.ID, TenantID: ref.Tenant, AgentID: o.AgentID, Status: Open, CreatedAt: now, LastActivityAt: now,
		WorkspacePath: in.workspace(), IsCached: o.IsCached, TeamID: in.Team, Channel: in.Channel, ChannelType: in.ChannelType,
		ThreadTS: in.Thread, Opener: in.User, Title: legible.First(in.Text, maxTitle), Locale: o.Locale, IdleDays: o.IdleDays,
	}
	head := Head{Head: aggregate.Head{TenantID: ref.Tenant, Run: 1, Requester: in.User, CreatedAt: now}, SessionID: ref.ID}
	m, err := in.message(s.keep(now))
	if err != nil {
		return aggregate.Change{}, err
	}
	c := (&Aggregate{Head: head, Session: s}).begin(now)
	c.Beside = append(c.Beside, aggregate.Listed{List: MessagesList, Of: ref.ID, Row: m})
	c.tell(m)
	c.audit(aggregate.Actor{Type: aggregate.ActorUser, ID: in.User}, AuditOpened, "session", ref.ID, map[string]any{"agent": o.AgentID})
	return c.done()
}

// Tell adds a message to a conversation that nobody has read: its Change has no head, and whether there is such a
// conversation the store's Tell finds out. A conversation that is closed has the message, too, and its card says what
// may be done. Of o only how long things are kept counts.
func Tell(in Inbound, o Opening, now time.Time) (aggregate.Change, error) {
	now = now.UTC().Truncate(time.Millisecond)
	m, err := in.message((&Session{IsCached: o.IsCached, IdleDays: o.IdleDays}).keep(now))
	if err != nil {
		return aggregate.Change{}, err
	}
	c := aggregate.Change{Now: now, Beside: []aggregate.Listed{{List: MessagesList, Of: m.SessionID, Row: m}}}
	c.Put(&Inbox{Message: m.Key(), User: in.User, TS: in.TS, CreatedAt: m.CreatedAt, DeleteAfter: m.DeleteAfter})
	return c, nil
}
