package conversation

import (
	"errors"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Typed is a person's own proposal that changes files. It waits until it is held against the files as they are, which
// the function that takes the form can't read.
type Typed struct {
	aggregate.Meta
	ID        string    `json:"typed_id"` // follows from the person and the form
	User      string    `json:"user"`
	Own       Own       `json:"own"` // empty once it is over
	CreatedAt time.Time `json:"created_at"`
	// OverAt is when it became an action, or the person was told why not. The row stays for a while, so that a form that
	// comes again is known.
	OverAt *time.Time `json:"over_at,omitempty"`
}

// TypedPrefix begins the keys of people's own proposals that wait.
const TypedPrefix = "TYPED#"

func (t *Typed) Key() string             { return TypedPrefix + t.ID }
func (t *Typed) Type() string            { return "typed" }
func (t Typed) At(rev int) aggregate.Row { t.Rev = rev; return &t }

const (
	// mostTyped is how many people's proposals wait at once.
	mostTyped = 5
	// typedKnown is how long a form that comes again is known.
	typedKnown = time.Hour
	// ReasonNotProposed says that a person's own proposal did not become an action.
	ReasonNotProposed aggregate.Reason = "not_proposed"
)

// WaitingTyped returns the oldest of people's own proposals that waits, or nil.
func (a *Aggregate) WaitingTyped() (of *Typed) {
	for _, t := range a.Typed {
		if t.OverAt == nil && (of == nil || t.CreatedAt.Before(of.CreatedAt)) {
			of = t
		}
	}
	return of
}

// KnowsFiles reports whether the files are known without reading a version: there are none.
func (s *Conversation) KnowsFiles() bool { return s.WorkspaceVersion == "" && !s.wants() }

// Type keeps a person's own proposal until a run holds it against the conversation's files. The same form of the same
// person counts once. It returns ErrPending if another action or too many such proposals wait.
func (a *Aggregate) Type(form string, o Own, by aggregate.Actor, policy aggregate.Policy, now time.Time) (
	aggregate.Change, error) {
	if err := policy.Request(by); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	t := &Typed{ID: uuid("typed", c.Conversation.ID, by.ID, form), User: by.ID, Own: o, CreatedAt: c.Now}
	if aggregate.Find(a.Typed, t.Key()) != nil {
		return aggregate.Change{}, nil
	}
	wait := 0
	for _, x := range a.Typed {
		switch {
		case x.OverAt == nil:
			wait++
		case c.Now.Sub(*x.OverAt) > typedKnown:
			c.Remove(x)
		}
	}
	switch {
	case c.Conversation.Status == Closed:
		c.Fail(aggregate.ErrDecided{Status: string(Closed), By: c.Conversation.ClosedBy, At: *c.Conversation.ClosedAt,
			Reason: c.Conversation.CloseReason})
	case a.Current() != nil || wait >= mostTyped:
		c.Fail(ErrPending)
	case a.FilesLost():
		c.Fail(ErrFilesLost)
	}
	c.active()
	c.Put(t)
	return c.done()
}

// ProposeTyped makes an action of a person's own proposal, as Propose does. It returns ErrMoved if that is over, and
// what Answered returns of a proposal.
func (a *Aggregate) ProposeTyped(run int, t *Typed, p Proposal, now time.Time) (aggregate.Change, error) {
	c, err := a.ending(run, t, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	c.proposeOwn(p, aggregate.Actor{Type: aggregate.ActorUser, ID: t.User, Team: a.Conversation.TeamID})
	c.rest()
	return c.done()
}

// RefuseTyped tells the person why nothing became of their own proposal. What they typed stays beside the message on
// the page. lost is the version of the files if they turned out to be deleted.
func (a *Aggregate) RefuseTyped(run int, t *Typed, why []string, lost string, now time.Time) (aggregate.Change, error) {
	c, err := a.ending(run, t, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	c.lose(lost)
	c.tellTyped(t, strings.Join(why, "\n"))
	c.rest()
	return c.done()
}

// tellTyped tells the person why nothing became of their own proposal.
func (c *change) tellTyped(t *Typed, why string) {
	c.hears(append(slices.Clone(t.Own.Authors), t.User)...)
	own := t.Own
	m := Message{Sender: FromSystem, Reason: ReasonNotProposed, Typed: &own, For: t.User}
	m.own(saidOfTyped.In(c.Conversation.Locale).refused)
	m.quote(why)
	m.own(saidOfTyped.In(c.Conversation.Locale).kept)
	c.card(CardMessage, MessageSubject(c.say(m).Key(), 0))
}

// refuseTyped ends people's own proposals that wait while the conversation is closed, and tells them.
func (c *change) refuseTyped() {
	for _, t := range c.of.Typed {
		if t.OverAt != nil {
			continue
		}
		over := *t
		over.Own, over.OverAt = Own{}, &c.Now
		c.Put(&over)
		c.tellTyped(t, saidOfTyped.In(c.Conversation.Locale).closed)
	}
}

// ending begins a Change with which a person's own proposal that waits is over.
func (a *Aggregate) ending(run int, t *Typed, now time.Time) (*change, error) {
	if err := a.working(run); err != nil {
		return nil, err
	}
	is := aggregate.Find(a.Typed, t.Key())
	if is == nil || is.OverAt != nil {
		return nil, aggregate.ErrMoved
	}
	c := a.begin(now)
	over := *is
	over.Own, over.OverAt = Own{}, &c.Now
	c.Put(&over)
	c.progress()
	c.active()
	return c, nil
}

type wordsOfTyped struct{ refused, kept, busy, changed, failed, closed string }

var saidOfTyped = language.InEach(
	wordsOfTyped{
		refused: "この提案は、操作にできませんでした。",
		kept:    "入力した内容は、会話のページのこのメッセージに保存されています。",
		busy:    "ほかの操作が承認待ちになりました。終了してから、もう一度提案してください。",
		changed: "会話のファイルが変更されました。もう一度提案してください。",
		failed:  "Ringi の内部で問題が起きました。しばらくしてから、もう一度提案してください。",
		closed:  "会話が終了しています。会話を再開してから、もう一度提案してください。",
	},
	wordsOfTyped{
		refused: "This person’s proposal couldn’t become an action.",
		kept:    "The text they entered is saved with this message on the conversation’s page.",
		busy:    "Meanwhile, another action started waiting for approval. Propose this again once that one is done.",
		changed: "The conversation’s files have changed since. Please propose this again.",
		failed:  "Something went wrong inside Ringi. Please propose this again later.",
		closed:  "The conversation had already ended. Reopen it, then propose this again.",
	},
)

// WhyNotProposed says in words for people why ProposeTyped refused a proposal. It returns "" for an error that is no
// such refusal.
func WhyNotProposed(err error, locale string) string {
	w := saidOfTyped.In(locale)
	switch {
	case errors.Is(err, ErrPending):
		return w.busy
	case errors.Is(err, ErrBase):
		return w.changed
	case errors.Is(err, ErrFilesLost):
		return said.In(locale).lost
	}
	return ""
}
