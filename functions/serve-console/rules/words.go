package rules

import (
	"fmt"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// problem is why rules can't be saved, in the reader's language.
type problem struct {
	Field string // below the rule that has it
	Rule  string // number of the rule from 0, "reads", "writes" or ""
	web.Fault
}

// limits maps the limits of fields to the keys of their texts. The first form that a limit has counts; its groups are
// the values a and b.
var limits = []struct {
	form language.Regexp
	key  string
}{
	{language.Regexp{Text: `^must have 1 to (\d+) characters`}, "words"},
	{language.Regexp{Text: `^is taken`}, "taken"},
	{language.Regexp{Text: `^is there twice`}, "twice"},
	{language.Regexp{Text: `^must name a channel or direct messages`}, "place"},
	{language.Regexp{Text: `^must be a Slack channel's id`}, "channel"},
	{language.Regexp{Text: `^must be a Slack user id`}, "person"},
	{language.Regexp{Text: `^must be a Slack user group's id`}, "group"},
	{language.Regexp{Text: `^must name a department or group`}, "requester"},
	{language.Regexp{Text: `^must be empty of writes outside`}, "no_list"},
	{language.Regexp{Text: `^must have 1 to (\d+) entries`}, "some"},
	{language.Regexp{Text: `^must have at most (\d+) entries`}, "most"},
	{language.Regexp{Text: `^must be (some, only or .*)$`}, "choice"},
	{language.Regexp{Text: `^must be (within or outside)`}, "choice"},
	{language.Regexp{Text: `^must be (up, skip or .*)$`}, "choice"},
	{language.Regexp{Text: `^must be (people, group.*)$`}, "choice"},
	{language.Regexp{Text: `^must be (steps or .*)$`}, "choice"},
	{language.Regexp{Text: `^must have 1 to (\d+) bytes`}, "bytes"},
	{language.Regexp{Text: `^must be an address of at most (\d+)`}, "address"},
	{language.Regexp{Text: `^must have at_least or below`}, "bounds"},
	{language.Regexp{Text: `^must be more than at_least`}, "more"},
	{language.Regexp{Text: `^must be a currency`}, "currency"},
	{language.Regexp{Text: `^must be a number above 0 with at most (\d+) digits and (\d+)`}, "number"},
	{language.Regexp{Text: `^must be between (\d+) and (\d+)`}, "between"},
	{language.Regexp{Text: `^must be 1 of a channel`}, "of_channel"},
	{language.Regexp{Text: `^must be absent of a channel`}, "of_channel"},
	{language.Regexp{Text: `^must have no fields of another kind`}, "other_kind"},
	{language.Regexp{Text: `^must be a ULID`}, "id"},
	{language.Regexp{Text: `^must have at most (\d+) bytes, not (\d+)`}, "large"},
	{language.Regexp{Text: `^must ask others than the channel`}, "only_channel"},
	{language.Regexp{Text: `^must need at least (\d+) stamps, the floor`}, "floor_stamps"},
	{language.Regexp{Text: `^must be at least (\d+), the floor of writes outside from ([0-9.]+ [A-Z]*)`}, "floor_hands"},
	{language.Regexp{Text: `^must be empty beside a route`}, "both"},
	{language.Regexp{Text: `^must need at most (\d+) stamps together`}, "stamps"},
	{language.Regexp{Text: `^must be at least 0, and at most the number`}, "reachable"},
	{language.Regexp{Text: `^must name somebody`}, "readers"},
	{language.Regexp{Text: `^must be (\d+)$`}, "form"},
}

// limit says a field's limit, or repeats one that has no text.
func (s speaker) limit(limit string) string {
	for i := range limits {
		x := &limits[i]
		if m := x.form.Get().FindStringSubmatch(limit); m != nil {
			m = append(m, "", "")
			return s.In("limits", x.key, "a", m[1], "b", m[2])
		}
	}
	return limit
}

var (
	ruleField = language.Regexp{Text: `^rules\[(\d+)\]\.`}
	lastField = language.Regexp{Text: `^last\.(reads|writes)\.`}
	stagePath = language.Regexp{Text: `^route\.stages\[(\d+)\]`}
	position  = language.Regexp{Text: `\[(\d+)\]`}
)

// problems says what is wrong with rules.
func (s speaker) problems(x *rules.Rules, all []aggregate.ErrField) (out []problem) {
	for _, e := range all {
		p := problem{Field: e.Field, Fault: web.Fault{Text: s.limit(e.Limit)}}
		if m := ruleField.Get().FindStringSubmatch(e.Field); m != nil {
			p.Rule, p.Field = m[1], strings.TrimPrefix(e.Field, m[0])
		} else if m := lastField.Get().FindStringSubmatch(e.Field); m != nil {
			p.Rule, p.Field = m[1], strings.TrimPrefix(e.Field, m[0])
		}
		p.Label = s.label(p.Field)
		if at := s.ruleAt(x, p.Rule); at != "" {
			p.Label = at + ": " + p.Label
		}
		out = append(out, p)
	}
	return out
}

// ruleAt names the rule of a problem.
func (s speaker) ruleAt(x *rules.Rules, at string) string {
	var i int
	switch {
	case at == "":
		return ""
	case at == reads || at == writes:
		return s.In("last", at)
	}
	if _, err := fmt.Sscan(at, &i); err != nil || x == nil || i < 0 || i >= len(x.Rules) {
		return at
	}
	return s.Say("rule_at", "n", i+1, "name", legible.OneLine(x.Rules[i].Name))
}

// label names a field of a rule: its stage, what it is, and which entry of a list.
func (s speaker) label(field string) string {
	stage := ""
	if m := stagePath.Get().FindStringSubmatch(field); m != nil {
		var i int
		fmt.Sscan(m[1], &i) // digits; too many are 0
		field = "route.stages" + strings.TrimPrefix(field, m[0])
		stage = s.Say("stage_at", "n", number(i)) + " "
	}
	entry := ""
	if m := position.Get().FindStringSubmatch(field); m != nil {
		var i int
		fmt.Sscan(m[1], &i)
		entry = fmt.Sprintf(" (%d)", i+1)
	}
	plain := position.Get().ReplaceAllString(field, "")
	for name := plain; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		if text := s.In("fields", name); text != "" {
			return stage + text + entry
		}
	}
	return stage + plain + entry
}
