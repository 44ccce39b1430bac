package tenancy

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Sections are the settings on the settings page, in order. To add a setting, add a field to Settings, a row here and
// its words in texts; the page, the file and the audit log follow from these.
var Sections = []Section{
	{Key: "approval", Settings: []Setting{
		{Name: "prompt_approval_required", Kind: KindFlag, Default: true},
		{Name: "process_approval_required", Kind: KindFlag, Default: true},
		{Name: "auto_approve_tools", Kind: KindFlag, Default: true},
		{Name: "approvers.mode", Kind: KindChoice, OnCards: true,
			Choices: []string{string(aggregate.ApproversChannel), string(aggregate.ApproversList)}},
		{Name: "approvers.users", Kind: KindPeople, Max: 200, Code: "user_id", fits: like(&aggregate.UserForm),
			OnCards: true},
		{Name: "approvers.usergroups", Kind: KindGroups, Max: 50, Code: "group_id", fits: like(&aggregate.GroupForm),
			OnCards: true},
		{Name: "allow_self_approval", Kind: KindFlag, Default: true, OnCards: true},
		{Name: "approval_timeout_hours", Kind: KindWhole, Min: 1, Max: 8760 - 24, Default: 168},
		{Name: "fiscal_year_month", Kind: KindWhole, Min: 1, Max: 12, Default: FiscalYearBegins},
		{Name: "matters", Kind: KindRows, Max: MaxMatters},
		{Name: "max_versions", Kind: KindWhole, Min: 1, Max: 50, Default: 5},
		{Name: "remind_at", Kind: KindText, Code: "clock", fits: isClockOrNone, Default: "09:30"},
	}},
	{Key: "budget", Settings: []Setting{
		{Name: "max_cost_usd", Kind: KindDollars, Limit: true},
		{Name: "max_cost_day_usd", Kind: KindDollars, Limit: true},
		{Name: "prices", Kind: KindRows, Max: MaxPrices},
	}},
	{Key: "limit", Settings: []Setting{
		{Name: "max_open_tasks", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 50},
		{Name: "max_tasks_per_hour", Kind: KindWhole, Limit: true, Max: maxLimit, Default: 60},
	}},
	{Key: "work", Settings: []Setting{
		{Name: "model", Kind: KindText, Code: "model", fits: isModel, Default: "claude-sonnet-4-6"},
		{Name: "executor", Kind: KindChoice, Choices: []string{ExecutorSteps, ExecutorManaged}},
		{Name: "l4_timeout_seconds", Kind: KindWhole, Min: 30, Max: 86400, Default: 360},
		{Name: "retain_results_days", Kind: KindWhole, Min: 1, Max: 3650, Default: 400},
		{Name: "mcp_servers", Kind: KindRows, Max: MaxMCPServers},
	}},
	{Key: "contest", Settings: []Setting{
		{Name: "draft_contest.enabled", Kind: KindFlag},
		{Name: "draft_contest.budget_usd", Kind: KindDollars, Default: 1.0},
		{Name: "draft_contest.max_rounds", Kind: KindWhole, Min: 1, Max: 10, Default: 3},
		{Name: "draft_contest.seconds", Kind: KindWhole, Min: 10, Max: 3600, Default: 300},
		{Name: "draft_contest.file", Kind: KindText, Min: 1, Max: 200, Default: "configs/contest.toml"},
		{Name: "contest_search", Kind: KindFlag},
	}},
	{Key: "agent", Settings: []Setting{
		{Name: "agents", Kind: KindRows, Max: MaxAgents},
		{Name: "auto_actions", Kind: KindRows, Max: MaxAutoActions},
		{Name: "listed_reads", Kind: KindRows, Max: MaxListedReads},
		{Name: "sources", Kind: KindRows, Max: MaxSources},
		{Name: "ai_sessions.cache.enabled", Kind: KindFlag},
	}},
	{Key: "general", Settings: []Setting{
		{Name: "name", Kind: KindText, Min: 1, Max: 80, Default: "HR AI Agent"},
		{Name: "locale", Kind: KindChoice, Choices: language.All, OnCards: true},
	}},
}
