package rules

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Limits of a tenant's rules.
const (
	MaxBytes    = 100 << 10 // of all rules as JSON: what one row holds
	MaxRules    = 100
	MaxName     = 80 // characters of a rule's or a stage's name
	MaxRefuse   = 1000
	MaxListed   = 100 // values of one condition
	MaxValue    = 200 // characters of a department or position, or of a label
	MaxAddress  = 500 // bytes of a tool's address, as the settings have
	MaxTool     = 100 // bytes of a tool's name
	MaxStages   = 8
	MaxAny      = 4  // of which any is asked
	MaxPeople   = 50 // of one stage, and of the readers
	MaxLevel    = 2
	MaxStamps   = 50 // that all stages of a route need together, as in circulation
	MaxPointers = 4
	maxPointer  = 200 // bytes
	maxVersion  = 200 // bytes
)

var (
	userForm     = language.Regexp{Text: `^[UW][A-Z0-9]{1,40}$`}
	groupForm    = language.Regexp{Text: `^S[A-Z0-9]{1,40}$`}
	channelForm  = language.Regexp{Text: `^[CG][A-Z0-9]{1,40}$`}
	currencyForm = language.Regexp{Text: `^[A-Z]{3}$`}
	pointerForm  = language.Regexp{Text: `^(/([^~/]|~[01])+)+$`}
)

// Problem is what is wrong with a field of rules, in English and, for pages in other languages, by a key of Limits and
// its values: numbers or Choices.
type Problem struct {
	aggregate.Problem
	Limit string
	Of    []any
}

// Limits say in English what a field must be.
var Limits = map[string]string{
	"words":        "must have 1 to %d characters, none of them hidden, and no space around them",
	"taken":        "is taken",
	"twice":        "is there twice",
	"choice":       "must be %s",
	"some":         "must have 1 to %d entries",
	"most":         "must have at most %d entries",
	"bytes":        "must have 1 to %d bytes",
	"between":      "must be between %d and %d",
	"number":       "must be a number above 0 with at most %d digits and %d decimals, such as 100000",
	"currency":     "must be a currency of three letters such as JPY",
	"id":           "must be a ULID",
	"person":       "must be a Slack user id such as U012ABCDEF",
	"group":        "must be a Slack user group's id such as S012ABCDEF",
	"channel":      "must be a Slack channel's id such as C012ABCDEF",
	"place":        "must name a channel or direct messages, or be absent",
	"requester":    "must name a person, department or group, or be absent",
	"no_list":      "must be empty of writes outside",
	"address":      "must be an address of at most %d bytes, or empty of Ringi's own tool",
	"bounds":       "must have at_least or below, or be absent",
	"more":         "must leave numbers between the bounds",
	"of_channel":   "must be 1 of a channel, or absent: a channel is never empty",
	"other_kind":   "must have no fields of another kind",
	"both":         "must be empty beside a route",
	"stamps":       "must need at most %d stamps together",
	"tells":        "must be the id of a channel or a user group",
	"only_channel": "must ask others than the channel, since it may write outside",
	"form":         "must be %d",
	"large":        "must have at most %d bytes, not %d",
}
