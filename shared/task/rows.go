package task

import (
	"fmt"
	"time"
)

// Row is one item of a task's partition that a Change writes or relies on.
type Row interface {
	// Key names the row within its task; it is the sort key in the table.
	Key() string
	// Revision is the commit that last wrote the row, 0 for a row not yet written.
	Revision() int
	at(rev int) Row
}

// Meta is what every row carries.
type Meta struct {
	Rev int `json:"rev"`
}

// Revision is the commit that last wrote the row.
func (m Meta) Revision() int { return m.Rev }

// HeadKey is the key of the head row.
const HeadKey = "HEAD"

// Head is the aggregate's heart: every Change conditions on its Rev and adds one.
// Due, shown and sweep attributes are bookkeeping, written outside of Changes.
type Head struct {
	TenantID   string    `json:"tenant_id"`
	TaskID     string    `json:"task_id"`
	Rev        int       `json:"rev"`
	LastChange string    `json:"last_change"`
	Run        int       `json:"run"`      // the fence: only this run may commit
	Restarts   int       `json:"restarts"` // runs started anew since the last progress
	Requester  string    `json:"requester"`
	CreatedAt  time.Time `json:"created_at"`
	ChangedAt  time.Time `json:"changed_at"`

	AcceptedAt  *time.Time `json:"accepted_at,omitempty"` // when it took its place; see Change.Counts
	Parked      *Parked    `json:"parked,omitempty"`
	Ended       *Ended     `json:"ended,omitempty"`
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	Retried     *Retried   `json:"retried,omitempty"`
	Retries     int        `json:"retries,omitempty"` // of the generation that the task is at

	Usage   *Usage   `json:"usage,omitempty"`   // of all models' calls for the task
	Charged []string `json:"charged,omitempty"` // ids of the newest that are in it
	Aside   int      `json:"aside,omitempty"`   // how many of the last commits only added to it

	DueAt         *time.Time `json:"due_at,omitempty"`
	ShownRev      int        `json:"shown_rev,omitempty"`
	Redraws       int        `json:"redraws,omitempty"` // how often somebody asked for the cards to be drawn anew
	DrawAt        *time.Time `json:"draw_at,omitempty"` // its place in line for Slack's pace, while cards wait for that
	SweepFailures int        `json:"sweep_failures,omitempty"`
}

// Parked says which layer's generation failed and why; a person may try again.
type Parked struct {
	Layer    Layer  `json:"layer"`
	Sentence Reason `json:"sentence"`
	Detail   string `json:"detail,omitempty"` // stands in the sentence, such as whose key is missing
}

// Retried says who asked for the generation that is running, after one had failed.
type Retried struct {
	By string    `json:"by,omitempty"` // Slack user id, empty for the system
	At time.Time `json:"at"`
}

// Ended says how a task ended. Only a failed one can begin again.
type Ended struct {
	As     TaskStatus `json:"as"`
	By     string     `json:"by,omitempty"` // Slack user id, empty for the system
	At     time.Time  `json:"at"`
	Reason Reason     `json:"reason"`
	Detail string     `json:"detail,omitempty"`
	Until  *time.Time `json:"until,omitempty"` // of a refused one: when asking again may help
}

// Request is the inbound message. It never changes.
type Request struct {
	Meta
	TeamID      string    `json:"team_id"`
	Text        string    `json:"text"`
	User        string    `json:"user"`
	Channel     string    `json:"channel"`
	ChannelType string    `json:"channel_type"` // channel, group, im, mpim
	MessageTS   string    `json:"message_ts"`
	ThreadTS    string    `json:"thread_ts"` // where the cards go: the thread's root
	Source      Source    `json:"source"`
	EventID     string    `json:"event_id"`
	CreatedAt   time.Time `json:"created_at"`
}

// Source says how a request came in.
type Source string

const (
	SourceChannel        Source = "channel"
	SourceAgentContainer Source = "agent_container" // a direct message
)

// Task is what the first layer made of the request.
type Task struct {
	Meta
	ID            string     `json:"id"`
	TenantID      string     `json:"tenant_id"`
	Title         string     `json:"title"`
	Description   string     `json:"description"`
	Priority      Priority   `json:"priority"`
	TaskType      Type       `json:"task_type"`
	Status        TaskStatus `json:"status"`
	Source        Source     `json:"source"`
	SlackChannel  string     `json:"slack_channel"`
	SlackThreadTS string     `json:"slack_thread_ts"`
	Usage         *Usage     `json:"usage,omitempty"` // of the calls that made this row; likewise below
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
}

// Priority is how pressing a task is.
type Priority string

const (
	Low    Priority = "low"
	Medium Priority = "medium"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

// Type is the kind of a task.
type Type string

const (
	TypeStandard Type = "standard"
	TypeUrgent   Type = "urgent"
)

// Terms are the settings a gate was opened under; they never change while it waits.
type Terms struct {
	ApprovalRequired bool       `json:"approval_required"`
	DecideBy         *time.Time `json:"decide_by,omitempty"`
	Executor         string     `json:"executor"`
	L4TimeoutSeconds int        `json:"l4_timeout_seconds"`
	AutoApproveTools bool       `json:"auto_approve_tools"`
	MaxVersions      int        `json:"max_versions"`
	ApprovalHours    int        `json:"approval_timeout_hours"`
	SettingsRev      int        `json:"settings_rev"`
	Locale           string     `json:"locale,omitempty"` // in which an execution's row says why it failed
}

// Verdict is how a gate was decided. Expired and cancelled gates carry none: the head says who and why.
type Verdict struct {
	ApprovedBy      string     `json:"approved_by,omitempty"` // empty with approved_at set: the system
	ApprovedAt      *time.Time `json:"approved_at,omitempty"`
	RejectedBy      string     `json:"rejected_by,omitempty"`
	RejectedAt      *time.Time `json:"rejected_at,omitempty"`
	RejectionReason string     `json:"rejection_reason,omitempty"`
}

// Prompt is one version of the policy text.
type Prompt struct {
	Meta
	ID        string     `json:"id"`
	TaskID    string     `json:"task_id"`
	Version   int        `json:"version"`
	Content   string     `json:"content"`
	Usage     *Usage     `json:"usage,omitempty"`
	Status    GateStatus `json:"status"`
	CreatedAt time.Time  `json:"created_at"`
	Terms     Terms      `json:"terms"`
	Verdict
}

// Process is one version of the steps.
type Process struct {
	Meta
	ID        string     `json:"id"`
	TaskID    string     `json:"task_id"`
	PromptID  string     `json:"prompt_id"`
	Version   int        `json:"version"`
	Steps     []Step     `json:"steps"`
	Remarks   string     `json:"remarks,omitempty"` // what became of the reasons for which earlier versions were rejected, in a model's words
	Usage     *Usage     `json:"usage,omitempty"`
	Status    GateStatus `json:"status"`
	CreatedAt time.Time  `json:"created_at"`
	Terms     Terms      `json:"terms"`
	// ApprovedHash is Hash of the steps that were stamped; what runs must have it.
	ApprovedHash string `json:"approved_hash,omitempty"`
	Verdict
}

// Gate is a step that waits for a person, with the arguments it would run with.
type Gate struct {
	Meta
	ID             string     `json:"id"`
	TaskID         string     `json:"task_id"`
	ProcessVersion int        `json:"process_version"`
	Attempt        int        `json:"attempt"`
	Order          int        `json:"order"`
	StepID         string     `json:"step_id"`
	Arguments      Blob       `json:"arguments"`
	ArgumentsHash  string     `json:"arguments_hash"`
	Status         GateStatus `json:"status"`
	CreatedAt      time.Time  `json:"created_at"`
	Terms          Terms      `json:"terms"`
	Verdict
}

// Execution is one attempt at an approved process.
type Execution struct {
	Meta
	ID             string          `json:"id"`
	TaskID         string          `json:"task_id"`
	ProcessID      string          `json:"process_id"`
	ProcessVersion int             `json:"process_version"`
	Attempt        int             `json:"attempt"`
	SessionID      string          `json:"session_id,omitempty"`
	SessionClosed  bool            `json:"session_closed,omitempty"`  // it was told to stop
	Lease          *Claim          `json:"session_lease,omitempty"`   // who polls the session; nobody: a pause
	Pauses         int             `json:"session_pauses,omitempty"`  // of the run that polls it
	SessionBudget  *MicroUSD       `json:"session_budget,omitempty"`  // what the session may spend, 0 without a limit; nil in rows from before it was kept
	SessionFailing *time.Time      `json:"session_failing,omitempty"` // since when its vendor has only put us off
	Status         ExecutionStatus `json:"status"`
	CurrentStep    int             `json:"current_step"`
	Results        []ResultEntry   `json:"results"`
	Summary        string          `json:"summary,omitempty"`
	Usage          *Usage          `json:"usage,omitempty"`      // of the summary, or of the session
	Error          Reason          `json:"error_code,omitempty"` // the column error says it in words
	ErrorDetail    string          `json:"error_detail,omitempty"`
	CancelledBy    string          `json:"cancelled_by,omitempty"`
	RetriedBy      string          `json:"retried_by,omitempty"` // who asked for this attempt
	CancelledAt    *time.Time      `json:"cancelled_at,omitempty"`
	CreatedAt      time.Time       `json:"created_at"`
	StartedAt      *time.Time      `json:"started_at,omitempty"`
	CompletedAt    *time.Time      `json:"completed_at,omitempty"` // also of a failure
	// WaitedMS is time spent on people and on dead leases; the limit excludes it.
	WaitedMS int64 `json:"waited_ms"`
	Terms    Terms `json:"terms"`
}

// ResultEntry is one line of an execution's results.
type ResultEntry struct {
	StepID      string     `json:"stepId"`
	Tool        string     `json:"tool"`
	Status      StepStatus `json:"status"`
	Result      *Blob      `json:"result,omitempty"`
	DurationMS  int64      `json:"duration_ms"`
	StartedAt   time.Time  `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at,omitempty"`
	Reused      bool       `json:"reused,omitempty"`
}

// StepResult is one step's call in one attempt.
type StepResult struct {
	Meta
	TaskID         string     `json:"task_id"`
	ProcessVersion int        `json:"process_version"`
	Attempt        int        `json:"attempt"`
	Order          int        `json:"order"`
	StepID         string     `json:"step_id"`
	Tool           string     `json:"tool"`
	Effect         Effect     `json:"effect"`
	Status         StepStatus `json:"status"`
	Claim          *Claim     `json:"claim,omitempty"`
	ToolRequest    string     `json:"wish,omitempty"`    // of a session: what the call answers
	Call           int        `json:"call"`              // n of the idempotency key
	Crashes        int        `json:"crashes,omitempty"` // calls of this attempt whose lease ran out
	Arguments      Blob       `json:"arguments"`
	Result         *Blob      `json:"result,omitempty"`
	Error          Reason     `json:"error,omitempty"`
	ErrorDetail    string     `json:"error_detail,omitempty"`
	Reused         bool       `json:"reused,omitempty"`
	StartedAt      time.Time  `json:"started_at"`
	CompletedAt    *time.Time `json:"completed_at,omitempty"`
	DurationMS     int64      `json:"duration_ms"`
}

// Claim is where a call begins: one invocation holds the step until LeaseUntil.
type Claim struct {
	Invocation string    `json:"invocation"`
	LeaseUntil time.Time `json:"lease_until"`
}

// Wait is a run that waits at a gate, with the task token that wakes it.
type Wait struct {
	Gate    string    `json:"gate"` // key of the prompt, process or gate row
	Token   string    `json:"task_token"`
	Run     int       `json:"run"`
	Entered time.Time `json:"entered"`
	Retry   int       `json:"retry"`
}

// CardType is what a card shows.
type CardType string

const (
	CardTask      CardType = "task"
	CardPrompt    CardType = "prompt"
	CardProcess   CardType = "process"
	CardExecution CardType = "execution"
	CardStep      CardType = "step" // a step gate
)

// CardState is where a card's message stands.
type CardState string

const (
	CardNone        CardState = "none"
	CardPosting     CardState = "posting"
	CardPosted      CardState = "posted"
	CardUnreachable CardState = "unreachable"
)

// Card is a Slack message that shows one row. A Change creates the row; the card
// updater alone writes it afterwards, and those writes carry no state of the task.
type Card struct {
	Meta
	ID        string     `json:"id"`
	TaskID    string     `json:"task_id"`
	CardType  CardType   `json:"card_type"`
	Subject   string     `json:"subject"` // key of the row it shows; TASK and EXECUTION for the newest
	Channel   string     `json:"channel"`
	MessageTS string     `json:"message_ts,omitempty"`
	State     CardState  `json:"state"`
	Hash      string     `json:"hash,omitempty"` // of what it shows; empty while a call is out
	ClaimedBy string     `json:"claimed_by,omitempty"`
	ClaimedAt *time.Time `json:"claimed_at,omitempty"`
	TriedRev  int        `json:"tried_rev,omitempty"` // the rev at which Slack refused for good
	TriedAt   *time.Time `json:"tried_at,omitempty"`  // when it did so last
	Refusal   string     `json:"refusal,omitempty"`   // Slack's error code
	CreatedAt time.Time  `json:"created_at"`
}

// Keys of the rows. Versions have four digits so that they sort.
func PromptKey(version int) string  { return fmt.Sprintf("PROMPT#%04d", version) }
func ProcessKey(version int) string { return fmt.Sprintf("PROCESS#%04d", version) }
func ExecutionKey(process, attempt int) string {
	return fmt.Sprintf("EXECUTION#%04d#%03d", process, attempt)
}
func StepKey(process, attempt, order int) string {
	return fmt.Sprintf("STEP#%04d#%03d#%02d", process, attempt, order)
}
func GateKey(process, attempt, order int) string {
	return fmt.Sprintf("GATE#%04d#%03d#%02d", process, attempt, order)
}

func (r *Request) Key() string    { return "REQUEST" }
func (t *Task) Key() string       { return "TASK" }
func (p *Prompt) Key() string     { return PromptKey(p.Version) }
func (p *Process) Key() string    { return ProcessKey(p.Version) }
func (e *Execution) Key() string  { return ExecutionKey(e.ProcessVersion, e.Attempt) }
func (s *StepResult) Key() string { return StepKey(s.ProcessVersion, s.Attempt, s.Order) }
func (g *Gate) Key() string       { return GateKey(g.ProcessVersion, g.Attempt, g.Order) }
func (w Wait) Key() string        { return "WAIT#" + w.Gate }

// Key of a card follows its subject: CARD#task, CARD#prompt#0001, CARD#execution.
func (c *Card) Key() string {
	switch c.CardType {
	case CardTask, CardExecution:
		return "CARD#" + string(c.CardType)
	}
	_, rest, _ := cut(c.Subject)
	return "CARD#" + string(c.CardType) + "#" + rest
}

func (r Request) at(rev int) Row    { r.Rev = rev; return &r }
func (t Task) at(rev int) Row       { t.Rev = rev; return &t }
func (p Prompt) at(rev int) Row     { p.Rev = rev; return &p }
func (p Process) at(rev int) Row    { p.Rev = rev; return &p }
func (e Execution) at(rev int) Row  { e.Rev = rev; return &e }
func (s StepResult) at(rev int) Row { s.Rev = rev; return &s }
func (g Gate) at(rev int) Row       { g.Rev = rev; return &g }
func (c Card) at(rev int) Row       { c.Rev = rev; return &c }
