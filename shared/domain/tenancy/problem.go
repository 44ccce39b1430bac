package tenancy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
)

// Rule is a rule for the values of fields.
type Rule string

const (
	RuleBetween     Rule = "between" // a number from Min to Max
	RuleLength      Rule = "length"  // a text with Min to Max characters
	RuleCount       Rule = "count"   // a list with Min to Max entries
	RuleOneOf       Rule = "one_of"  // one of Words
	RuleSlug        Rule = "slug"
	RuleSlugTaken   Rule = "slug_taken"
	RuleSlugLater   Rule = "slug_later"
	RuleModel       Rule = "model"
	RuleUserID      Rule = "user_id"
	RuleGroupID     Rule = "group_id"
	RuleChannelID   Rule = "channel_id"
	RuleUnjoined    Rule = "unjoined" // a channel that Ringi is in
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
	reflect.Bool: RuleFlag, reflect.Int: RuleWhole, reflect.Float64: RuleNumber, reflect.String: RuleText, reflect.Slice: RuleList,
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
func (p Problem) Err() aggregate.ErrField {
	return aggregate.ErrField{Field: p.Field, Limit: p.limit()}
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
		RuleSlugTaken:   "is another workspace's",
		RuleSlugLater:   "cannot be set before the workspace's first message",
		RuleModel:       errModel(),
		RuleUserID:      "must be a Slack user id such as U012ABCDEF",
		RuleGroupID:     "must be a Slack user group's id such as S012ABCDEF",
		RuleChannelID:   "must be a Slack channel's id such as C012ABCDEF",
		RuleUnjoined:    "must be a channel that Ringi is in and that is not archived",
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
		RuleDays:        "must be on or after the first day, and within 92 days",
		RuleMost:        "has as many stand-ins as may be",
		RuleMostHand:    "stands in for as many as may be",
		RuleMostOfTwo:   "the same two have as many as may be",
		RuleSet:         "has another end already",
		RuleNoAccount:   "must be an account",
		RuleNoEmployee:  "must be an employee in the organisation",
		RuleNoRow:       "must be in the organisation",
		RuleParty:       "must not be asked for the administrator's own request",
		RulePrice:       "must be US dollars for a million tokens, from 0 to 999.999999 with at most 6 decimals, such as 0.25",
		RuleDate:        "must be a day such as 2026-11-20",
	}
})

// errModel returns modelname's error text for an invalid name.
func errModel() string {
	_, err := aggregate.ParseModelName("")
	var bad aggregate.ErrField
	errors.As(err, &bad)
	return bad.Limit
}

// ProblemOf converts an error of saving settings to a Problem; false if it names no field.
func ProblemOf(err error) (Problem, bool) {
	var bad aggregate.ErrField
	if !errors.As(err, &bad) {
		return Problem{}, false
	}
	for rule, limit := range limits() {
		if limit == bad.Limit {
			return Problem{Field: bad.Field, Rule: rule}, true
		}
	}
	for rule, limit := range agent.Limits {
		if limit == bad.Limit {
			return Problem{Field: bad.Field, Rule: Rule(rule)}, true
		}
	}
	return Problem{Field: bad.Field, Rule: Rule(bad.Limit)}, true
}
