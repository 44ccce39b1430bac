package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
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
	Summary string         // its purpose in the agent's words
	On                     // for which it was made, as the payload says
	Terms   aggregate.Terms
	Rule    string // the rule that approves it, if one does
	// Tool and Access are those of a tool_call.
	Tool   string
	Access aggregate.Access
	// Push is that of a tool_call that opens a pull request.
	Push *Push
}

// propose creates the action and its card, and returns the action's id.
func (c *change) propose(p Proposal, as RequestedBy, by aggregate.Actor) (id string) {
	if c.of.Current() != nil {
		c.Fail(ErrPending)
	}
	if p.On != c.Conversation.On() {
		c.Fail(ErrBase)
	}
	askers, in := c.Conversation.Askers, c.Conversation.AskedIn
	if c.Conversation.Proposed = true; as == RequestedByUser {
		c.Conversation.Proposed, askers, in = c.of.Conversation.Proposed, []string{by.ID}, nil
	}
	c.Conversation.Actions++
	x := &Action{
		Number: c.Conversation.Actions, SessionID: c.Conversation.ID, ActionType: p.Type, Payload: p.Payload,
		Status: ActionPending, RequestedBy: as,
		CreatedAt: c.Now, Summary: p.Summary, TimeoutSeconds: p.Seconds,
		Base: p.Base, Askers: askers, AskedIn: in,
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
	c.Owned = append(c.Owned, tenancy.SettingsAt(p.Terms.SettingsRev))
	c.card(CardAction, x.Key())
	c.auditAction(by, AuditProposed, x, map[string]any{"number": x.Number, "requested_by": as})
	asks := p.Rule == "" || c.Conversation.Unasked >= mostUnasked
	if asks && !x.mayBeAsked() { // a second check, independent of the caller's
		c.Fail(ErrType{x.ActionType})
	}
	if c.open(x, asks); asks {
		c.Put(x)
		c.Conversation.PendingActionID = x.ActionID
		return x.ActionID
	}
	if !x.mayGoUnasked() { // the same
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
	p.Rule = ""
	m, locale := Message{Sender: FromSystem, ActionID: c.propose(p, RequestedByUser, by)}, c.Conversation.Locale
	m.own(fmt.Sprintf(wordsOf.In(locale).OwnProposal, c.Conversation.Actions, tenancy.ActionsCalled(locale)[p.Type]))
	m.quote(language.FirstBytes(string(p.Payload.JSON), mostTold))
	c.say(m)
	return c.done()
}

const (
	// OwnCommand is the field in which a person types a command that they propose.
	OwnCommand = "command"
	// usualSeconds is the time limit of such a command.
	usualSeconds = 60
	// mostTold is how many bytes of it the agent is told.
	mostTold = 4 << 10
	// MaxSummary is how long the purpose of an agent's action may be, in characters.
	MaxSummary = 300
)

// OwnCommandCalled returns the field's name.
func OwnCommandCalled(locale string) string { return wordsOf.In(locale).Own.Command }

// OtherActionOpen says that a person can't propose an action while another one is open.
func OtherActionOpen(locale string) string { return wordsOf.In(locale).Own.Open }

// Own returns the proposal of a command that a person typed, without its terms. def is the conversation's agent: a
// person may propose what the agent may. on is what there is to work on. What is wrong with the command is an
// aggregate.Problem of its field, as a sentence.
func Own(command string, def tenancy.Agent, on On, locale string) (Proposal, error) {
	p, w, wrong := Proposal{Type: ShellCommand, Seconds: usualSeconds, On: on}, wordsOf.In(locale).Own, ""
	kept, problems := Payload{Script: command, TimeoutSeconds: usualSeconds}.Complete(ShellCommand, on, nil)
	switch {
	case !def.May(ShellCommand):
		wrong = w.MayNot
	case strings.TrimSpace(command) == "":
		wrong = w.Required
	case utf8.RuneCountInString(command) > MaxScript:
		wrong = fmt.Sprintf(w.Long, MaxScript)
	case !files.IsText([]byte(command)) || problems != nil:
		wrong = w.NoText
	default:
		text := kept.JSON()
		p.Payload = aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
		return p, nil
	}
	return p, aggregate.Problem{Field: OwnCommand, Code: w.Command + ": " + wrong}
}
