package tenancy

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Rule is a rule for the values of fields.
type Rule string

const (
	RuleBetween     Rule = "between" // a number from Min to Max
	RuleLength      Rule = "length"  // a text with Min to Max characters
	RuleCount       Rule = "count"   // a list with Min to Max entries
	RuleOneOf       Rule = "one_of"  // one of Words
	RuleSlug        Rule = "slug"
	RuleSlugLater   Rule = "slug_later"
	RuleModel       Rule = "model"
	RuleUserID      Rule = "user_id"
	RuleGroupID     Rule = "group_id"
	RuleChannelID   Rule = "channel_id"
	RuleServerName  Rule = "server_name"
	RuleTaken       Rule = "taken"
	RuleAddress     Rule = "address"
	RuleAddressOnly Rule = "address_only"
	RuleHTTPS       Rule = "https"
	RuleAbove       Rule = "above" // above zero
	RuleFile        Rule = "file"
	RuleContest     Rule = "contest"     // files that can be played; Words says what is wrong with them
	RuleNoContests  Rule = "no_contests" // the deployment has files
	RuleFlag        Rule = "flag"
	RuleWhole       Rule = "whole"
	RuleNumber      Rule = "number"
	RuleText        Rule = "text"
	RuleList        Rule = "list"
)

// unread gives the rule that an unreadable value breaks, by the type of the field.
var unread = map[reflect.Kind]Rule{
	reflect.Bool: RuleFlag, reflect.Int: RuleWhole, reflect.Float64: RuleNumber, reflect.String: RuleText,
	reflect.Slice: RuleList,
}

// Unread returns the problem of a field of this type whose value can't be parsed.
func Unread(field string, v reflect.Value) Problem {
	return Problem{Field: field, Rule: unread[v.Kind()]}
}

// Problem is the rule that a field's value breaks. It is data so that each reader sees it in their own language.
type Problem struct {
	Field    string
	Rule     Rule
	Min, Max int
	Words    []string
}

// Err returns the problem as an error in English.
func (p Problem) Err() aggregate.Problem {
	return aggregate.Problem{Field: p.Field, Code: p.limit()}
}

func (p Problem) limit() string {
	switch p.Rule {
	case RuleBetween, RuleLength, RuleCount:
		return fmt.Sprintf("must be between %d and %d", p.Min, p.Max)
	case RuleOneOf:
		return "must be " + strings.Join(p.Words, " or ")
	case RuleContest:
		return "must be a contest that can be played: " + strings.Join(p.Words, "; ")
	}
	if limit, ok := agent.Limits[agent.Rule(p.Rule)]; ok {
		return limit
	}
	return limits()[p.Rule]
}

var limits = sync.OnceValue(func() map[Rule]string {
	return map[Rule]string{
		RuleSlug:        "must be 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit",
		RuleSlugLater:   "cannot be set before the workspace's first message",
		RuleModel:       errModel(),
		RuleUserID:      "must be a Slack user id such as U012ABCDEF",
		RuleGroupID:     "must be a Slack user group's id such as S012ABCDEF",
		RuleChannelID:   "must be a Slack channel's id such as C012ABCDEF",
		RuleServerName:  "must be 1 to 32 of a-z, 0-9 and -",
		RuleTaken:       "is taken",
		RuleAddress:     "must be an address of at most 500 bytes like https://example.com/mcp",
		RuleAddressOnly: "must have no name, password, query or fragment: what is secret belongs to the connection",
		RuleHTTPS:       "must begin with https://",
		RuleAbove:       "must be more than 0",
		RuleFile:        "must be a path inside of the workspace of contests, relative to it",
		RuleNoContests:  "can't be used: the deployment has no files of contests",
		RuleFlag:        "must be true or false",
		RuleWhole:       "must be a whole number",
		RuleNumber:      "must be a number",
		RuleText:        "must be a text",
		RuleList:        "must be a list",
		RuleOwnHand:     "must be somebody else than whom they stand in for",
		RuleSetter:      "must not be who sets it for somebody else",
		RuleOthers:      "must be oneself, unless an administrator says so",
		RulePast:        "must not be over",
		RuleAhead:       "must begin within a year",
		RuleDays:        "must be within 92 days of the first day",
		RuleBackwards:   "must be on or after the first day",
		RuleMost:        "has as many stand-ins as may be",
		RuleMostHand:    "stands in for as many as may be",
		RuleSet:         "has another end already",
		RuleNoAccount:   "must be an account",
		RuleParty:       "must not be asked for the administrator's own request",
		RulePrice: "must be US dollars for a million tokens, from 0 to 999.999999 with at most 6 decimals, " +
			"such as 0.25",
		RuleMatter:      fmt.Sprintf("must have 1 to %d characters on one line", MaxMatterName),
		RuleMatterTaken: "must be no other one's",
		RuleDate:        "must be a day such as 2026-11-20",
		RuleClock:       "must be a time of the day such as 09:30, or empty",
	}
})

// errModel returns aggregate.ParseModelName's error text for an invalid name.
func errModel() string {
	_, err := aggregate.ParseModelName("")
	var bad aggregate.Problem
	errors.As(err, &bad)
	return bad.Code
}

// ProblemOf converts an error of saving settings to a Problem; false if it names no field.
func ProblemOf(err error) (Problem, bool) {
	var bad aggregate.Problem
	if !errors.As(err, &bad) {
		return Problem{}, false
	}
	for rule, limit := range limits() {
		if limit == bad.Code {
			return Problem{Field: bad.Field, Rule: rule}, true
		}
	}
	for rule, limit := range agent.Limits {
		if limit == bad.Code {
			return Problem{Field: bad.Field, Rule: Rule(rule)}, true
		}
	}
	return Problem{Field: bad.Field, Rule: Rule(bad.Code)}, true
}

var (
	slugForm    = language.Regexp{Text: `^[a-z0-9][a-z0-9-]{0,62}$`}
	userForm    = language.Regexp{Text: `^[UW][A-Z0-9]{1,40}$`}
	channelForm = language.Regexp{Text: `^[CG][A-Z0-9]{1,40}$`}
	groupForm   = language.Regexp{Text: `^S[A-Z0-9]{1,40}$`}
	serverForm  = language.Regexp{Text: `^[a-z0-9-]{1,32}$`}
)

// isModel reports whether the name is valid.
func isModel(name string) bool {
	_, err := aggregate.ParseModelName(name)
	return err == nil
}

// maxUSD is the highest configurable budget.
const maxUSD = 1_000_000

// Validate returns a Problem for the first problem.
func (s Settings) Validate() error {
	if all := s.Problems(); len(all) > 0 {
		return all[0].Err()
	}
	return nil
}

// Problems returns all problems of the settings; nil if they can be saved. Sizes come first, lists of rows last.
func (s Settings) Problems() (all []Problem) {
	fields := s.Fields()
	for _, f := range fields {
		all = append(all, f.sizeProblems()...)
	}
	for _, kind := range []Kind{KindText, KindDollars, KindChoice, KindPeople, KindGroups} {
		for _, f := range fields {
			if f.Kind == kind {
				all = append(all, f.contentProblems()...)
			}
		}
	}
	all = append(all, serverProblems(s.MCPServers)...)
	all = append(all, priceProblems(s.Prices)...)
	all = append(all, matterProblems(s.Matters)...)
	all = append(all, s.DraftContest.problems()...)
	return append(all, s.agentProblems()...)
}

// idProblems returns a problem for each text in a list that does not fit.
func idProblems(field string, ids []string, fits func(string) bool, rule Rule) (all []Problem) {
	for i, id := range ids {
		if !fits(id) {
			all = append(all, Problem{Field: fmt.Sprintf("%s[%d]", field, i), Rule: rule})
		}
	}
	return all
}

func serverProblems(list []MCPServer) (all []Problem) {
	for i, s := range list {
		own := s.Problems()
		if slices.ContainsFunc(list[:i], func(x MCPServer) bool { return x.Name == s.Name }) &&
			serverForm.Get().MatchString(s.Name) {
			own = append([]Problem{{Field: "name", Rule: RuleTaken}}, own...)
		}
		for _, p := range own {
			p.Field = fmt.Sprintf("mcp_servers[%d].%s", i, p.Field)
			all = append(all, p)
		}
	}
	return all
}

// Problems returns the problems of one server, those of its name before those of its URL.
func (s MCPServer) Problems() (all []Problem) {
	if !serverForm.Get().MatchString(s.Name) {
		all = append(all, Problem{Field: "name", Rule: RuleServerName})
	}
	if rule := wrongAddress(s.URL); rule != "" {
		all = append(all, Problem{Field: "url", Rule: rule})
	}
	return all
}

// wrongAddress returns the rule that a server's address breaks, or "". Plain http is allowed only for loopback
// addresses, which only the local stack reaches.
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

// Limits on what one tenant may define.
const (
	MaxAgents      = 20 // not counting the built-in ones
	MaxAutoActions = 50
	MaxListedReads = 50
)

// agentProblems returns the problems of the agents, of the rules for actions and of the sources. What depends on the
// deployment, such as an address that it forbids, is only a warning of agent.Definitions, because settings can be
// copied to another deployment.
func (s Settings) agentProblems() (all []Problem) {
	for i, d := range s.Agents {
		faults := d.Faults()
		if d.ID != "" && slices.ContainsFunc(s.Agents[:i], func(x agent.Definition) bool { return x.ID == d.ID }) {
			faults = append(faults, agent.Fault{Field: "id", Rule: agent.RuleTaken})
		}
		all = append(all, faultsAt("agents", i, faults)...)
	}
	for i, r := range s.AutoActions {
		faults := r.Faults()
		listed := slices.ContainsFunc(s.Sources, func(x agent.Source) bool { return x.Name == r.Source })
		if r.Source != "" && !listed && len(faults) == 0 {
			faults = append(faults, agent.Fault{Field: "source", Rule: agent.RuleAutoSource})
		}
		all = append(all, faultsAt("auto_actions", i, faults)...)
	}
	for i, r := range s.ListedReads {
		all = append(all, faultsAt("listed_reads", i, r.Faults())...)
	}
	for i, x := range s.Sources {
		faults := x.Faults()
		if slices.ContainsFunc(s.Sources[:i], func(y agent.Source) bool { return y.Name == x.Name }) && x.Name != "" {
			faults = append(faults, agent.Fault{Field: "name", Rule: agent.RuleSourceName})
		}
		all = append(all, faultsAt("sources", i, faults)...)
	}
	return all
}

func faultsAt(list string, i int, faults []agent.Fault) (all []Problem) {
	for _, f := range faults {
		all = append(all, Problem{Field: fmt.Sprintf("%s[%d].%s", list, i, f.Field), Rule: Rule(f.Rule)})
	}
	return all
}
