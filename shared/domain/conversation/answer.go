package conversation

import (
	"cmp"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

const (
	// mostTogether is how many messages are answered at once. They are removed in one transaction, together with a
	// counter for each of their authors.
	mostTogether = 20
	// mostCards is how many cards of posted messages stay in the conversation's partition.
	mostCards = 20
	// mostRefused is how many consecutive proposals may be refused before the agent waits for a person.
	mostRefused = 2
	// mostUnasked is how many consecutive actions rules may approve before a person is asked. Otherwise an agent, which
	// hears of each result, could go on forever.
	mostUnasked = 10
	// mostAskedIn is how many messages without a proposal are known as those from which the next one comes.
	mostAskedIn = 100
)

// Waiting returns the messages to answer next, oldest first.
func (a *Aggregate) Waiting() []*Inbox { return a.Inbox[:min(len(a.Inbox), mostTogether)] }

// Answer is an agent's answer.
type Answer struct {
	Text     string
	Tokens   int64
	Usage    aggregate.Usage
	Proposal *Proposal
	// Refused says why the agent's proposal is invalid. The agent is told so and may answer again, up to mostRefused
	// times.
	Refused string
	// Read has the outcome of reading attached files. The messages with these files never change.
	Read []Attachment
	// Lost is the version of the conversation's files if they turned out to be deleted: it has none from now on.
	Lost string
	// Attached are the attachments, if files were added to them, and AttachmentsVersion is their version.
	Attached           []Attached
	AttachmentsVersion string
	// Unread tells people which attachments could not be read, or not whole, and why.
	Unread []Unread
	// Files is what was read of the conversation's files.
	Files []Read
	// Request is the text of a request that the agent wants to make, and Named that with people's names.
	Request, Named string
	// Shown is the key of the newest message that the agent was shown.
	Shown string
	// Summary replaces the messages up to the key Through in the agent's history.
	Summary, Through string
	// Folded are the keys of answered messages that Summary covers too.
	Folded []string
	// Spoke are the people whose words Summary has, as far as nobody approved an action since.
	Spoke []string
}

// working returns ErrSuperseded if the head names another run or the conversation is closed.
func (a *Aggregate) working(run int) error {
	switch {
	case a.Head.Run != run || a.Head.Resting:
		return aggregate.ErrSuperseded
	case a.Conversation == nil:
		return aggregate.ErrConflict
	case a.Conversation.Status == Closed:
		return aggregate.ErrSuperseded
	}
	return nil
}

// Answered records the agent's answer to the messages seen, which leave the inbox. Its proposal becomes an action that
// waits for a person, unless an administrator's rule approves it. It returns ErrPending if another action is not over,
// ErrBase if the proposal was made for other files, and ErrMoved if one of seen was answered meanwhile.
func (a *Aggregate) Answered(run int, seen []*Inbox, x Answer, now time.Time) (aggregate.Change, error) {
	c, err := a.answering(run, seen, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	c.asks(seen)
	c.to(Open) // in case it was failing
	c.Conversation.Error, c.Conversation.ErrorDetail = "", ""
	use := c.charge(x.Usage)
	c.late = slices.DeleteFunc(c.late, func(key string) bool { return slices.Contains(x.Folded, key) })
	if newestOf(seen) != nil {
		c.Conversation.Unasked = 0
	}
	c.lose(x.Lost)
	c.attach(x)
	proposed := ""
	if x.Proposal != nil {
		by := aggregate.Actor{Type: aggregate.ActorAgent, ID: c.Conversation.AgentID}
		proposed = c.propose(*x.Proposal, RequestedByAgent, by)
	}
	if x.Text != "" || proposed != "" || x.Request != "" || len(x.Read) > 0 || x.Files != nil || len(c.late) > 0 {
		answer := Message{Sender: FromAgent, Content: x.Text, RawTokens: x.Tokens, ActionID: proposed,
			Attachments: x.Read, Read: x.Files, Late: c.late, Answers: c.answers, Shown: x.Shown,
			Request: language.FirstBytes(x.Request, task.MaxText)}
		m := c.say(answer)
		if use != nil {
			use.Made = m.Key()
		}
		if x.Text != "" {
			for part := range Parts(x.Text) {
				c.card(CardMessage, MessageSubject(m.Key(), part))
			}
		}
	}
	if x.Request != "" {
		c.offer(x.Request, x.Named)
	}
	c.fold(x)
	if x.Refused == "" {
		c.Conversation.Refused = 0
	} else {
		c.Conversation.Refused++
		m := c.say(Message{Sender: FromSystem, Content: x.Refused})
		if c.Conversation.Refused <= mostRefused {
			c.tell(m)
		}
	}
	c.rest()
	return c.done()
}

// attach takes over the attachments that were laid for the answer, and tells people which could not be read.
func (c *change) attach(x Answer) {
	if x.AttachmentsVersion != "" {
		c.Conversation.Attached, c.Conversation.AttachmentsVersion = x.Attached, x.AttachmentsVersion
	}
	if len(x.Unread) == 0 {
		return
	}
	m := Message{Sender: FromSystem}
	m.own(wordsOf.In(c.Conversation.Locale).Unread)
	for _, f := range x.Unread {
		m.item(f.Name, ": "+f.Why)
	}
	c.post(m)
}

// fold saves a summary of all messages up to a key.
func (c *change) fold(x Answer) {
	if x.Summary == "" {
		return
	}
	m := c.say(Message{Sender: FromSystem, Content: x.Summary, Collapsed: true, Spoke: x.Spoke})
	c.Conversation.CollapsedThrough, c.Conversation.SummaryKey = x.Through, m.Key()
}

// Tried records a failed try that will be repeated: its cost, and the summary made for it. The messages stay
// unanswered.
func (a *Aggregate) Tried(run int, why aggregate.Reason, x Answer, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if a.Conversation.TriedError == why && x.Usage.ID == "" && x.Summary == "" {
		return aggregate.Change{}, nil
	}
	c := a.unanswered(x, now)
	c.Conversation.TriedError = why
	return c.done()
}

// Overtaken records the cost of an answer that was discarded because somebody stopped the agent, closed the
// conversation or answered first. The vendor charges for it anyway.
func (a *Aggregate) Overtaken(u aggregate.Usage, now time.Time) (aggregate.Change, error) {
	if u.ID == "" || u.Free() {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	c.charge(u)
	return c.done()
}

// answering begins a Change that answers messages.
func (a *Aggregate) answering(run int, seen []*Inbox, now time.Time) (*change, error) {
	if err := a.working(run); err != nil {
		return nil, err
	}
	if x := a.Current(); x != nil && x.Status == ActionExecuting {
		return nil, aggregate.ErrMoved
	}
	c := a.begin(now)
	for _, i := range seen {
		is := aggregate.Find(a.Inbox, i.Key())
		if is == nil {
			c.Fail(aggregate.ErrMoved)
			continue
		}
		c.Remove(is)
		c.answers = append(c.answers, is.Message)
		if is.Message <= a.Conversation.From() && !is.Folded {
			c.late = append(c.late, is.Message)
		}
	}
	c.Conversation.TriedError, c.Conversation.Reading = "", nil
	a.takeBack(c, seen)
	c.progress()
	c.active()
	c.tidy()
	return c, nil
}

// asks notes whose messages are answered. Whoever spoke since the last proposal is among them: a "thanks" by somebody
// else, after an answer in words, doesn't make an action the request of that person alone.
func (c *change) asks(seen []*Inbox) {
	s, newest := &c.Conversation, newestOf(seen)
	if newest == nil {
		return
	}
	var people, users []string
	for _, i := range seen {
		users = append(users, i.User)
	}
	in := slices.Clone(c.answers)
	if !s.Proposed {
		users, in = append(users, s.Askers...), slices.Concat(s.AskedIn, in)
	}
	for _, user := range users {
		if user != "" && !slices.Contains(people, user) {
			people = append(people, user)
		}
	}
	s.AskedIn = in[max(0, len(in)-mostAskedIn):]
	s.Askers, s.AskedBy, s.AskedTS, s.Proposed = people, newest.User, newest.TS, false
}

// rest ends the run if nothing is left to do after this Change.
func (c *change) rest() {
	head := c.Head
	after := c.of.After(aggregate.Change{Rows: append(slices.Clone(c.Rows), &c.Conversation), Drop: c.Drop,
		Head: &head}).(*Aggregate)
	c.Head.Resting = !after.work(c.Now)
}

// tidy removes the oldest cards of posted messages, so that the conversation's partition stays small.
func (c *change) tidy() {
	shown := slices.DeleteFunc(slices.Clone(c.of.Cards), func(x *aggregate.Card) bool {
		return x.CardType != CardMessage || x.State != aggregate.CardPosted || x.Hash == ""
	})
	for _, x := range shown[:min(max(0, len(shown)-mostCards), mostParts)] {
		c.Remove(x)
	}
}

// charge adds what model calls cost. It returns their row, or nil if there were none.
func (c *change) charge(u aggregate.Usage) *aggregate.Use {
	if u.ID == "" {
		return nil
	}
	use := &aggregate.Use{Usage: u, CreatedAt: c.Now}
	c.Conversation.Usage, c.Conversation.Provider = c.Conversation.Usage.Plus(u.Sum()),
		cmp.Or(u.Provider, c.Conversation.Provider)
	c.Beside = append(c.Beside, aggregate.Listed{List: MessagesList, Of: c.Conversation.ID, Row: use})
	c.Counts = append(c.Counts, tenancy.Spent(u.Cost, c.Now)...)
	return use
}

// Refusal says why messages get a fixed sentence instead of a model's answer.
type Refusal struct {
	Reason aggregate.Reason
	Detail string
	Text   string // the sentence for people and the agent
	Failed bool   // the agent or its provider is unavailable; the conversation's status says so until it answers again
	Usage  aggregate.Usage
}

// whose are the reasons for which people may not write to an agent at all. What they write ends nobody else's thread:
// they ask for nothing, and their words are not shown to the agent.
var whose = []aggregate.Reason{task.ReasonGuest, task.ReasonStranger, task.ReasonNoRow}

// Heard returns messages without those of people who may not write to an agent, and what they were told.
func Heard(said []Message) []Message {
	unheard := map[string]bool{}
	for _, m := range said {
		if m.Sender == FromSystem && slices.Contains(whose, m.Reason) {
			unheard[m.Key()] = true
			for _, key := range m.Answers {
				unheard[key] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(said), func(m Message) bool { return unheard[m.Key()] })
}

// Refused answers the messages seen with a fixed sentence.
func (a *Aggregate) Refused(run int, seen []*Inbox, r Refusal, now time.Time) (aggregate.Change, error) {
	if len(seen) > mostTogether {
		seen = seen[:mostTogether]
	}
	c, err := a.answering(run, seen, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	if !slices.Contains(whose, r.Reason) {
		c.asks(seen)
	}
	c.charge(r.Usage)
	refused := Message{Sender: FromSystem, Content: r.Text, Reason: r.Reason, Detail: r.Detail, Late: c.late,
		Answers: c.answers}
	if was := a.ReadFor(seen); was != nil { // people see what was read, although nothing came of it
		refused.Read = was.Read
	}
	c.post(refused)
	if r.Failed {
		if c.Conversation.Status != Failing {
			c.Record(&c.Head, aggregate.System(), AuditFailing, "session", c.Conversation.ID, map[string]any{"reason": r.Reason,
				"detail": r.Detail})
		}
		c.to(Failing)
		c.Conversation.Error, c.Conversation.ErrorDetail = r.Reason, r.Detail
	}
	c.rest()
	return c.done()
}

// Rest ends a run that finds nothing to do. It returns ErrMoved if there is something to do.
func (a *Aggregate) Rest(run int, now time.Time) (aggregate.Change, error) {
	switch {
	case a.Head.Run != run:
		return aggregate.Change{}, aggregate.ErrSuperseded
	case a.Head.Resting:
		return aggregate.Change{}, nil
	case a.work(now):
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	c.Head.Resting = true
	return c.done()
}

// newestOf returns the newest message among seen that a person wrote, or nil.
func newestOf(seen []*Inbox) (of *Inbox) {
	for _, i := range seen {
		if i.User != "" {
			of = i
		}
	}
	return of
}
