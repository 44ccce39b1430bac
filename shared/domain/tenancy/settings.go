package tenancy

import (
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
)

// Approvers says who may stamp. An empty list means nobody.
type Approvers struct {
	Mode       aggregate.ApproverMode `json:"mode"`
	Users      []string               `json:"users"`
	Usergroups []string               `json:"usergroups"`
}

// SettingsKey is the key of a tenant's settings among what it owns.
const SettingsKey = "SETTINGS"

// Settings is a tenant's configuration.
type Settings struct {
	aggregate.Meta `json:"-"`
	UpdatedAt      time.Time `json:"-"`
	UpdatedBy      string    `json:"-"`
	// FurtherDay bounds what all tasks of a day may cost whatever is saved, since the workspace is not the deployment's
	// own; 0: nothing does.
	FurtherDay aggregate.MicroUSD `json:"-"`

	Name                    string    `json:"name"`
	Slug                    string    `json:"slug"`
	PromptApprovalRequired  bool      `json:"prompt_approval_required"`
	ProcessApprovalRequired bool      `json:"process_approval_required"`
	Model                   string    `json:"model"`
	L4TimeoutSeconds        int       `json:"l4_timeout_seconds"`
	AutoApproveTools        bool      `json:"auto_approve_tools"`
	Approvers               Approvers `json:"approvers"`
	AllowSelfApproval       bool      `json:"allow_self_approval"`
	// SelfApprovalChosen says that an administrator was asked about AllowSelfApproval, and has answered.
	SelfApprovalChosen   bool    `json:"self_approval_chosen"`
	ApprovalTimeoutHours int     `json:"approval_timeout_hours"`
	ApprovalCopies       string  `json:"approval_copies"` // whom a gate's card is also sent to directly: CopiesListed or CopiesNone
	MaxVersions          int     `json:"max_versions"`
	Locale               string  `json:"locale"`
	Executor             string  `json:"executor"`
	DMDefault            string  `json:"dm_default"`
	MaxCostUSD           float64 `json:"max_cost_usd"`       // of a task; 0: no limit, as of the two below
	MaxCostDayUSD        float64 `json:"max_cost_day_usd"`   // of all tasks of a day, UTC
	MaxCostMonthUSD      float64 `json:"max_cost_month_usd"` // of all tasks of a month, UTC
	MaxOpenTasks         Limit   `json:"max_open_tasks"`
	MaxTasksPerHour      Limit   `json:"max_tasks_per_hour"`
	// RetainResultsDays is how many days results in the bucket are kept.
	RetainResultsDays int `json:"retain_results_days"`
	// MCPServers are the servers whose tools can be allowed.
	MCPServers []MCPServer `json:"mcp_servers"`
	// Agents are those beside the built-in ones, and those that override one.
	Agents     []agent.Definition `json:"agents"`
	AISessions AISessions         `json:"ai_sessions"`
	// SessionIdleDays is after how many days without a message a session is closed.
	SessionIdleDays    int     `json:"session_idle_days"`
	ActionTimeoutHours int     `json:"action_timeout_hours"`  // within which an action must be decided
	MaxSessionCostUSD  float64 `json:"max_session_cost_usd"`  // 0: no limit
	MaxMessagesPerHour int     `json:"max_messages_per_hour"` // of one person to all agents; 0: no limit
	// AutoActions are the actions that begin without a person's approval.
	AutoActions []agent.AutoRule `json:"auto_actions"`
	// DraftContest is whether, and how, teams compete to draft policies.
	DraftContest DraftContest `json:"draft_contest"`
}

// AISessions say what stays of sessions.
type AISessions struct {
	Cache Cache `json:"cache"`
}

// Cache says whether sessions are kept after they are closed.
type Cache struct {
	Enabled bool `json:"enabled"`
}

// MaxSessionCost is what a session may cost, 0 without a limit.
func (s Settings) MaxSessionCost() aggregate.MicroUSD { return limitOf(s.MaxSessionCostUSD) }

// MaxCost is what a task may cost, 0 without a limit.
func (s Settings) MaxCost() aggregate.MicroUSD { return limitOf(s.MaxCostUSD) }

// limitOf is a budget as it is compared with sums, 0 without one. A limit below a millionth of a dollar is still one.
func limitOf(usd float64) aggregate.MicroUSD {
	if usd <= 0 {
		return 0
	}
	return max(1, aggregate.USD(usd))
}

// Terms freezes these settings for a gate that opens at now. The approval switch
// of a prompt and of a process are two; a step gate always asks.
func (s Settings) Terms(approvalRequired bool, now time.Time) aggregate.Terms {
	by := now.Add(time.Duration(s.ApprovalTimeoutHours) * time.Hour)
	return aggregate.Terms{
		ApprovalRequired: approvalRequired, DecideBy: &by, Executor: s.Executor,
		L4TimeoutSeconds: s.L4TimeoutSeconds, AutoApproveTools: s.AutoApproveTools,
		MaxVersions: s.MaxVersions, ApprovalHours: s.ApprovalTimeoutHours, SettingsRev: s.Rev, Locale: s.Locale,
	}
}

// The executors: what runs the approved steps, Ringi itself or a managed session.
const (
	ExecutorSteps   = "steps"   // Ringi itself
	ExecutorManaged = "managed" // a session with Claude, whose calls Ringi makes
)

// Who gets a card directly when something waits for their decision.
const (
	CopiesListed = "listed" // the approvers whom the settings list, by id or by user group
	CopiesNone   = "none"
)
