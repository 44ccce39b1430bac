package conversation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
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
	// Changes is the timestamp of an earlier message of the same person, which this one replaces by its text or, if
	// Deleted is true, by nothing. TS is then the time of the change.
	Changes string
	Deleted bool
}

// Opening has the settings with which a conversation begins.
type Opening struct {
	AgentID  string
	IsCached bool
	Locale   string
	Source   *Source // nil: none
}

// Ref returns the Ref of the conversation in the message's thread.
func (in Inbound) Ref() aggregate.Ref {
	return RefOf(aggregate.TenantID(in.Team), ID(in.Team, in.Channel, in.Thread))
}

// message returns the message's row.
func (in Inbound) message(keep int64) (*Message, error) {
	at, err := aggregate.ParseTS(in.TS)
	if err != nil {
		return nil, err
	}
	m := &Message{
		MessageID: MessageID(in.Team, in.Channel,
			in.TS), SessionID: in.Ref().ID, Sender: FromUser, Content: language.FirstBytes(in.Text, MaxText),
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
	if language.Legible(in.Text) {
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
		ThreadTS: in.Thread, Opener: in.User, Title: language.First(in.title(o.Locale), maxTitle), Locale: o.Locale,
		Source: o.Source,
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
	c.Put(m.waits())
	c.Record(&c.Head, aggregate.Actor{Type: aggregate.ActorUser, ID: in.User}, AuditOpened, "session", ref.ID,
		map[string]any{"agent": o.AgentID})
	return c.done()
}

// Tell adds a message to a conversation without reading the conversation. The Change has no head; the store's Tell
// checks that the conversation exists. A closed conversation gets the message too. Only the retention settings of o are
// used.
func Tell(in Inbound, o Opening, now time.Time) (aggregate.Change, error) {
	now = now.UTC().Truncate(time.Millisecond)
	m, err := in.message((&Conversation{IsCached: o.IsCached}).keep(now))
	if err != nil {
		return aggregate.Change{}, err
	}
	c := aggregate.Change{Now: now, Beside: []aggregate.Listed{{List: MessagesList, Of: m.SessionID, Row: m}}}
	c.Put(m.waits())
	return c, nil
}

// Earlier is what somebody said in the thread before the conversation.
type Earlier struct {
	User string    `json:"user"` // Slack user id, or an app's
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	// Quoted are the Slack user ids of whose messages it forwards.
	Quoted []string `json:"quoted,omitempty"`
}

// GiveThread gives the agent what was said in the thread before the conversation, and says so to people, once: what of
// the thread it is, or that it could not be read. It returns ErrNotDue if that was done.
func (a *Aggregate) GiveThread(run int, said []Earlier, of aggregate.Thread, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if a.Conversation.ThreadBefore == "" {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Conversation.ThreadBefore = ""
	w := wordsOf.In(c.Conversation.Locale).Thread
	m := Message{Sender: FromSystem, Thread: said}
	switch {
	case of.Failed:
		m.own(w.Unread)
	case len(said) > 0:
		m.own(strings.TrimSpace(fmt.Sprintf(w.Given, len(said)) + " " + of.LeftOut(c.Conversation.Locale, "")))
	default:
		return c.done()
	}
	c.post(m)
	return c.done()
}

// Read is what an agent read of the conversation's files by one call of a tool.
type Read struct {
	Tool   string `json:"tool"`
	Path   string `json:"path,omitempty"` // as the agent named it
	Text   string `json:"text,omitempty"` // what it searched for
	From   int    `json:"from,omitempty"` // lines of a file; 0: none were shown
	To     int    `json:"to,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// Lines names the lines of a file that were shown; "": none were.
func (r Read) Lines() string {
	if r.To == 0 {
		return ""
	}
	return NumbersOf([]Lines{{From: r.From, To: r.To}}, false)
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

// ReasonNoAgent says that the settings don't contain the conversation's agent.
const ReasonNoAgent aggregate.Reason = "agent_not_found"

// Unanswered returns a sentence for people: why the agent did not answer, and what they can do now. It returns false
// for a reason that has its sentence in another package.
func Unanswered(locale string, why aggregate.Reason) (sentence string, known bool) {
	sentence, known = wordsOf.In(locale).Unanswered[why]
	return sentence, known
}

// InOrder returns messages in the order in which the agent is shown them. Once an answer is made, what it was shown
// keeps its order, so that what vendors have cached of a request is the beginning of the next. Before each answer stand
// what the system had said by then and, last, the messages that it answers; what came while it was made comes after it,
// although it has an earlier key. now are the messages that are answered now.
func InOrder(before, now []Message) []Message {
	all := slices.Concat(before, now)
	slices.SortFunc(all, func(a, b Message) int { return cmp.Compare(a.Key(), b.Key()) })
	answered, answers := map[string]string{}, []Message(nil) // by key, the key of the answer
	for _, m := range now {
		answered[m.Key()] = LastKey
	}
	for _, m := range all {
		if !m.answers() {
			continue
		}
		answers = append(answers, m)
		for _, key := range slices.Concat(m.Answers, m.Late) {
			answered[key] = m.Key()
		}
	}
	type place struct {
		turn string // key of the answer with which its turn ends
		rank int
	}
	places := map[string]place{}
	for _, m := range all {
		key := m.Key()
		switch by := answered[key]; {
		case by != "":
			places[key] = place{by, 1}
		case m.answers():
			places[key] = place{key, 2}
		default:
			places[key] = place{turnOf(m, answers), 0}
		}
	}
	slices.SortStableFunc(all, func(a, b Message) int {
		x, y := places[a.Key()], places[b.Key()]
		return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.rank, y.rank))
	})
	return all
}

// LastKey is greater than any message's key: it stands for the answer that is made now.
const LastKey = "~"

// answers reports whether a message answers others: the agent's do, and those of the system that say what they answer.
func (m Message) answers() bool { return m.Sender == FromAgent || m.Answers != nil }

// turnOf returns the key of the first answer that was made after a message was said.
func turnOf(m Message, answers []Message) string {
	for _, x := range answers {
		if m.Key() <= cmp.Or(x.Shown, x.Key()) {
			return x.Key()
		}
	}
	return LastKey
}
