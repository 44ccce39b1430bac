package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// Head is the head row of a conversation.
type Head struct {
	aggregate.Head
	SessionID string `json:"session_id"`
	// Resting says that no run is open. The next one begins by a Change when there is something to do.
	Resting bool `json:"resting,omitempty"`
	// PausedUntil is the time until which no run is opened, since its functions could not be invoked.
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	// Acting is the id of the action that executes: whoever runs it asks the head alone whether it still does.
	Acting string `json:"acting,omitempty"`
	// ForgottenAt is when a conversation that is not kept, and is closed, counts as gone, whatever rows are left of it.
	// The head itself stays, so that its thread has one conversation for ever.
	ForgottenAt *time.Time `json:"forgotten_at,omitempty"`
}

// Forgotten reports whether the conversation counts as gone.
func (h *Head) Forgotten(now time.Time) bool {
	return h.ForgottenAt != nil && !now.Before(*h.ForgottenAt)
}

func (h *Head) ID() string              { return h.SessionID }
func (h Head) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Session is a conversation of people with one agent, in one thread of Slack.
type Session struct {
	aggregate.Meta
	ID              string    `json:"session_id"`
	TenantID        string    `json:"tenant_id"`
	AgentID         string    `json:"agent_id"`
	Status          Status    `json:"status"`
	CreatedAt       time.Time `json:"created_at"`
	LastActivityAt  time.Time `json:"last_activity_at"`
	WorkspacePath   string    `json:"workspace_path,omitempty"` // what its workspace is called
	IsCached        bool      `json:"is_cached"`
	PendingActionID string    `json:"pending_action_id,omitempty"`

	TeamID      string `json:"team_id"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	ThreadTS    string `json:"thread_ts"`
	Opener      string `json:"opener"` // Slack user id
	Title       string `json:"title"`  // how it began
	Locale      string `json:"locale"`
	IdleDays    int    `json:"idle_days"` // after which it closes; 0: never

	WorkspaceVersion string           `json:"workspace_version,omitempty"` // SHA-256 of its files' archive; empty: no file yet
	Usage            aggregate.Usage  `json:"usage"`
	Provider         string           `json:"provider,omitempty"`          // of the model that answered last
	Unasked          int              `json:"unasked,omitempty"`           // actions that rules approved since a person wrote
	Messages         int              `json:"messages"`                    // that agent and system wrote
	Actions          int              `json:"actions"`                     // that were proposed
	Refused          int              `json:"refused,omitempty"`           // proposals in a row that could not be made
	Askers           []string         `json:"askers,omitempty"`            // whose messages the agent answered last
	HistoryFrom      *time.Time       `json:"history_from,omitempty"`      // what was said before is not the agent's to know
	CollapsedThrough string           `json:"collapsed_through,omitempty"` // key of the last message that the summary stands for
	SummaryKey       string           `json:"summary_key,omitempty"`       // key of the message that is the summary
	Error            aggregate.Reason `json:"error_code,omitempty"`
	ErrorDetail      string           `json:"error_detail,omitempty"`
	TriedError       aggregate.Reason `json:"tried_error,omitempty"` // why the last try of the answer under way came to nothing; another follows
	ClosedBy         string           `json:"closed_by,omitempty"`   // Slack user id, empty for the system
	ClosedAt         *time.Time       `json:"closed_at,omitempty"`
	CloseReason      aggregate.Reason `json:"close_reason,omitempty"`
	DeleteAfter      int64            `json:"delete_after,omitempty"`
}

// From is a key of the messages' list: the agent knows the messages after it. A summary stands for the older ones, or
// they were written before the conversation began anew. Empty: the agent knows all messages.
func (s *Session) From() string {
	if s.CollapsedThrough == "" && s.HistoryFrom != nil {
		return aggregate.TimeText(*s.HistoryFrom)
	}
	return s.CollapsedThrough
}

// Inbox is something that the agent has not answered: a message, or what became of an action.
type Inbox struct {
	aggregate.Meta
	Message   string    `json:"message"`        // its key
	User      string    `json:"user,omitempty"` // who wrote it, empty for the system
	TS        string    `json:"ts,omitempty"`   // Slack's
	CreatedAt time.Time `json:"created_at"`
	// Folded says that the conversation's summary stands for the message, though it is not answered: a try came to nothing
	// after it.
	Folded bool `json:"folded,omitempty"`
	// DeleteAfter is that of the message, where the conversation is not kept.
	DeleteAfter int64 `json:"delete_after,omitempty"`
}

// Message is one of a conversation's. It never changes, and stands in a list beside the session.
type Message struct {
	MessageID   string       `json:"message_id"`
	SessionID   string       `json:"session_id"`
	Sender      Sender       `json:"sender"`
	Content     string       `json:"content"`
	RawTokens   int64        `json:"raw_tokens,omitempty"` // that an answer took
	CreatedAt   time.Time    `json:"created_at"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Collapsed   bool         `json:"collapsed"` // it is a summary of older ones

	User     string           `json:"user,omitempty"`      // Slack user id
	TS       string           `json:"ts,omitempty"`        // Slack's
	ActionID string           `json:"action_id,omitempty"` // that it is about
	Reason   aggregate.Reason `json:"reason,omitempty"`    // of what the system says
	Detail   string           `json:"detail,omitempty"`
	Through  string           `json:"through,omitempty"` // of a summary: key of the last message that it stands for
	// Own are the parts of a system's message about an action that are the system's own words: between them stand others'.
	// Rows of earlier releases have none.
	Own []Span `json:"own,omitempty"`
	// Refused are what the agent proposed beside its action: it is told that they were not taken.
	Refused []RefusedProposal `json:"refused,omitempty"`
	// Late are keys of messages that this one answers though they stand before From: the agent knows them beside it.
	Late []string `json:"late,omitempty"`

	DeleteAfter int64 `json:"delete_after,omitempty"`
}

// Span is a part of a text, in bytes.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Attachment is a file of Slack's, a link, or code.
type Attachment struct {
	Kind   string `json:"kind"` // text, image, link, code; unread: nothing of it was read
	Name   string `json:"name"`
	Type   string `json:"type,omitempty"`    // MIME type
	FileID string `json:"file_id,omitempty"` // Slack's
	URL    string `json:"url,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Hash   string `json:"hash,omitempty"` // SHA-256 of what was read
	S3Key  string `json:"s3_key,omitempty"`
	Why    string `json:"why,omitempty"` // it was not read
}

// RefusedProposal is a proposal that made no action: a message proposes one at most.
type RefusedProposal struct {
	ActionType ActionType `json:"action_type"`
	Payload    string     `json:"payload_json,omitempty"` // not of a large one: its summary stands for it
	Summary    string     `json:"summary,omitempty"`
}

// Action is something that an agent, or a person, wants to have done in the conversation's workspace.
type Action struct {
	aggregate.Meta
	Number        int            `json:"number"` // within the conversation
	ActionID      string         `json:"action_id"`
	SessionID     string         `json:"session_id"`
	ActionType    ActionType     `json:"action_type"`
	Payload       aggregate.Blob `json:"payload_json"`
	Status        ActionStatus   `json:"status"`
	RequestedBy   RequestedBy    `json:"requested_by"`
	ApprovedBy    ApprovedBy     `json:"approved_by,omitempty"`
	StartedAt     *time.Time     `json:"started_at,omitempty"`
	CompletedAt   *time.Time     `json:"completed_at,omitempty"`
	ResultSummary string         `json:"result_summary,omitempty"`
	ErrorDetail   string         `json:"error_detail,omitempty"`

	// Gate is what people decide on. It stands apart from the row's own status, which goes on where the gate's ends.
	Gate      aggregate.Gate `json:"gate"`
	CreatedAt time.Time      `json:"created_at"`
	Askers    []string       `json:"askers,omitempty"` // whose messages led to it: who may not approve their own requests is one of them
	Rule      string         `json:"rule,omitempty"`   // that approved it
	Summary   string         `json:"summary,omitempty"`

	TimeoutSeconds int              `json:"timeout_seconds"`
	BaseVersion    string           `json:"base_version,omitempty"` // of the workspace, fixed by the claim
	Version        string           `json:"version,omitempty"`      // of the workspace that it left
	Claim          *Claim           `json:"claim,omitempty"`
	NotBegun       int              `json:"not_begun,omitempty"` // times that a sandbox could not be had
	Outcome        Outcome          `json:"outcome,omitempty"`
	Error          aggregate.Reason `json:"error_code,omitempty"`
	ExitCode       *int             `json:"exit_code,omitempty"`
	CancelledBy    string           `json:"cancelled_by,omitempty"`
	CancelReason   aggregate.Reason `json:"cancel_reason,omitempty"`
	Lines          int              `json:"lines"`          // of output
	Dropped        int              `json:"dropped"`        // of them that are kept no more
	Held           []string         `json:"held,omitempty"` // the isolation that held while it ran
	Late           *Result          `json:"late,omitempty"` // what it came to after it had been cancelled
	tail           string           // of its output, for what is said about it
	DeleteAfter    int64            `json:"delete_after,omitempty"` // never of one that was approved
}

// Claim gives one invocation the right to execute an action until LeaseUntil.
type Claim struct {
	Invocation string    `json:"invocation"`
	LeaseUntil time.Time `json:"lease_until"`
}

// LogEntry is a line of an action's output. It stands in a list of its own.
type LogEntry struct {
	LogID       string    `json:"log_id"`
	ActionID    string    `json:"action_id"`
	Order       int       `json:"order_index"` // from 0
	Text        string    `json:"text"`
	Err         bool      `json:"stderr,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	DeleteAfter int64     `json:"delete_after"`
}

// The lists that stand beside a conversation: what was said, and what its actions did that have left its partition; and
// beside an action, its output.
const (
	MessagesList = "MESSAGES#"
	LogList      = "LOG#"
	ActionsList  = "ACTIONS#"
)

// MostLines is how many lines of an action's output are kept, the newest.
const MostLines = 500

// InboxPrefix begins the keys of unanswered messages.
const InboxPrefix = "INBOX#"

// MessageKey is the key of a message in its list.
func MessageKey(at time.Time, id string) string { return aggregate.TimeText(at) + "#" + id }

// ActionKey is the key of the action with this number.
func ActionKey(number int) string { return fmt.Sprintf("ACTION#%04d", number) }

// LogKey is the key of a line in its list.
func LogKey(order int) string { return fmt.Sprintf("%010d", order) }

func (s *Session) Key() string  { return "SESSION" }
func (i *Inbox) Key() string    { return InboxPrefix + i.Message }
func (m *Message) Key() string  { return MessageKey(m.CreatedAt, m.MessageID) }
func (a *Action) Key() string   { return ActionKey(a.Number) }
func (l *LogEntry) Key() string { return LogKey(l.Order) }

func (s *Session) Type() string  { return "session" }
func (i *Inbox) Type() string    { return "inbox" }
func (m *Message) Type() string  { return "message" }
func (a *Action) Type() string   { return "action" }
func (l *LogEntry) Type() string { return "log" }

// Revision of what stands in a list is 0: it is put where it is absent, and never again.
func (m *Message) Revision() int  { return 0 }
func (l *LogEntry) Revision() int { return 0 }

func (s Session) At(rev int) aggregate.Row { s.Rev = rev; return &s }
func (i Inbox) At(rev int) aggregate.Row   { i.Rev = rev; return &i }
func (a Action) At(rev int) aggregate.Row  { a.Rev = rev; return &a }
func (m Message) At(int) aggregate.Row     { return &m }
func (l LogEntry) At(int) aggregate.Row    { return &l }
