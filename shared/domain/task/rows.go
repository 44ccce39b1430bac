package task

import (
	"cmp"
	"strconv"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/words/language"
)

// Head is the head row of a task.
type Head struct {
	aggregate.Head
	TaskID string `json:"task_id"`

	AcceptedAt *time.Time `json:"accepted_at,omitempty"` // when the request was accepted; see counts

	Parked      *Parked    `json:"parked,omitempty"`
	Ended       *Ended     `json:"ended,omitempty"`
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	// PausedFor is ReasonNoRoom, or empty for a pause that a model or Slack asked for.
	PausedFor aggregate.Reason `json:"paused_for,omitempty"`
	// TryingFrom is a corrected start time for TryingSince: it leaves out waits for free capacity, and what was done
	// before people are looked up.
	TryingFrom *time.Time `json:"trying_from,omitempty"`
	Retried    *Retried   `json:"retried,omitempty"`
	Retries    int        `json:"retries,omitempty"` // of the current generation
	// Noted is how the request stands, and WaitsFor which decision it waits for: Routed says that it is under a rule.
	Noted     Status             `json:"status"`
	WaitsFor  aggregate.CardType `json:"waits_for,omitempty"`
	Routed    bool               `json:"routed,omitempty"`
	Glance    Glance             `json:"glance,omitzero"`
	LookAgain bool               `json:"look_again,omitempty"` // somebody may have left; see LooksAgain
	Left      []string           `json:"left,omitempty"`       // who had then, of those whom a rule's stage asks
	// LostContests lists contests for which the task no longer waits and that must still be withdrawn.
	LostContests []string `json:"lost_contests,omitempty"`
}

func (h *Head) ID() string              { return h.TaskID }
func (h Head) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Parked says which layer's generation failed and why. A person may retry it.
type Parked struct {
	Layer    Layer            `json:"layer"`
	Sentence aggregate.Reason `json:"sentence"`
	Detail   string           `json:"detail,omitempty"` // part of the sentence, such as whose key is missing
}

// Retried says who retried the running generation.
type Retried struct {
	By string    `json:"by,omitempty"` // Slack user id, empty for the system
	At time.Time `json:"at"`
}

// Ended says how a task ended. Only a failed task can be retried.
type Ended struct {
	As     TaskStatus       `json:"as"`
	By     string           `json:"by,omitempty"` // Slack user id, empty for the system
	At     time.Time        `json:"at"`
	Reason aggregate.Reason `json:"reason"`
	Detail string           `json:"detail,omitempty"`
	Until  *time.Time       `json:"until,omitempty"` // for a refused request: when a new request may succeed
}

// Place is where a message is in Slack.
type Place struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
}

// Request is the message with the request, as it was when it came.
type Request struct {
	aggregate.Meta
	TeamID      string `json:"team_id"`
	Text        string `json:"text"`
	User        string `json:"user"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"` // channel, group, im, mpim
	MessageTS   string `json:"message_ts"`
	ThreadTS    string `json:"thread_ts"` // root of the thread in which the cards are posted
	Source      Source `json:"source"`
	EventID     string `json:"event_id"`
	// Forwarded are the messages that it forwards, and Files its files and theirs.
	Forwarded []aggregate.Quoted     `json:"forwarded,omitempty"`
	Files     []aggregate.SharedFile `json:"files,omitempty"`
	MoreFiles int                    `json:"more_files,omitempty"` // that are not read
	Matter    *Matter                `json:"matter,omitempty"`     // the form of a request for a decision alone
	CreatedAt time.Time              `json:"created_at"`
	// Thread is what the first layer was shown of the thread before; nil unless it had to be read.
	Thread *aggregate.Thread `json:"thread,omitempty"`
}

// Words returns what the request says on one line or more, or names what it consists of if it has no words.
func (r Request) Words(locale string) string {
	if language.Legible(r.Text) {
		return r.Text
	}
	var names []string
	for _, f := range r.Files {
		names = append(names, cmp.Or(f.Name, f.ID))
	}
	return aggregate.Wordless(locale, r.Forwarded, names)
}

// Unsaid returns the request without what its author wrote or attached.
func (r Request) Unsaid() Request {
	r.Text, r.Forwarded, r.Files, r.MoreFiles = "", nil, nil, 0
	return r
}

// Written returns when the message was written, by Slack's clock. Words such as “this month” count from it, however
// late the message is delivered.
func (r *Request) Written() time.Time {
	if at, err := aggregate.ParseTS(r.MessageTS); err == nil {
		return at
	}
	return r.CreatedAt
}

// Origin returns where and by whom the message was written. For nil it returns the zero value.
func (r *Request) Origin() aggregate.Origin {
	if r == nil {
		return aggregate.Origin{}
	}
	return aggregate.Origin{Team: r.TeamID, User: r.User, Channel: r.Channel, ChannelType: r.ChannelType}
}

// Source says where a request came from.
type Source string

const (
	SourceChannel        Source = "channel"
	SourceAgentContainer Source = "agent_container" // a direct message
)

// Task is the first layer's description of the request. Without a status there is no task: it is what lists show of a
// request whose draft is delayed or failed, or that ended.
type Task struct {
	aggregate.Meta
	ID            string           `json:"id"`
	TenantID      string           `json:"tenant_id"`
	Title         string           `json:"title"`
	Text          string           `json:"text,omitempty"` // how the message of a request without a task begins
	Description   string           `json:"description"`
	Priority      Priority         `json:"priority"`
	TaskType      Type             `json:"task_type"`
	Status        TaskStatus       `json:"status"`
	ListedAs      Status           `json:"listed_as"` // see listedAs
	Glance        Glance           `json:"glance,omitzero"`
	Source        Source           `json:"source"`
	SlackChannel  string           `json:"slack_channel"`
	SlackThreadTS string           `json:"slack_thread_ts"`
	Usage         *aggregate.Usage `json:"usage,omitempty"` // of the calls that made this row, as in the types below
	CreatedAt     time.Time        `json:"created_at"`
	UpdatedAt     time.Time        `json:"updated_at"`
}

// Priority is a task's urgency.
type Priority string

const (
	Low    Priority = "low"
	Medium Priority = "medium"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

// Pressing reports whether lists say a priority beside the title.
func (p Priority) Pressing() bool { return p == High || p == Urgent }

// Type is the kind of a task.
type Type string

const (
	TypeStandard Type = "standard"
	TypeUrgent   Type = "urgent"
)

// Prompt is one version of the policy text.
type Prompt struct {
	aggregate.Meta
	ID      string           `json:"id"`
	TaskID  string           `json:"task_id"`
	Version int              `json:"version"`
	Content string           `json:"content"`
	Title   string           `json:"title,omitempty"` // the task's, as a further version has it
	Usage   *aggregate.Usage `json:"usage,omitempty"`
	Contest *Contest         `json:"contest,omitempty"` // drafts it or, if it was picked, drafted its predecessor
	Entry   *contest.Place   `json:"entry,omitempty"`   // the submission that became this version, if any
	Author  string           `json:"author,omitempty"`  // who picked it; empty if it was generated
	// EditedBy is the asker who filled in the form again that was given back to them; empty: nobody did.
	EditedBy string `json:"edited_by,omitempty"`
	// Matter is the form of which EditedBy made it, and Files are the form's; nil: it is the request's, or none.
	Matter *Matter                `json:"matter,omitempty"`
	Files  []aggregate.SharedFile `json:"files,omitempty"`
	// CostLimit is the task's cost limit if it was reached when the contest ended, else 0.
	CostLimit aggregate.MicroUSD `json:"cost_limit_micro_usd,omitempty"`
	CreatedAt time.Time          `json:"created_at"`
	aggregate.Gate
}

// Process is one version of the steps.
type Process struct {
	aggregate.Meta
	ID        string           `json:"id"`
	TaskID    string           `json:"task_id"`
	PromptID  string           `json:"prompt_id"`
	Version   int              `json:"version"`
	Steps     []Step           `json:"steps"`
	Remarks   string           `json:"remarks,omitempty"` // the model's answer to earlier reasons for rejection
	Usage     *aggregate.Usage `json:"usage,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
	aggregate.Gate
	// ApprovedHash is Hash of the stamped steps. Only steps with this hash are executed.
	ApprovedHash string `json:"approved_hash,omitempty"`
}

// Execution is one attempt at an approved process.
type Execution struct {
	aggregate.Meta
	ID             string             `json:"id"`
	TaskID         string             `json:"task_id"`
	ProcessID      string             `json:"process_id"`
	ProcessVersion int                `json:"process_version"`
	Attempt        int                `json:"attempt"`
	Number         string             `json:"number,omitempty"` // of a rule with numbered, since the first attempt
	SessionID      string             `json:"session_id,omitempty"`
	SessionClosed  bool               `json:"session_closed,omitempty"` // its session was told to stop and is charged
	SessionBudget  aggregate.MicroUSD `json:"session_budget,omitempty"` // cost limit of its session, 0 for none
	Status         ExecutionStatus    `json:"status"`
	CurrentStep    int                `json:"current_step"` // as of the row's last commit; see Aggregate.CurrentStep
	Results        []ResultEntry      `json:"results"`
	Summary        string             `json:"summary,omitempty"`
	Usage          *aggregate.Usage   `json:"usage,omitempty"` // usage of the summary or of the session
	Error          aggregate.Reason   `json:"error_code,omitempty"`
	ErrorDetail    string             `json:"error_detail,omitempty"`
	CancelledBy    string             `json:"cancelled_by,omitempty"`
	RetriedBy      string             `json:"retried_by,omitempty"` // who requested this attempt
	CancelledAt    *time.Time         `json:"cancelled_at,omitempty"`
	CreatedAt      time.Time          `json:"created_at"`
	StartedAt      *time.Time         `json:"started_at,omitempty"`
	CompletedAt    *time.Time         `json:"completed_at,omitempty"` // set for failures too
	// WaitedMS is how long it waited for people and for leases of crashed calls. A session's time limit excludes it.
	WaitedMS int64           `json:"waited_ms"`
	Terms    aggregate.Terms `json:"terms"`
}

// RanFrom returns when the attempt would have begun to run until its end without waiting; nil: it hasn't begun.
func (e *Execution) RanFrom() *time.Time {
	if e.StartedAt == nil {
		return nil
	}
	from := e.StartedAt.Add(time.Duration(e.WaitedMS) * time.Millisecond)
	return &from
}

// ResultEntry is one step's entry in an execution's results.
type ResultEntry struct {
	StepID      string          `json:"stepId"`
	Tool        string          `json:"tool"`
	Status      StepStatus      `json:"status"`
	Result      *aggregate.Blob `json:"result,omitempty"`
	DurationMS  int64           `json:"duration_ms"`
	StartedAt   time.Time       `json:"started_at"`
	CompletedAt *time.Time      `json:"completed_at,omitempty"`
	Reused      bool            `json:"reused,omitempty"`
}

// StepResult is the call of one step in one attempt.
type StepResult struct {
	aggregate.Meta
	TaskID         string           `json:"task_id"`
	ProcessVersion int              `json:"process_version"`
	Attempt        int              `json:"attempt"`
	Order          int              `json:"order"`
	StepID         string           `json:"step_id"`
	Tool           string           `json:"tool"`
	Access         aggregate.Access `json:"effect"`
	Status         StepStatus       `json:"status"`
	Claim          *aggregate.Claim `json:"claim,omitempty"`
	ToolRequest    string           `json:"wish,omitempty"`    // id of the session's tool request that the call answers
	Call           int              `json:"call"`              // number in the idempotency key
	Crashes        int              `json:"crashes,omitempty"` // calls of this attempt whose lease expired
	Arguments      aggregate.Blob   `json:"arguments"`
	Result         *aggregate.Blob  `json:"result,omitempty"`
	Error          aggregate.Reason `json:"error,omitempty"`
	ErrorDetail    string           `json:"error_detail,omitempty"`
	Reused         bool             `json:"reused,omitempty"`
	ConfirmedBy    string           `json:"confirmed_by,omitempty"` // who saw that a write of unknown outcome arrived
	Found          bool             `json:"found,omitempty"`        // Ringi itself saw that
	StartedAt      time.Time        `json:"started_at"`
	CompletedAt    *time.Time       `json:"completed_at,omitempty"`
	DurationMS     int64            `json:"duration_ms"`
}

func PromptKey(version int) string               { return keyOf("PROMPT", version) }
func ProcessKey(version int) string              { return keyOf("PROCESS", version) }
func ExecutionKey(process, attempt int) string   { return keyOf("EXECUTION", process, attempt) }
func StepKey(process, attempt, order int) string { return keyOf("STEP", process, attempt, order) }

// TaskKey is the key of a Task.
const TaskKey = "TASK"

// keyOf is the key of a row: its kind, a version, an attempt and a step's order, as many of them as it has. Numbers are
// padded with zeros so that keys sort. A load makes hundreds of keys, and fmt takes several times as long.
func keyOf(kind string, numbers ...int) string {
	key := append(make([]byte, 0, 32), kind...)
	for i, n := range numbers {
		digits := strconv.Itoa(n)
		key = append(key, "#000"[:1+max(0, 4-i-len(digits))]...)
		key = append(key, digits...)
	}
	return string(key)
}

// Many decisions rely on these rows; see aggregate.Relied.
func (*Task) Relied()      {}
func (*Prompt) Relied()    {}
func (*Process) Relied()   {}
func (*Execution) Relied() {}

func (r *Request) Key() string    { return "REQUEST" }
func (t *Task) Key() string       { return TaskKey }
func (p *Prompt) Key() string     { return PromptKey(p.Version) }
func (p *Process) Key() string    { return ProcessKey(p.Version) }
func (e *Execution) Key() string  { return ExecutionKey(e.ProcessVersion, e.Attempt) }
func (s *StepResult) Key() string { return StepKey(s.ProcessVersion, s.Attempt, s.Order) }

func (r Request) At(rev int) aggregate.Row    { r.Rev = rev; return &r }
func (t Task) At(rev int) aggregate.Row       { t.Rev = rev; return &t }
func (p Prompt) At(rev int) aggregate.Row     { p.Rev = rev; return &p }
func (p Process) At(rev int) aggregate.Row    { p.Rev = rev; return &p }
func (e Execution) At(rev int) aggregate.Row  { e.Rev = rev; return &e }
func (s StepResult) At(rev int) aggregate.Row { s.Rev = rev; return &s }
