package tenancy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/aggregate"
	"ringi/shared/language"
	"ringi/shared/lazy"
	"ringi/shared/modelname"
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

	Name                    string    `json:"name"`
	Slug                    string    `json:"slug"`
	PromptApprovalRequired  bool      `json:"prompt_approval_required"`
	ProcessApprovalRequired bool      `json:"process_approval_required"`
	Model                   string    `json:"model"`
	L4TimeoutSeconds        int       `json:"l4_timeout_seconds"`
	AutoApproveTools        bool      `json:"auto_approve_tools"`
	Approvers               Approvers `json:"approvers"`
	AllowSelfApproval       bool      `json:"allow_self_approval"`
	ApprovalTimeoutHours    int       `json:"approval_timeout_hours"`
	MaxVersions             int       `json:"max_versions"`
	Locale                  string    `json:"locale"`
	Executor                string    `json:"executor"`
	DMDefault               string    `json:"dm_default"`
	MaxCostUSD              float64   `json:"max_cost_usd"` // 0: no limit
	MaxOpenTasks            Limit     `json:"max_open_tasks"`
	MaxTasksPerHour         Limit     `json:"max_tasks_per_hour"`
	// RetainResultsDays is how many days results in the bucket are kept.
	RetainResultsDays int `json:"retain_results_days"`
	// MCPServers are the servers whose tools can be allowed.
	MCPServers []MCPServer `json:"mcp_servers"`
}

// DefaultSettings are the seed's, for a tenant that has saved none.
func DefaultSettings() Settings {
	return Settings{
		Name: "HR AI Agent", Slug: "default",
		PromptApprovalRequired: true, ProcessApprovalRequired: true,
		Model: "claude-sonnet-4-6", L4TimeoutSeconds: 360, AutoApproveTools: true,
		Approvers:         Approvers{Mode: aggregate.ApproversChannel, Users: []string{}, Usergroups: []string{}},
		AllowSelfApproval: true, ApprovalTimeoutHours: 168, MaxVersions: 5,
		Locale: "ja", Executor: "steps", DMDefault: "task", RetainResultsDays: 400, MCPServers: []MCPServer{},
		MaxOpenTasks: Limit{Person: 50, Tenant: 1000}, MaxTasksPerHour: Limit{Person: 60, Tenant: 600},
	}
}

// MaxCost is what a task may cost, 0 without a limit. A limit below a millionth of a dollar is still one.
func (s Settings) MaxCost() aggregate.MicroUSD {
	if s.MaxCostUSD <= 0 {
		return 0
	}
	return max(1, aggregate.USD(s.MaxCostUSD))
}

var (
	slugForm  = lazy.Regexp(`^[a-z0-9][a-z0-9-]{0,62}$`)
	userForm  = lazy.Regexp(`^[UW][A-Z0-9]{1,40}$`)
	groupForm = lazy.Regexp(`^S[A-Z0-9]{1,40}$`)
)

// Validate returns ErrField for the first field that is out of bounds.
func (s Settings) Validate() error {
	for _, r := range []struct {
		field    string
		n        int
		min, max int
	}{
		{"name", utf8.RuneCountInString(s.Name), 1, 80},
		{"l4_timeout_seconds", s.L4TimeoutSeconds, 30, 86400},
		{"approval_timeout_hours", s.ApprovalTimeoutHours, 1, 8760 - 24},
		{"max_versions", s.MaxVersions, 1, 50},
		{"retain_results_days", s.RetainResultsDays, 1, 3650},
		{"approvers.users", len(s.Approvers.Users), 0, 200},
		{"approvers.usergroups", len(s.Approvers.Usergroups), 0, 50},
	} {
		if r.n < r.min || r.n > r.max {
			return aggregate.ErrField{Field: r.field, Limit: fmt.Sprintf("must be between %d and %d", r.min, r.max)}
		}
	}
	if !slugForm().MatchString(s.Slug) {
		return aggregate.ErrField{Field: "slug", Limit: "must be 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit"}
	}
	if _, err := modelname.Parse(s.Model); err != nil {
		return err
	}
	if s.MaxCostUSD < 0 || s.MaxCostUSD > 1e6 {
		return aggregate.ErrField{Field: "max_cost_usd", Limit: "must be between 0 and 1000000"}
	}
	if err := s.MaxOpenTasks.check("max_open_tasks"); err != nil {
		return err
	}
	if err := s.MaxTasksPerHour.check("max_tasks_per_hour"); err != nil {
		return err
	}
	for _, r := range []struct{ field, got, a, b string }{
		{"approvers.mode", string(s.Approvers.Mode), "channel", "list"},
		{"executor", s.Executor, ExecutorSteps, ExecutorManaged},
		{"dm_default", s.DMDefault, "task", "agent"},
	} {
		if r.got != r.a && r.got != r.b {
			return aggregate.ErrField{Field: r.field, Limit: fmt.Sprintf("must be %s or %s", r.a, r.b)}
		}
	}
	if !slices.Contains(language.All, s.Locale) {
		return aggregate.ErrField{Field: "locale", Limit: "must be " + strings.Join(language.All, " or ")}
	}
	// With names instead of ids nobody would match, and nobody could decide.
	if err := checkIDs("approvers.users", s.Approvers.Users, userForm(), "a Slack user id such as U012ABCDEF"); err != nil {
		return err
	}
	if err := checkIDs("approvers.usergroups", s.Approvers.Usergroups, groupForm(), "a Slack user group's id such as S012ABCDEF"); err != nil {
		return err
	}
	return checkServers(s.MCPServers)
}

// checkIDs returns ErrField for the first of a list that is no id of Slack's.
func checkIDs(field string, ids []string, form *regexp.Regexp, what string) error {
	for i, id := range ids {
		if !form.MatchString(id) {
			return aggregate.ErrField{Field: fmt.Sprintf("%s[%d]", field, i), Limit: "must be " + what}
		}
	}
	return nil
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
