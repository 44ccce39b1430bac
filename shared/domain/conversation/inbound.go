package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

const (
	// MaxText limits the stored text of a message, in bytes of UTF-8. Slack's own limit is 40,000 characters.
	MaxText = 120_000
	// maxTitle is how much of the first message is the conversation's title, in characters.
	maxTitle = 80
)

// Inbound is a person's message from Slack.
type Inbound struct {
	Team, Channel, ChannelType string
	Thread                     string // the thread's root; the message itself if it starts a thread
	TS                         string
	User                       string
	Text                       string
	Forwarded                  []aggregate.Quoted
	Attachments                []Attachment // without their content
	// Blank says that the message has no word, forwards nothing and has no file.
	Blank bool
	// Changes is the timestamp of an earlier message of the same person, which this one replaces by its text or, if
	// Deleted is true, by nothing. TS is then the time of the change.
	Changes string
	Deleted bool
}

// Opening has the settings with which a conversation begins.
type Opening struct {
	AgentID  string
	Unnamed  bool // nobody named the agent
	IsCached bool
	IdleDays int
	Locale   string
	Source   *Source // nil: none
}

// Ref returns the Ref of the conversation in the message's thread.
func (in Inbound) Ref() aggregate.Ref {
	return RefOf(aggregate.TenantID(in.Team), ID(in.Team, in.Channel, in.Thread))
}

// Wordless reports whether the message forwards nothing and has no file.
func (in Inbound) Wordless() bool { return len(in.Forwarded) == 0 && len(in.Attachments) == 0 }

// message returns the message's row.
func (in Inbound) message(keep int64) (*Message, error) {
	at, err := aggregate.ParseTS(in.TS)
	if err != nil {
		return nil, err
	}
	m := &Message{
		MessageID: MessageID(in.Team, in.Channel, in.TS), SessionID: in.Ref().ID, Sender: FromUser, Content: legible.FirstBytes(in.Text, MaxText),
		CreatedAt: at, Forwarded: in.Forwarded, Attachments: in.Attachments, User: in.User, TS: in.TS, DeleteAfter: keep,
	}
	if in.Changes == "" {
		return m, nil
	}
	was, err := aggregate.ParseTS(in.Changes)
	if err != nil {
		return nil, err
	}
	m.Changes, m.Deleted = MessageKey(was, MessageID(in.Team, in.Channel, in.Changes)), in.Deleted
	m.MessageID = uuid("change", in.Team, in.Channel, in.Changes, in.TS)
	return m, nil
}

// title is how a conversation that begins with the message is called.
func (in Inbound) title(locale string) string {
	if legible.Text(in.Text) {
		return in.Text
	}
	var names []string
	for _, a := range in.Attachments {
		names = append(names, a.Name)
	}
	return aggregate.Wordless(locale, in.Forwarded, names)
}

// noSource says of a conversation's files that they began empty.
const noSource = "files"

// Begin opens a conversation with its first message. Its rows must all be absent. It returns an error for an invalid
// timestamp.
func Begin(in Inbound, o Opening, now time.Time) (aggregate.Change, error) {
	now = now.UTC().Truncate(time.Millisecond)
	ref := in.Ref()
	s := &Conversation{
		ID: ref.ID, TenantID: ref.Tenant, AgentID: o.AgentID, Status: Open, CreatedAt: now, LastActivityAt: now,
		WorkspacePath: noSource, IsCached: o.IsCached, TeamID: in.Team, Channel: in.Channel, ChannelType: in.ChannelType,
		ThreadTS: in.Thread, Opener: in.User, Title: legible.First(in.title(o.Locale), maxTitle), Locale: o.Locale,
		IdleDays: o.IdleDays,
		Source:   o.Source, Unnamed: o.Unnamed,
	}
	if in.TS != in.Thread {
		s.ThreadBefore = in.TS
	}
	head := Head{Head: aggregate.Head{TenantID: ref.Tenant, Run: 1, Requester: in.User, CreatedAt: now}, SessionID: ref.ID}
	m, err := in.message(s.keep(now))
	if err != nil {
		return aggregate.Change{}, err
	}
	c := (&Aggregate{Head: head, Conversation: s}).begin(now)
	c.Beside = append(c.Beside, aggregate.Listed{List: MessagesList, Of: ref.ID, Row: m})
	c.Put(m.waits(in.Blank))
	c.audit(aggregate.Actor{Type: aggregate.ActorUser, ID: in.User}, AuditOpened, "session", ref.ID, map[string]any{"agent": o.AgentID})
	return c.done()
}

// Tell adds a message to a conversation without reading the conversation. The Change has no head; the store's Tell
// checks that the conversation exists. A closed conversation gets the message too. Only the retention settings of o are
// used.
func Tell(in Inbound, o Opening, now time.Time) (aggregate.Change, error) {
	now = now.UTC().Truncate(time.Millisecond)
	m, err := in.message((&Conversation{IsCached: o.IsCached, IdleDays: o.IdleDays}).keep(now))
	if err != nil {
		return aggregate.Change{}, err
	}
	c := aggregate.Change{Now: now, Beside: []aggregate.Listed{{List: MessagesList, Of: m.SessionID, Row: m}}}
	c.Put(m.waits(in.Blank))
	return c, nil
}
