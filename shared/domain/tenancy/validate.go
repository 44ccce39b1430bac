package tenancy

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/modelname"
	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

var (
	slugForm   = lazy.Regexp(`^[a-z0-9][a-z0-9-]{0,62}$`)
	userForm   = lazy.Regexp(`^[UW][A-Z0-9]{1,40}$`)
	groupForm  = lazy.Regexp(`^S[A-Z0-9]{1,40}$`)
	serverForm = lazy.Regexp(`^[a-z0-9-]{1,32}$`)
)

// maxUSD is the highest that a budget may be set to.
const maxUSD = 1_000_000

// Validate returns ErrField for the first field that is out of bounds.
func (s Settings) Validate() error {
	if all := s.Problems(); len(all) > 0 {
		return all[0].Err()
	}
	return nil
}

// Bound is what a number, or the length of a text or of a list, may be.
type Bound struct {
	Field    string
	Rule     Rule
	Min, Max int
	of       func(Settings) int
}

// Bounds are those of all settings that have any, by the names that the fields have in the row.
var Bounds = []Bound{
	{"name", RuleLength, 1, 80, func(s Settings) int { return utf8.RuneCountInString(s.Name) }},
	{"l4_timeout_seconds", RuleBetween, 30, 86400, func(s Settings) int { return s.L4TimeoutSeconds }},
	{"approval_timeout_hours", RuleBetween, 1, 8760 - 24, func(s Settings) int { return s.ApprovalTimeoutHours }},
	{"max_versions", RuleBetween, 1, 50, func(s Settings) int { return s.MaxVersions }},
	{"retain_results_days", RuleBetween, 1, 3650, func(s Settings) int { return s.RetainResultsDays }},
	{"approvers.users", RuleCount, 0, 200, func(s Settings) int { return len(s.Approvers.Users) }},
	{"approvers.usergroups", RuleCount, 0, 50, func(s Settings) int { return len(s.Approvers.Usergroups) }},
	{"max_open_tasks.person", RuleBetween, 0, maxLimit, func(s Settings) int { return s.MaxOpenTasks.Person }},
	{"max_open_tasks.tenant", RuleBetween, 0, maxLimit, func(s Settings) int { return s.MaxOpenTasks.Tenant }},
	{"max_tasks_per_hour.person", RuleBetween, 0, maxLimit, func(s Settings) int { return s.MaxTasksPerHour.Person }},
	{"max_tasks_per_hour.tenant", RuleBetween, 0, maxLimit, func(s Settings) int { return s.MaxTasksPerHour.Tenant }},
	{"mcp_servers", RuleCount, 0, MaxMCPServers, func(s Settings) int { return len(s.MCPServers) }},
	{"agents", RuleCount, 0, MaxAgents, func(s Settings) int { return len(s.Agents) }},
	{"session_idle_days", RuleBetween, 1, 365, func(s Settings) int { return s.SessionIdleDays }},
	{"action_timeout_hours", RuleBetween, 1, 8760 - 24, func(s Settings) int { return s.ActionTimeoutHours }},
	{"max_messages_per_hour", RuleBetween, 0, maxLimit, func(s Settings) int { return s.MaxMessagesPerHour }},
	{"draft_contest.file", RuleLength, 1, maxFile, func(s Settings) int { return utf8.RuneCountInString(s.DraftContest.File) }},
	{"draft_contest.max_rounds", RuleBetween, 1, 10, func(s Settings) int { return s.DraftContest.MaxRounds }},
	{"draft_contest.seconds", RuleBetween, 10, 3600, func(s Settings) int { return s.DraftContest.Seconds }},
	{"auto_actions", RuleCount, 0, MaxAutoActions, func(s Settings) int { return len(s.AutoActions) }},
}

// Choices are the values that a setting with a few has, the default first.
var Choices = map[string][]string{
	"approvers.mode":  {string(aggregate.ApproversChannel), string(aggregate.ApproversList)},
	"executor":        {ExecutorSteps, ExecutorManaged},
	"dm_default":      {"task", "agent"},
	"approval_copies": {CopiesListed, CopiesNone},
	"locale":          language.All,
}

// Problems are all that is wrong with the settings, in the order in which a page asks for them; nil when they can be saved.
func (s Settings) Problems() (all []Problem) {
	for _, b := range Bounds {
		if n := b.of(s); n < b.Min || n > b.Max {
			all = append(all, Problem{Field: b.Field, Rule: b.Rule, Min: b.Min, Max: b.Max})
		}
	}
	if !slugForm().MatchString(s.Slug) {
		all = append(all, Problem{Field: "slug", Rule: RuleSlug})
	}
	if _, err := modelname.Parse(s.Model); err != nil {
		all = append(all, Problem{Field: "model", Rule: RuleModel})
	}
	for _, b := range s.budgets() {
		if !(b.usd >= 0 && b.usd <= maxUSD) { // what is no number is neither
			all = append(all, Problem{Field: b.field, Rule: RuleBetween, Max: maxUSD})
		}
	}
	for _, c := range []struct{ field, is string }{
		{"approvers.mode", string(s.Approvers.Mode)}, {"executor", s.Executor}, {"dm_default", s.DMDefault}, {"approval_copies", s.ApprovalCopies}, {"locale", s.Locale},
	} {
		if !slices.Contains(Choices[c.field], c.is) {
			all = append(all, Problem{Field: c.field, Rule: RuleOneOf, Words: Choices[c.field]})
		}
	}
	// With names instead of ids nobody would match, and nobody could decide.
	all = append(all, idProblems("approvers.users", s.Approvers.Users, userForm(), RuleUserID)...)
	all = append(all, idProblems("approvers.usergroups", s.Approvers.Usergroups, groupForm(), RuleGroupID)...)
	all = append(all, serverProblems(s.MCPServers)...)
	all = append(all, s.DraftContest.problems()...)
	return append(all, s.agentProblems()...)
}

// idProblems are those of a list whose members are no ids of Slack's.
func idProblems(field string, ids []string, form *regexp.Regexp, rule Rule) (all []Problem) {
	for i, id := range ids {
		if !form.MatchString(id) {
			all = append(all, Problem{Field: fmt.Sprintf("%s[%d]", field, i), Rule: rule})
		}
	}
	return all
}

func serverProblems(list []MCPServer) (all []Problem) {
	for i, s := range list {
		own := s.Problems()
		if slices.ContainsFunc(list[:i], func(x MCPServer) bool { return x.Name == s.Name }) && serverForm().MatchString(s.Name) {
			own = append([]Problem{{Field: "name", Rule: RuleTaken}}, own...)
		}
		for _, p := range own {
			p.Field = fmt.Sprintf("mcp_servers[%d].%s", i, p.Field)
			all = append(all, p)
		}
	}
	return all
}

// Problems are those of one server, of its name before its url.
func (s MCPServer) Problems() (all []Problem) {
	if !serverForm().MatchString(s.Name) {
		all = append(all, Problem{Field: "name", Rule: RuleServerName})
	}
	if rule := wrongAddress(s.URL); rule != "" {
		all = append(all, Problem{Field: "url", Rule: rule})
	}
	return all
}

// wrongAddress is the rule that a server's address breaks, empty if it is right.
// Plain http is for servers on this machine, which the local stack alone reaches.
func wrongAddress(text string) Rule {
	u, err := url.Parse(text)
	if err != nil || len(text) > 500 || u.Host == "" || u.Opaque != "" {
		return RuleAddress
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return RuleAddressOnly
	}
	here, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && !(u.Scheme == "http" && err == nil && here.IsLoopback()) {
		return RuleHTTPS
	}
	return ""
}
