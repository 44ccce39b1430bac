package main

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/settingsyaml"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// setting is how one is asked for: its name in the row, and the form that its value has on the page.
type setting struct {
	name string
	kind string // text, flag, whole, usd, choice, people, groups or rows
}

// settingSections are all settings in the order of the page. self_approval_chosen is no question of its own.
var settingSections = []struct {
	key      string
	settings []setting
}{
	{"approval", []setting{
		{"prompt_approval_required", "flag"}, {"process_approval_required", "flag"}, {"auto_approve_tools", "flag"},
		{"approvers.mode", "choice"}, {"approvers.users", "people"}, {"approvers.usergroups", "groups"},
		{"approval_copies", "choice"}, {"allow_self_approval", "flag"}, {"approval_timeout_hours", "whole"}, {"max_versions", "whole"},
	}},
	{"budget", []setting{{"max_cost_usd", "usd"}, {"max_cost_day_usd", "usd"}, {"max_cost_month_usd", "usd"}}},
	{"limit", []setting{
		{"max_open_tasks.person", "whole"}, {"max_open_tasks.tenant", "whole"}, {"max_tasks_per_hour.person", "whole"}, {"max_tasks_per_hour.tenant", "whole"},
	}},
	{"work", []setting{{"model", "text"}, {"executor", "choice"}, {"l4_timeout_seconds", "whole"}, {"retain_results_days", "whole"}, {"mcp_servers", "rows"}}},
	{"contest", []setting{
		{"draft_contest.enabled", "flag"}, {"draft_contest.budget_usd", "usd"}, {"draft_contest.max_rounds", "whole"}, {"draft_contest.seconds", "whole"}, {"draft_contest.file", "text"},
	}},
	{"agent", []setting{
		{"dm_default", "choice"}, {"agents", "rows"}, {"auto_actions", "rows"}, {"action_timeout_hours", "whole"}, {"session_idle_days", "whole"},
		{"ai_sessions.cache.enabled", "flag"}, {"max_session_cost_usd", "usd"}, {"max_messages_per_hour", "whole"},
	}},
	{"general", []setting{{"name", "text"}, {"slug", "text"}, {"locale", "choice"}}},
}

// formOf are the inputs of the page as settings fill them.
func formOf(s tenancy.Settings) url.Values {
	f := url.Values{
		"approvers.users": slices.Clone(s.Approvers.Users), "approvers.usergroups": slices.Clone(s.Approvers.Usergroups),
	}
	for name, at := range flagsOf(&s) {
		f.Set(name, strconv.FormatBool(*at))
	}
	for name, at := range numbersOf(&s) {
		f.Set(name, strconv.Itoa(*at))
	}
	for name, at := range dollarsOf(&s) {
		f.Set(name, strconv.FormatFloat(*at, 'f', -1, 64))
	}
	for name, at := range textsOf(&s) {
		f.Set(name, *at)
	}
	f.Set("approvers.mode", string(s.Approvers.Mode))
	addRows(f, s)
	return f
}

func flagsOf(s *tenancy.Settings) map[string]*bool {
	return map[string]*bool{
		"prompt_approval_required": &s.PromptApprovalRequired, "process_approval_required": &s.ProcessApprovalRequired,
		"auto_approve_tools": &s.AutoApproveTools, "allow_self_approval": &s.AllowSelfApproval,
		"ai_sessions.cache.enabled": &s.AISessions.Cache.Enabled, "draft_contest.enabled": &s.DraftContest.Enabled,
	}
}

func numbersOf(s *tenancy.Settings) map[string]*int {
	return map[string]*int{
		"l4_timeout_seconds": &s.L4TimeoutSeconds, "approval_timeout_hours": &s.ApprovalTimeoutHours, "max_versions": &s.MaxVersions,
		"retain_results_days": &s.RetainResultsDays, "max_open_tasks.person": &s.MaxOpenTasks.Person, "max_open_tasks.tenant": &s.MaxOpenTasks.Tenant,
		"max_tasks_per_hour.person": &s.MaxTasksPerHour.Person, "max_tasks_per_hour.tenant": &s.MaxTasksPerHour.Tenant,
		"session_idle_days": &s.SessionIdleDays, "action_timeout_hours": &s.ActionTimeoutHours, "max_messages_per_hour": &s.MaxMessagesPerHour,
		"draft_contest.max_rounds": &s.DraftContest.MaxRounds, "draft_contest.seconds": &s.DraftContest.Seconds,
	}
}

func dollarsOf(s *tenancy.Settings) map[string]*float64 {
	return map[string]*float64{"max_cost_usd": &s.MaxCostUSD, "max_cost_day_usd": &s.MaxCostDayUSD, "max_cost_month_usd": &s.MaxCostMonthUSD, "max_session_cost_usd": &s.MaxSessionCostUSD, "draft_contest.budget_usd": &s.DraftContest.BudgetUSD}
}

func textsOf(s *tenancy.Settings) map[string]*string {
	return map[string]*string{"name": &s.Name, "slug": &s.Slug, "model": &s.Model, "locale": &s.Locale, "executor": &s.Executor, "dm_default": &s.DMDefault, "approval_copies": &s.ApprovalCopies, "draft_contest.file": &s.DraftContest.File}
}

// typed are the settings with what was typed over them, and all that is wrong with it. What the form does not have stays:
// a page of an earlier release does not ask for everything.
func typed(f url.Values, over tenancy.Settings) (tenancy.Settings, []tenancy.Problem) {
	s := over
	wrong := map[string]tenancy.Rule{}
	for name, at := range flagsOf(&s) {
		if f.Has(name) {
			*at = f.Get(name) == "true"
			if !*at && f.Get(name) != "false" {
				wrong[name] = settingsyaml.RuleFlag
			}
		}
	}
	for name, at := range numbersOf(&s) {
		if f.Has(name) {
			n, err := strconv.Atoi(digits(f.Get(name)))
			if *at = n; err != nil {
				*at, wrong[name] = 1, settingsyaml.RuleWhole
			}
		}
	}
	for name, at := range dollarsOf(&s) {
		if f.Has(name) {
			x, err := strconv.ParseFloat(digits(f.Get(name)), 64)
			if *at = x; err != nil {
				*at, wrong[name] = 0, settingsyaml.RuleNumber
			}
		}
	}
	for name, at := range textsOf(&s) {
		if f.Has(name) {
			*at = strings.TrimSpace(f.Get(name))
		}
	}
	typedLists(f, &s)
	return s, problemsOf(s, wrong)
}

func typedLists(f url.Values, s *tenancy.Settings) {
	if f.Has("approvers.mode") {
		s.Approvers.Mode = aggregate.ApproverMode(f.Get("approvers.mode"))
	}
	if f.Has("approvers.users") {
		s.Approvers.Users = chosen(f["approvers.users"])
	}
	if f.Has("approvers.usergroups") {
		s.Approvers.Usergroups = chosen(f["approvers.usergroups"])
	}
	typedRows(f, s)
}

// problemsOf are the problems of settings; a value that could not be read has its own, and no other.
func problemsOf(s tenancy.Settings, unread map[string]tenancy.Rule) (all []tenancy.Problem) {
	for _, section := range settingSections {
		for _, x := range section.settings {
			if rule := unread[x.name]; rule != "" {
				all = append(all, tenancy.Problem{Field: x.name, Rule: rule})
			}
		}
	}
	for _, p := range s.Problems() {
		if unread[p.Field] == "" {
			all = append(all, p)
		}
	}
	return all
}

// chosen are the ids of ticked boxes, each once, in their order. The empty one says that the boxes were there.
func chosen(ids []string) []string {
	out := []string{}
	for _, id := range ids {
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// digits is a number as people type it: in wide digits, with commas between thousands.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case '０' <= r && r <= '９':
			return r - '０' + '0'
		case r == '．':
			return '.'
		case r == '－':
			return '-'
		case r == ',', r == '，', r == ' ', r == '\u3000', r == '$', r == '＄':
			return -1
		}
		return r
	}, text)
}

// merged is a form with what somebody else has saved since it was opened as base, and the names of inputs that both
// changed: those keep what was typed.
func merged(form, base, now url.Values) (out url.Values, both []string) {
	out = url.Values{}
	for name, values := range form {
		out[name] = values
	}
	for _, section := range settingSections {
		for _, x := range section.settings {
			names := inputsOf(x)
			mine, theirs := false, false
			for _, name := range names {
				mine = mine || form.Has(name) && !alike(form[name], base[name])
				theirs = theirs || !alike(now[name], base[name])
			}
			for _, name := range names {
				if theirs && !mine {
					out[name] = now[name]
				}
			}
			if mine && theirs && !sameInputs(names, form, now) {
				both = append(both, x.name)
			}
		}
	}
	return out, both
}

func sameInputs(names []string, a, b url.Values) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !alike(a[name], b[name]) })
}

// alike compares values of an input; an empty one among several is none.
func alike(a, b []string) bool {
	return slices.Equal(filled(a), filled(b))
}

func filled(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return strings.TrimSpace(v) == "" })
}
