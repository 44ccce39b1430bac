package conversation

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// Decision is a Decision on a conversation.
type Decision = aggregate.Decision[*Aggregate]

type change struct {
	aggregate.Draft
	Head         Head         // as it will be written
	Conversation Conversation // as it will be written, by done
	of           *Aggregate
	said         int      // number of messages in this Change
	drawn        int      // number of cards in this Change
	late         []string // keys of messages that this Change answers although they are before From
	answers      []string // keys of all messages that it answers
}

// begin opens a change at now, or just after the conversation's last change if that is later. It fails with
// aggregate.ErrConflict if the rows come from two commits, and with aggregate.ErrNotFound if the conversation is being
// forgotten.
func (a *Aggregate) begin(now time.Time) *change {
	c := &change{Head: a.Head, of: a}
	if a.Head.ForgettingAt != nil {
		c.Fail(aggregate.ErrNotFound)
	}
	c.Now = a.Head.Moment(now)
	c.Head.ChangedAt = c.Now
	if a.Conversation == nil {
		c.Fail(fmt.Errorf("the session's row is not there: %w", aggregate.ErrConflict))
		return c
	}
	c.Conversation = *a.Conversation
	// The last action is never archived.
	if n := a.Conversation.Actions; n > 0 && aggregate.Find(a.Actions, ActionKey(n)) == nil {
		c.Fail(fmt.Errorf("action %d is not there: %w", n, aggregate.ErrConflict))
	}
	return c
}

// done returns the finished Change, or the first error.
func (c *change) done() (aggregate.Change, error) {
	head, session := c.Head, c.Conversation
	return c.Done(&head, &session)
}

// active records activity of a person or the agent.
func (c *change) active() { c.Conversation.LastActivityAt = c.Now }

// progress resets the count of restarts.
func (c *change) progress() { c.Head.Restarts = 0 }

// to changes the conversation's status, or keeps it.
func (c *change) to(s Status) {
	if is := c.Conversation.Status; is != s && !Moves.Allows(is, s) {
		c.Fail(fmt.Errorf("session %s cannot become %s: %w", is, s, aggregate.ErrConflict))
	}
	c.Conversation.Status = s
}

// move writes an action's next status after fill has edited its row, and returns the row.
func (c *change) move(x *Action, to ActionStatus, fill func(n *Action)) *Action {
	if !ActionMoves.Allows(x.Status, to) {
		c.Fail(fmt.Errorf("action %s: %s cannot become %s: %w", x.ActionID, x.Status, to, aggregate.ErrConflict))
	}
	n := *x
	n.Status = to
	fill(&n)
	if n.Gate.Status != x.Gate.Status {
		if err := n.Gate.Walked(); err != nil {
			c.Fail(err)
		}
	}
	c.Put(&n)
	return &n
}

// settle changes the status of the action's gate if it still waits.
func (n *Action) settle(to aggregate.GateStatus) {
	if aggregate.GateMoves.Allows(n.Gate.Status, to) {
		n.Gate.Status = to
	}
}

// keep returns when a conversation's messages expire, in Unix seconds, or 0 if the conversation is kept.
func (s *Conversation) keep(now time.Time) int64 {
	if s.IsCached {
		return 0
	}
	return now.Add(keptDays * 24 * time.Hour).Unix()
}

const (
	// forgetAfter is how long a closed conversation stays visible if it is not kept.
	forgetAfter = 24 * time.Hour
	// keptDays is for how long messages stay in the table at least, also of a conversation that lasts for weeks.
	keptDays = 91
)

// say adds a message from the agent or the system.
func (c *change) say(m Message) *Message {
	m.SessionID, m.CreatedAt = c.Conversation.ID, c.Now.Add(time.Duration(c.said)*time.Millisecond)
	m.MessageID = uuid("said", c.Conversation.ID, fmt.Sprint(c.Conversation.Messages))
	m.DeleteAfter = c.Conversation.keep(c.Now)
	c.said++
	c.Conversation.Messages++
	if c.said > 1 { // later messages of a Change have later times, and the next Change must follow them
		c.Head.ChangedAt = m.CreatedAt
	}
	c.Beside = append(c.Beside, aggregate.Listed{List: MessagesList, Of: c.Conversation.ID, Row: &m})
	return &m
}

// post adds a message of the system, and its card.
func (c *change) post(m Message) { c.card(CardMessage, MessageSubject(c.say(m).Key(), 0)) }

// tell adds a message to the inbox, for the agent to answer.
func (c *change) tell(m *Message) { c.Put(m.waits()) }

// waits returns the row of the message in the inbox.
func (m *Message) waits() *Inbox {
	return &Inbox{Message: m.Key(), User: m.User, TS: m.TS, CreatedAt: m.CreatedAt, DeleteAfter: m.DeleteAfter,
		Changes: m.Changes, Deleted: m.Deleted}
}

// card adds a row for a card that shows subject. The card updater posts its message later. Cards are posted in the
// order of CreatedAt.
func (c *change) card(typ aggregate.CardType, subject string) {
	card := &aggregate.Card{
		ID: aggregate.Derive(c.Now, "card", c.Conversation.ID, string(typ),
			subject), AggregateID: c.Conversation.ID, CardType: typ, Subject: subject,
		Channel: c.Conversation.Channel, State: aggregate.CardNone,
		CreatedAt: c.Now.Add(time.Duration(c.drawn) * time.Millisecond),
	}
	if typ == CardAction { // the agent's text is posted before its action
		card.CreatedAt = card.CreatedAt.Add(mostParts * time.Millisecond)
	}
	c.drawn++
	if c.of.Card(card.Key()) == nil {
		c.Put(card)
	}
}

// auditAction adds an audit entry about an action. Where no act on its gate ended it, the entry says that no rule chose
// a route, so that a receipt can't show one.
func (c *change) auditAction(by aggregate.Actor, as aggregate.Action, x *Action, details map[string]any) {
	details = maps.Clone(details)
	if details == nil {
		details = map[string]any{}
	}
	details["type"], details["hash"] = x.ActionType, x.Payload.Hash()
	if as == AuditCancelled || as == AuditExpired {
		details["gate"] = map[string]any{}
	}
	c.Record(&c.Head, by, as, "action", x.ActionID, details)
}

// Audit actions for conversations.
const (
	AuditOpened    aggregate.Action = "session.opened"
	AuditClosed    aggregate.Action = "session.closed"
	AuditReopened  aggregate.Action = "session.reopened"
	AuditFailing   aggregate.Action = "session.failed" // its agent can't answer
	AuditProposed  aggregate.Action = "action.proposed"
	AuditApproved  aggregate.Action = "action.approved"
	AuditExpired   aggregate.Action = "action.expired"
	AuditCancelled aggregate.Action = "action.cancelled"
	AuditStarted   aggregate.Action = "action.started"
	AuditRouted    aggregate.Action = "action.routed" // its gate opened under a rule
	AuditCompleted aggregate.Action = "action.completed"
	AuditFailed    aggregate.Action = "action.failed"
	AuditLate      aggregate.Action = "action.late" // a result after the action was cancelled or counted as unknown
)

// Reasons why something ended, failed or was not done. Cards and pages have a sentence for each.
const (
	ReasonClosed      aggregate.Reason = "closed" // by a person
	ReasonIdle        aggregate.Reason = "idle"
	ReasonRejected    aggregate.Reason = "rejected"
	ReasonExpired     aggregate.Reason = "expired"
	ReasonBase        aggregate.Reason = "files_moved"
	ReasonWithdrawn   aggregate.Reason = "withdrawn"          // by a person
	ReasonDeleted     aggregate.Reason = "message_deleted"    // the message that it came of
	ReasonUnknown     aggregate.Reason = "action_unknown"     // nobody knows what it did
	ReasonInterrupted aggregate.Reason = "action_interrupted" // it did nothing
	ReasonReadCutOff  aggregate.Reason = "read_interrupted"   // a tool that only reads was called, and did nothing
	ReasonNotBegun    aggregate.Reason = "sandbox_unavailable"
	ReasonRunFailed   aggregate.Reason = "run_failed" // several tries failed
	ReasonExit        aggregate.Reason = "exit_code"
	ReasonTimeout     aggregate.Reason = "timeout"
	ReasonChanged     aggregate.Reason = "payload_changed" // it is not what was approved
	ReasonUnread      aggregate.Reason = "payload_unread"

	// Error codes in structured logs.
	CodeAgentNotFound   = "AGENT_NOT_FOUND"
	CodeSessionNotFound = "SESSION_NOT_FOUND"
	CodeValidation      = "VALIDATION_ERROR"
	CodeMissingCommand  = "MISSING_COMMAND"
)

// Event is the event that a log line reports.
type Event string

const (
	EventMessage   Event = "message"
	EventStarted   Event = "action_started"
	EventCompleted Event = "action_completed"
	EventChunk     Event = "chunk_received"
)

// Events lists all events.
var Events = []Event{EventMessage, EventStarted, EventCompleted, EventChunk}

// Log writes one line with the fields that every log line of a conversation has. Without an action, actionId is null.
// Log lines never contain message text.
func Log(ctx context.Context, event Event, session, agent, action string, more ...any) {
	slog.InfoContext(ctx, string(event), fields(event, session, agent, action, more)...)
}

// LogError logs an error with its code and a text for operators. People get a friendlier text.
func LogError(ctx context.Context, event Event, session, agent, action, code, message string, more ...any) {
	slog.ErrorContext(ctx, string(event), append(fields(event, session, agent, action, more), "errorCode", code,
		"errorMessage", message)...)
}

func fields(event Event, session, agent, action string, more []any) []any {
	var of any
	if action != "" {
		of = action
	}
	return append([]any{"sessionId", session, "agentId", agent, "actionId", of, "event", string(event)}, more...)
}

// Seen reports whether people saw what the action writes before they approved it.
func (x *Action) Seen() bool { return x.ActionType == CodeGenerate && x.ApprovedBy == ApprovedByUser }

// ReasonFilesLost says that an action could not begin because the files on which it works were deleted.
const ReasonFilesLost aggregate.Reason = "files_lost"

// Versions returns the versions of the conversation's files and attachments that must not expire: the current ones, the
// source's, and those on which each action works that is not over.
func (a *Aggregate) Versions() []string {
	var out []string
	add := func(version string) {
		if version != "" && !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	if a.Conversation != nil {
		add(a.Conversation.WorkspaceVersion)
		add(a.Conversation.AttachmentsVersion)
		if s := a.Conversation.Source; s != nil {
			add(s.Version)
		}
	}
	for _, x := range a.Actions {
		if !x.Status.Over() {
			add(x.AttachmentsVersion)
			add(x.Base)
		}
	}
	return out
}

// lose goes on with an empty folder if this version of the conversation's files, which turned out to be deleted, is the
// current one, and tells people.
func (c *change) lose(version string) {
	if version == "" || c.Conversation.WorkspaceVersion != version {
		return
	}
	c.Conversation.WorkspaceVersion = ""
	m := Message{Sender: FromSystem}
	m.own(wordsOf.In(c.Conversation.Locale).Lost)
	c.post(m)
}
