package conversation

import (
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Head is the head row of a conversation.
type Head struct {
	aggregate.Head
	SessionID string `json:"session_id"`
	// Resting says that no run is open. A Change opens the next run when there is something to do.
	Resting bool `json:"resting,omitempty"`
	// PausedUntil is until when no run is opened because Lambda had no capacity.
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	// Acting is the id of the executing action. The invocation that executes it checks only this field to find out
	// whether to stop.
	Acting string `json:"acting,omitempty"`
	// ForgottenAt is when a closed conversation that is not kept counts as gone, even if rows are left. The head is
	// never deleted, so that its thread always has the same conversation.
	ForgottenAt *time.Time `json:"forgotten_at,omitempty"`
	// ForgettingAt is since when nothing is decided on the conversation, so that all of it can be deleted but for what was
	// stamped. ErasedAt is when that was done.
	ForgettingAt *time.Time `json:"forgetting_at,omitempty"`
	ErasedAt     *time.Time `json:"erased_at,omitempty"`
}

// Forgotten reports whether the conversation counts as gone.
func (h *Head) Forgotten(now time.Time) bool {
	return h.ForgettingAt != nil || h.ForgottenAt != nil && !now.Before(*h.ForgottenAt)
}

func (h *Head) ID() string              { return h.SessionID }
func (h Head) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Conversation is a conversation with one agent in one Slack thread.
type Conversation struct {
	aggregate.Meta
	ID              string    `json:"session_id"`
	TenantID        string    `json:"tenant_id"`
	AgentID         string    `json:"agent_id"`
	Status          Status    `json:"status"`
	CreatedAt       time.Time `json:"created_at"`
	LastActivityAt  time.Time `json:"last_activity_at"`
	WorkspacePath   string    `json:"workspace_path,omitempty"` // name of its work folder
	IsCached        bool      `json:"is_cached"`
	PendingActionID string    `json:"pending_action_id,omitempty"`

	TeamID      string `json:"team_id"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	ThreadTS    string `json:"thread_ts"`
	Opener      string `json:"opener"` // Slack user id
	Title       string `json:"title"`  // beginning of the first message
	// ThreadBefore is the timestamp of the first message of a conversation that began within a thread, until the agent is
	// given what was said there before.
	ThreadBefore string `json:"thread_before,omitempty"`
	Locale       string `json:"locale"`

	WorkspaceVersion string  `json:"workspace_version,omitempty"` // SHA-256 of its files' archive; empty: none
	Source           *Source `json:"source,omitempty"`            // nil: the files began empty
	// AttachmentsVersion is the version of the attachments that lie beside the files, and Attached what they are.
	AttachmentsVersion string     `json:"attachments_version,omitempty"`
	Attached           []Attached `json:"attached,omitempty"`

	Usage    aggregate.Usage `json:"usage"`
	Provider string          `json:"provider,omitempty"` // provider of the model that answered last
	// actions approved by rules since a person wrote
	Unasked  int `json:"unasked,omitempty"`
	Messages int `json:"messages"` // number of messages of agent and system
	Actions  int `json:"actions"`  // number of proposed actions
	// number of requests that wait or waited for a button
	Offered int `json:"offered,omitempty"`
	Refused int `json:"refused,omitempty"` // consecutive invalid proposals
	// authors of the messages answered since the last proposal
	Askers           []string         `json:"askers,omitempty"`
	AskedIn          []string         `json:"asked_in,omitempty"`          // keys of these messages, the newest ones
	Proposed         bool             `json:"proposed,omitempty"`          // the agent proposed an action for them
	AskedBy          string           `json:"asked_by,omitempty"`          // author of the newest of them
	AskedTS          string           `json:"asked_ts,omitempty"`          // its timestamp in Slack
	HistoryFrom      *time.Time       `json:"history_from,omitempty"`      // the agent doesn't know earlier messages
	CollapsedThrough string           `json:"collapsed_through,omitempty"` // key of the last message in the summary
	SummaryKey       string           `json:"summary_key,omitempty"`       // key of the message with the summary
	Reading          *Reading         `json:"reading,omitempty"`           // for the answer that is being made
	Error            aggregate.Reason `json:"error_code,omitempty"`
	ErrorDetail      string           `json:"error_detail,omitempty"`
	TriedError       aggregate.Reason `json:"tried_error,omitempty"` // why the last try failed; another follows
	ClosedBy         string           `json:"closed_by,omitempty"`   // Slack user id, empty for the system
	ClosedAt         *time.Time       `json:"closed_at,omitempty"`
	CloseReason      aggregate.Reason `json:"close_reason,omitempty"`
}

// From returns the message key after which the agent knows all messages; empty: it knows all. Older ones are replaced
// by a summary, or were written before the conversation was reopened.
func (s *Conversation) From() string {
	if s.CollapsedThrough == "" && s.HistoryFrom != nil {
		return aggregate.TimeText(*s.HistoryFrom)
	}
	return s.CollapsedThrough
}

// Inbox is a message, or the result of an action, that the agent has not answered.
type Inbox struct {
	aggregate.Meta
	Message   string    `json:"message"`        // key of the message
	User      string    `json:"user,omitempty"` // its author, empty for the system
	TS        string    `json:"ts,omitempty"`   // Slack's timestamp
	CreatedAt time.Time `json:"created_at"`
	// Folded says that the summary covers the message although it is unanswered, because a try failed after the summary
	// was made.
	Folded bool `json:"folded,omitempty"`
	// Changes and Deleted are copied from the message, and DeleteAfter too.
	Changes     string `json:"changes,omitempty"`
	Deleted     bool   `json:"deleted,omitempty"`
	DeleteAfter int64  `json:"delete_after,omitempty"`
}

// Message is a message of a conversation. It never changes, and is stored in a list (see aggregate.Listed).
type Message struct {
	aggregate.Unrevised
	MessageID   string       `json:"message_id"`
	SessionID   string       `json:"session_id"`
	Sender      Sender       `json:"sender"`
	Content     string       `json:"content"`
	RawTokens   int64        `json:"raw_tokens,omitempty"` // tokens of the answer
	CreatedAt   time.Time    `json:"created_at"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Forwarded are the messages that a person's message forwards.
	Forwarded []aggregate.Quoted `json:"forwarded,omitempty"`
	Collapsed bool               `json:"collapsed"` // it is a summary of older messages

	User     string           `json:"user,omitempty"`      // Slack user id
	TS       string           `json:"ts,omitempty"`        // Slack's timestamp
	ActionID string           `json:"action_id,omitempty"` // the action that it is about
	Reason   aggregate.Reason `json:"reason,omitempty"`    // for a message of the system
	Detail   string           `json:"detail,omitempty"`
	// Spoke are, for a summary, the people whose words it has and who spoke since a person last approved an action.
	Spoke []string `json:"spoke,omitempty"`
	// Own are the parts of a system message that the system itself worded; the rest is quoted. A message without any that
	// are noted is its own words but for Detail.
	Own []Span `json:"own,omitempty"`
	// Thread is what was said in the thread before the conversation.
	Thread []Earlier `json:"thread,omitempty"`
	// Request is a request that the agent wants to make, and TaskID the task that a system message is about.
	Request string `json:"request,omitempty"`
	TaskID  string `json:"task_id,omitempty"`
	// Late are keys of messages that this one answers although they are before From. The agent gets them with it.
	Late []string `json:"late,omitempty"`
	// Answers are the keys of the messages that this one answers, and Shown is the key of the newest message that the
	// agent was shown for it. See InOrder.
	Answers []string `json:"answers,omitempty"`
	Shown   string   `json:"shown,omitempty"`
	// Read is what of the conversation's files the agent read for this answer.
	Read []Read `json:"read,omitempty"`
	// Changes is the key of an earlier message of the same person, who replaced its text by this one's or, if Deleted is
	// true, deleted it.
	Changes string `json:"changes,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`

	DeleteAfter int64 `json:"delete_after,omitempty"`
}

// Span is a range of bytes in a text.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Attachment is a Slack file.
type Attachment struct {
	Kind   string `json:"kind"` // text or image; unread: it was not read
	Name   string `json:"name"`
	Type   string `json:"type,omitempty"`    // MIME type
	FileID string `json:"file_id,omitempty"` // Slack's file id
	Bytes  int64  `json:"bytes,omitempty"`
	Hash   string `json:"hash,omitempty"` // SHA-256 of the content that was read
	Why    string `json:"why,omitempty"`  // why it was not read
	Owner  string `json:"owner,omitempty"`
}

// Quotes returns whose words and files the message has beside its author's, by their Slack user ids.
func (m *Message) Quotes() []string {
	users := aggregate.AuthorsOf(m.Forwarded)
	for _, f := range m.Attachments {
		if f.Owner != "" {
			users = append(users, f.Owner)
		}
	}
	return users
}

// Action is something that an agent or a person proposes to do with the conversation's files.
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

	// Gate is the gate on which people decide. The action's own status continues after the gate's last status.
	Gate      aggregate.Gate `json:"gate"`
	CreatedAt time.Time      `json:"created_at"`
	Askers    []string       `json:"askers,omitempty"`   // authors of the messages that led to it, who count as requesters
	AskedIn   []string       `json:"asked_in,omitempty"` // keys of these messages; empty: a person proposed it
	Rule      string         `json:"rule,omitempty"`     // the rule that approved it
	Summary   string         `json:"summary,omitempty"`

	TimeoutSeconds int `json:"timeout_seconds"`
	// Tool and Access repeat a tool_call's payload, and CallResult is what its call returned, as the agent is given it.
	// It is never in the row, which outlives the conversation.
	Tool       string           `json:"tool,omitempty"`
	Access     aggregate.Access `json:"access,omitempty"`
	CallResult *aggregate.Blob  `json:"call_result,omitempty"`
	Pushed     *Pushed          `json:"pushed,omitempty"` // of a pull request
	// Base is the version of the files for which it was proposed. AttachmentsVersion is that of the attachments beside
	// Base, as the payload says.
	AttachmentsVersion string           `json:"attachments_version,omitempty"`
	Base               string           `json:"base,omitempty"`
	Version            string           `json:"version,omitempty"`       // of the files that it left
	NotTaken           bool             `json:"not_taken,omitempty"`     // the conversation did not take these files
	Changed            *FilesChanged    `json:"changed_files,omitempty"` // what it changed, once it has ended
	Claim              *aggregate.Claim `json:"claim,omitempty"`
	NotBegun           int              `json:"not_begun,omitempty"` // how often no sandbox could be started
	Outcome            Outcome          `json:"outcome,omitempty"`
	Error              aggregate.Reason `json:"error_code,omitempty"`
	ExitCode           *int             `json:"exit_code,omitempty"`
	Tests              *Tests           `json:"tests,omitempty"` // that a test run says it ran
	CancelledBy        string           `json:"cancelled_by,omitempty"`
	CancelReason       aggregate.Reason `json:"cancel_reason,omitempty"`
	Lines              int              `json:"lines"`          // lines of output
	Dropped            int              `json:"dropped"`        // lines that were not kept
	Late               *Result          `json:"late,omitempty"` // its result, if that came after the cancellation
	tail               string           // end of the output, for the message about the result
	detail             []Piece          // ErrorDetail by who said it; nil: not known
	DeleteAfter        int64            `json:"delete_after,omitempty"` // never set for an approved action
}

// LogEntry is a line of an action's output, stored in a list of its own.
type LogEntry struct {
	aggregate.Unrevised
	LogID       string    `json:"log_id"`
	ActionID    string    `json:"action_id"`
	Order       int       `json:"order_index"` // of the line in the whole output, from 0; lines that were dropped count
	Text        string    `json:"text"`
	CreatedAt   time.Time `json:"created_at"`
	DeleteAfter int64     `json:"delete_after"`
}

// Prefixes of the lists of a conversation's messages, of its actions' output, and of its archived actions.
const (
	MessagesList = "MESSAGES#"
	LogList      = "LOG#"
	ActionsList  = "ACTIONS#"
)

// MostLines limits the stored lines of an action's output; the newest are kept.
const MostLines = 500

// InboxPrefix begins the keys of unanswered messages.
const InboxPrefix = "INBOX#"

// MessageKey returns the key of a message in its list.
//
//go:noinline
func MessageKey(at time.Time, id string) string { return aggregate.TimeText(at) + "#" + id }

// TimeOf returns the time in a message's key, or in From. It is zero for an empty key.
func TimeOf(key string) time.Time {
	text, _, _ := strings.Cut(key, "#")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// ActionKey returns the key of the action with this number.
func ActionKey(number int) string { return fmt.Sprintf("ACTION#%04d", number) }

// LogKey returns the key of a line of an action's output in the list of its conversation.
func LogKey(action string, order int) string { return fmt.Sprintf("%s#%010d", action, order) }

func (s *Conversation) Key() string { return "SESSION" }
func (i *Inbox) Key() string        { return InboxPrefix + i.Message }
func (m *Message) Key() string      { return MessageKey(m.CreatedAt, m.MessageID) }
func (a *Action) Key() string       { return ActionKey(a.Number) }
func (l *LogEntry) Key() string     { return LogKey(l.ActionID, l.Order) }

func (s *Conversation) Type() string { return "session" }
func (i *Inbox) Type() string        { return "inbox" }
func (m *Message) Type() string      { return "message" }
func (a *Action) Type() string       { return "action" }
func (l *LogEntry) Type() string     { return "log" }

func (s Conversation) At(rev int) aggregate.Row { s.Rev = rev; return &s }
func (i Inbox) At(rev int) aggregate.Row        { i.Rev = rev; return &i }
func (a Action) At(rev int) aggregate.Row       { a.Rev = rev; return &a }
func (m Message) At(int) aggregate.Row          { return &m }
func (l LogEntry) At(int) aggregate.Row         { return &l }
