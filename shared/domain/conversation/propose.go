package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// ErrType says that the agent may not propose actions of this type, or that the type is unknown.
type ErrType struct{ Type ActionType }

func (e ErrType) Error() string {
	return fmt.Sprintf("actions of type %.40q are not supported", string(e.Type))
}

// ErrPending says that another action waits or is under way. A conversation has only one at a time.
var ErrPending = fmt.Errorf("another action waits for a decision or is under way: %w", aggregate.ErrInFlight)

// ErrBase says that the conversation's files are not those for which an action was proposed.
var ErrBase = errors.New("the conversation's files are not those for which the action was proposed")

// Proposal is an action that an agent or a person proposes. Its payload has been validated.
type Proposal struct {
	Type    ActionType
	Payload aggregate.Blob // in the form of Payload.JSON
	Seconds int            // its timeout
	Plan    int            // how many commands it runs, if it runs several
	Summary string         // its purpose in the agent's words
	On                     // for which it was made, as the payload says
	Authors []string       // whose words it has beside those of who proposes it; see Own
	Terms   aggregate.Terms
	Rule    string // the rule that approves it, if one does
	// Opening is the rule and the route under which people are asked; nil: none, so one stamp suffices. Rows are those of
	// the tenant on which it depends beside the settings.
	Opening *aggregate.Opening
	Rows    []aggregate.Owned
	// LookUp is the rule whose people must be looked up first; nil: they are known, or there is no rule.
	LookUp *LookUp
	// Tool and Access are those of a tool_call.
	Tool   string
	Access aggregate.Access
	// Push is that of a tool_call that opens a pull request.
	Push *Push
}

// propose creates the action and its card, and returns the action's id.
func (c *change) propose(p Proposal, as RequestedBy, by aggregate.Actor) (id string) {
	switch {
	case c.of.Current() != nil:
		c.Fail(ErrPending)
	case c.of.FilesLost():
		c.Fail(ErrFilesLost)
	}
	if p.On != c.Conversation.On() {
		c.Fail(ErrBase)
	}
	own, in := "", []string(nil)
	if as == RequestedByUser {
		own = by.ID
	} else {
		c.Conversation.Proposed, in = true, c.Conversation.AskedIn
	}
	askers, route := c.proposedBy(own, p.Authors)
	c.Conversation.Actions++
	x := &Action{
		Number: c.Conversation.Actions, SessionID: c.Conversation.ID, ActionType: p.Type, Payload: p.Payload,
		Status: ActionPending, RequestedBy: as,
		CreatedAt: c.Now, Summary: p.Summary, TimeoutSeconds: p.Seconds, Plan: p.Plan,
		Base: p.Base, Askers: askers, AskedIn: in, RouteAskers: route,
		Tool: p.Tool, Access: p.Access, AttachmentsVersion: p.Attachments,
		Gate: aggregate.Gate{Status: aggregate.PendingApproval, Terms: p.Terms, AskedAt: &c.Now},
	}
	x.ActionID = aggregate.Derive(c.Now, "action", c.Head.TenantID, c.Conversation.ID, x.Key())
	if p.Push != nil {
		x.Pushed = &Pushed{Repository: p.Push.Repository, Base: p.Push.Commit, Branch: BranchOf(x.SessionID, x.ActionID)}
	}
	if !c.Conversation.onCommit(x.Pushed) {
		c.Fail(ErrBase)
	}
	c.under(p.Terms.SettingsRev)
	c.Owned = append(c.Owned, p.Rows...)
	c.card(CardAction, x.Key())
	c.auditAction(by, AuditProposed, x, map[string]any{"number": x.Number, "requested_by": as})
	asks := p.Rule == "" || p.Opening != nil || p.LookUp != nil || c.Conversation.Unasked >= mostUnasked
	switch {
	case p.LookUp != nil:
		x.lookUp(*p.LookUp)
	case p.Opening != nil:
		c.open(x, *p.Opening)
	default:
		c.open(x, aggregate.BySettings(asks, c.of.AskersOf(x)...))
	}
	if asks {
		c.Put(x)
		c.Conversation.PendingActionID = x.ActionID
		return x.ActionID
	}
	if !x.mayGoUnasked() { // a second check, independent of the caller's
		c.Fail(ErrType{x.ActionType})
	}
	x.Rule = p.Rule
	c.Conversation.Unasked++
	c.move(x, ActionApproved, func(n *Action) {
		n.Payload = c.lasting(n.Payload)
		g, err := n.Gate.Unasked(c.Now)
		if err != nil {
			c.Fail(err)
		}
		n.Gate, n.ApprovedBy = g, ApprovedByAuto
		n.settle(aggregate.Approved)
	})
	c.auditAction(aggregate.System(), AuditApproved, x, map[string]any{"rule": p.Rule})
	return x.ActionID
}

// Propose creates a person's own proposal, which waits for a decision like an agent's. The agent is told of it with the
// next messages. It changes nothing if the same person's same proposal is the open one, as when a form is sent twice.
func (a *Aggregate) Propose(p Proposal, by aggregate.Actor, policy aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	if err := policy.Request(by); err != nil {
		return aggregate.Change{}, err
	}
	if x := a.Current(); x != nil && x.RequestedBy == RequestedByUser && slices.Equal(x.Askers, []string{by.ID}) &&
		x.ActionType == p.Type && x.Payload.Hash() == p.Payload.Hash() {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	if c.Conversation.Status == Closed {
		c.Fail(aggregate.ErrDecided{Status: string(Closed), By: c.Conversation.ClosedBy, At: *c.Conversation.ClosedAt,
			Reason: c.Conversation.CloseReason})
	}
	c.active()
	c.proposeOwn(p, by)
	return c.done()
}

// calledOf returns what people call an action of this proposal.
func calledOf(p Proposal, locale string) string {
	if name := agent.Called(locale)[p.Type]; name != "" {
		return name
	}
	return string(p.Type)
}

// proposeOwn makes a person's own action, and tells the agent of it with the next messages.
func (c *change) proposeOwn(p Proposal, by aggregate.Actor) {
	p.Rule = ""
	id := c.propose(p, RequestedByUser, by)
	m := Message{Sender: FromSystem, ActionID: id}
	m.own(fmt.Sprintf(said.In(c.Conversation.Locale).ownProposal, c.Conversation.Actions,
		calledOf(p, c.Conversation.Locale)))
	m.quote(p.Summary)
	m.quote(legible.FirstBytes(string(p.Payload.JSON), maxSurplus))
	c.say(m)
}

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
