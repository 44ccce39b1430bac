package tenancy

import (
	"cmp"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
)

// Approvers says who may stamp. In mode "list" an empty list means nobody.
type Approvers struct {
	Mode       aggregate.ApproverMode `json:"mode"`
	Users      []string               `json:"users"`
	Usergroups []string               `json:"usergroups"`
}

// SettingsKey is the sort key of the row with a tenant's settings.
const SettingsKey = "SETTINGS"

// Settings is a tenant's configuration.
type Settings struct {
	aggregate.Meta `json:"-"`
	UpdatedAt      time.Time `json:"-"`
	UpdatedBy      string    `json:"-"`
	// FurtherDay is the deployment's daily cost limit for workspaces other than its own; 0: none. It applies whatever
	// is saved.
	FurtherDay aggregate.MicroUSD `json:"-"`
	// RulesRev is the revision of the rules that gates open under; 0: the tenant has none. Whoever relies on the
	// settings' revision relies on this one too.
	RulesRev int `json:"-"`
	// Ruled says that the tenant has rules or had some, so that gates may wait along a route.
	Ruled bool `json:"-"`

	Name                    string    `json:"name"`
	Slug                    string    `json:"slug"`
	PromptApprovalRequired  bool      `json:"prompt_approval_required"`
	ProcessApprovalRequired bool      `json:"process_approval_required"`
	Model                   string    `json:"model"`
	L4TimeoutSeconds        int       `json:"l4_timeout_seconds"`
	AutoApproveTools        bool      `json:"auto_approve_tools"`
	Approvers               Approvers `json:"approvers"`
	// DirectApprovers are whom a channel's stage asks where nobody else is: a channel or, without one, people.
	DirectApprovers   rules.Home `json:"direct_approvers"`
	AllowSelfApproval bool       `json:"allow_self_approval"`
	// SelfApprovalChosen says that an administrator was asked about AllowSelfApproval and has answered.
	SelfApprovalChosen   bool    `json:"self_approval_chosen"`
	ApprovalTimeoutHours int     `json:"approval_timeout_hours"`
	ApprovalDays         int     `json:"approval_days"`     // for how long a gate under a rule is good once it is settled
	FiscalYearMonth      int     `json:"fiscal_year_month"` // in which a fiscal year begins; 1 is January
	Register             bool    `json:"register"`          // whether requests get a number when they are taken on or refused
	ApprovalCopies       string  `json:"approval_copies"`   // who else gets a gate's card: CopiesListed or CopiesNone
	MaxVersions          int     `json:"max_versions"`
	Locale               string  `json:"locale"`
	Executor             string  `json:"executor"`
	DMDefault            string  `json:"dm_default"`
	MaxCostUSD           float64 `json:"max_cost_usd"`       // per task; 0: no limit, as in the next two
	MaxCostDayUSD        float64 `json:"max_cost_day_usd"`   // all tasks of one day, UTC
	MaxCostMonthUSD      float64 `json:"max_cost_month_usd"` // all tasks of one month, UTC
	// Prices are the workspace's own prices of models; calls are charged by OwnPrices.
	Prices          []ModelPrice `json:"prices"`
	MaxOpenTasks    Limit        `json:"max_open_tasks"`
	MaxTasksPerHour Limit        `json:"max_tasks_per_hour"`
	// RetainResultsDays is how long results in the bucket are kept.
	RetainResultsDays int `json:"retain_results_days"`
	// MCPServers are the servers whose tools may be allowed.
	MCPServers []MCPServer `json:"mcp_servers"`
	// Agents are added to the built-in agents, or override one with the same id.
	Agents     []agent.Definition `json:"agents"`
	AISessions AISessions         `json:"ai_sessions"`
	// SessionIdleDays is the number of days without a message after which a conversation is closed.
	SessionIdleDays    int     `json:"session_idle_days"`
	ActionTimeoutHours int     `json:"action_timeout_hours"` // time limit for deciding on an action
	MaxSessionCostUSD  float64 `json:"max_session_cost_usd"` // 0: no limit
	// MaxAgentsCostDayUSD bounds what all agents cost on one day, UTC; 0: no limit.
	MaxAgentsCostDayUSD float64 `json:"max_agents_cost_day_usd"`
	MaxMessagesPerHour  int     `json:"max_messages_per_hour"` // from one person to all agents; 0: no limit
	MaxSourcesPerDay    int     `json:"max_sources_per_day"`   // fetches of sources on one day, UTC; 0: no limit
	// AutoActions are rules for actions that start without a person's approval.
	AutoActions []agent.AutoRule `json:"auto_actions"`
	// ListedReads are the tools that agents may call without a person's approval.
	ListedReads []agent.ListedRead `json:"listed_reads"`
	// Sources are the repositories with whose files conversations may begin.
	Sources      []agent.Source `json:"sources"`
	DraftContest DraftContest   `json:"draft_contest"`
	// ContestSearch lets members of contests have their model's vendor search the web.
	ContestSearch bool `json:"contest_search"`
}

// AISessions says how long conversations are stored.
type AISessions struct {
	Cache Cache `json:"cache"`
}

// Cache says whether conversations are kept after they are closed.
type Cache struct {
	Enabled bool `json:"enabled"`
}

// MaxSessionCost is the cost limit of a conversation, 0 for none.
func (s Settings) MaxSessionCost() aggregate.MicroUSD { return limitOf(s.MaxSessionCostUSD) }

// MaxAgentsDay is the cost limit of all conversations with agents on one day, 0 for none.
func (s Settings) MaxAgentsDay() aggregate.MicroUSD { return limitOf(s.MaxAgentsCostDayUSD) }

// MaxCost is the cost limit of a task, 0 for none.
func (s Settings) MaxCost() aggregate.MicroUSD { return limitOf(s.MaxCostUSD) }

// limitOf converts a limit to MicroUSD, 0 for none. A limit below a millionth of a dollar stays a limit.
func limitOf(usd float64) aggregate.MicroUSD {
	if usd <= 0 {
		return 0
	}
	return max(1, aggregate.USD(usd))
}

// Terms freezes these settings for a gate that opens at now. approvalRequired is a parameter because prompts and
// processes have separate switches, and a step gate always asks.
func (s Settings) Terms(approvalRequired bool, now time.Time) aggregate.Terms {
	by := now.Add(time.Duration(s.ApprovalTimeoutHours) * time.Hour)
	return aggregate.Terms{
		ApprovalRequired: approvalRequired, DecideBy: &by, Executor: s.Executor,
		L4TimeoutSeconds: s.L4TimeoutSeconds, AutoApproveTools: s.AutoApproveTools,
		MaxVersions: s.MaxVersions, ApprovalHours: s.ApprovalTimeoutHours, ApprovalDays: s.ApprovalDays, SettingsRev: s.Rev, Locale: s.Locale,
	}
}

// ActionTerms freezes these settings for an action that a person decides on.
func (s Settings) ActionTerms(now time.Time) aggregate.Terms {
	terms := s.Terms(true, now)
	by := now.UTC().Truncate(time.Millisecond).Add(time.Duration(s.ActionTimeoutHours) * time.Hour)
	terms.DecideBy, terms.ApprovalHours = &by, s.ActionTimeoutHours
	return terms
}

// FiscalYear returns the fiscal year to which a moment belongs in the tenant's zone: the year in which it began.
func (s Settings) FiscalYear(at time.Time) int {
	day := at.In(Zone())
	if int(day.Month()) < cmp.Or(s.FiscalYearMonth, FiscalYearBegins) {
		return day.Year() - 1
	}
	return day.Year()
}

// FiscalYearBegins is the month in which fiscal years begin unless the settings say otherwise.
const FiscalYearBegins = int(time.April)

// The executors, which carry out approved steps.
const (
	ExecutorSteps   = "steps"   // Ringi itself
	ExecutorManaged = "managed" // a managed session with Claude, whose tool calls Ringi makes
)

// Who gets a gate's card as a direct message.
const (
	CopiesListed = "listed" // the approvers whom the settings list by id or user group
	CopiesNone   = "none"
)

// Limit is a maximum number of tasks, for each person and for the tenant; 0 means no limit.
type Limit struct {
	Person int `json:"person"`
	Tenant int `json:"tenant"`
}

// Nearly is the number of the tenant's tasks from which administrators are warned: 80 % of the limit. 0 means never.
func (l Limit) Nearly() int { return (4*l.Tenant + 4) / 5 }

// maxLimit is the highest configurable limit.
const maxLimit = 100_000
