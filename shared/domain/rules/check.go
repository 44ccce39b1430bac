package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

func (c *Conditions) check(p *problems, at string) {
	p.list(choices(c.Asks), at+".asks", len(Kinds), func(kind, field string) {
		p.Unless(slices.Contains(Kinds, Kind(kind)), field, "one_of", choices(Kinds))
	})
	p.users(c.People, at+".people", MaxListed)
	p.list(c.Departments, at+".departments", MaxListed, p.value)
	p.list(c.Groups, at+".groups", MaxListed, p.group)
	p.list(c.Channels, at+".channels", MaxListed, func(id, field string) {
		p.Unless(id == Direct || aggregate.ChannelForm.Get().MatchString(id), field, "channel_id")
	})
	p.Unless(len(c.Tools) <= MaxListed, at+".tools", "most", MaxListed)
	for i, tool := range c.Tools {
		field := fmt.Sprintf("%s.tools[%d]", at, i)
		p.Unless(len(tool.Name) >= 1 && len(tool.Name) <= MaxTool && len(tool.Address) <= MaxAddress &&
			(tool.Address == "" || strings.Contains(tool.Address, "://")), field, "tool_address", MaxAddress)
		p.Unless(!slices.ContainsFunc(c.Tools[:i], tool.Same), field, "twice")
	}
	p.Unless(!c.Only || len(c.Tools) > 0, at+".tools", "some", MaxListed)
	if c.From != "" {
		p.number(c.From, at+".from")
	}
	if c.Below != "" {
		p.number(c.Below, at+".below")
	}
	p.Unless(c.From == "" || !c.Below.Valid() || !c.From.least(c.Below), at+".below", "more")
	if c.Bounded() || c.Currency != "" {
		p.currency(c.Currency, at+".currency")
	}
	p.Unless(len(c.Labels) <= MaxPointers, at+".labels", "most", MaxPointers)
	for _, name := range c.Names() {
		field := at + ".labels." + name
		p.words(name, at+".labels", MaxNamed)
		p.Unless(len(c.Labels[name]) > 0, field, "some", MaxListed)
		p.list(c.Labels[name], field, MaxListed, p.value)
	}
}

func (s *Stage) check(p *problems, at string) {
	p.words(s.Name, at+".name", MaxName)
	p.Unless(!s.none(), at, "nobody")
	if s.Channel {
		p.Unless(s.Need == 1, at+".need", "of_channel")
		p.Unless(len(s.People) == 0 && s.Group == "" && s.Superior == 0 && !s.post(), at+".channel", "alone")
	} else {
		p.upTo(s.Need, max(s.most(), 1), at+".need")
	}
	p.users(s.People, at+".people", MaxPeople)
	if s.Group != "" {
		p.group(s.Group, at+".group")
	}
	p.upTo(s.Superior, MaxLevel, at+".superior")
	if s.Department != "" {
		p.value(s.Department, at+".department")
	}
	if s.Position != "" {
		p.value(s.Position, at+".position")
	}
}

// most returns the most people whom it may find.
func (w *Who) most() int {
	n := len(w.People)
	if w.Superior > 0 {
		n++
	}
	if w.Group != "" || w.post() {
		n = MaxPeople
	}
	return min(n, MaxPeople)
}

func choices[T ~string](all []T) (texts []string) {
	for _, x := range all {
		texts = append(texts, string(x))
	}
	return texts
}

// problems collects what is wrong with fields.
type problems struct{ aggregate.Problems }

func (p *problems) upTo(n, most int, field string) {
	p.Unless(n >= 0 && n <= most, field, "between", 0, most)
}

// words checks a text that people read or a value that they choose.
func (p *problems) words(text, field string, most int) {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	p.Unless(text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		text == strings.TrimSpace(text) && !strings.ContainsFunc(text, hidden), field, "words", most)
}

func (p *problems) value(v, field string) { p.words(v, field, MaxValue) }

// list checks each value of a list, and that none is there twice.
func (p *problems) list(values []string, field string, most int, each func(value, field string)) {
	p.Unless(len(values) <= most, field, "most", most)
	seen := map[string]bool{}
	for i, v := range values {
		at := fmt.Sprintf("%s[%d]", field, i)
		each(v, at)
		p.Unless(!seen[v], at, "twice")
		seen[v] = true
	}
}

// like returns a check by a form.
func (p *problems) like(form *language.Regexp, limit string) func(value, field string) {
	return func(value, field string) { p.Unless(form.Get().MatchString(value), field, limit) }
}

func (p *problems) users(values []string, field string, most int) {
	p.list(values, field, most, p.like(&aggregate.UserForm, "user_id"))
}

func (p *problems) group(value, field string) {
	p.like(&aggregate.GroupForm, "group_id")(value, field)
}

func (p *problems) pointer(value, field string) {
	p.Unless(len(value) <= maxPointer && pointerForm.Get().MatchString(value), field,
		"must be a JSON pointer such as /items/*/price, in bytes at most", maxPointer)
}

func (p *problems) currency(value, field string) {
	p.like(&currencyForm, "currency")(value, field)
}

func (p *problems) number(d Decimal, field string) {
	p.Unless(d.Valid() && d.rat().Sign() > 0, field, "positive", MaxDigits, MaxDecimals)
}

// Problems returns everything for which the rules can't be saved. known are the tools that requests may call.
func (r *Rules) Problems(known []Known) aggregate.Problems {
	var p problems
	text, err := json.Marshal(r)
	p.Unless(err == nil && len(text) <= MaxBytes, "rules", "large", MaxBytes, len(text))
	p.Unless(len(r.Rules) >= 1 && len(r.Rules) <= MaxRules, "rules", "some", MaxRules)
	for i := range r.Rules {
		r.Rules[i].check(&p, fmt.Sprintf("rules[%d]", i), r.Rules[:i], known)
	}
	return p.Problems
}

func (r *Rule) check(p *problems, at string, before []Rule, known []Known) {
	p.Unless(aggregate.ValidID(r.ID), at+".id", "id")
	p.Unless(!slices.ContainsFunc(before, func(x Rule) bool { return x.ID == r.ID }), at+".id", "taken")
	p.words(r.Name, at+".name", MaxName)
	p.Unless(!slices.ContainsFunc(before, func(x Rule) bool { return x.Name == r.Name }), at+".name", "taken")
	r.Conditions.check(p, at)
	r.Outcome.check(p, at)
	p.Unless(!r.mayWrite(known) || len(r.Stages) == 0 || slices.ContainsFunc(r.Stages, func(s Stage) bool {
		return !s.Channel
	}), at+".stages", "only_channel")
}

func (o *Outcome) check(p *problems, at string) {
	p.Unless(o.Tells == "" || aggregate.ChannelForm.Get().MatchString(o.Tells) ||
		aggregate.GroupForm.Get().MatchString(o.Tells), at+".tells", "tells")
	if len(o.Stages) == 0 {
		p.words(strings.NewReplacer("\n", " ", "\t", " ").Replace(o.Refuse), at+".refuse", MaxRefuse)
		return
	}
	p.Unless(o.Refuse == "", at+".refuse", "both")
	p.Unless(len(o.Stages) <= MaxStages, at+".stages", "some", MaxStages)
	stamps := 0
	for i := range o.Stages {
		o.Stages[i].check(p, fmt.Sprintf("%s.stages[%d]", at, i))
		stamps += max(o.Stages[i].Need, 1)
	}
	p.Unless(stamps <= MaxStamps, at+".stages", "stamps", MaxStamps)
}

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
	MaxPeople   = 50 // of one stage, and of the readers
	MaxLevel    = 2
	MaxStamps   = 50 // that all stages of a route need together, as in circulation
	MaxPointers = 4
	maxPointer  = 200 // bytes
	maxVersion  = 200 // bytes
)

var (
	currencyForm = language.Regexp{Text: `^[A-Z]{3}$`}
	pointerForm  = language.Regexp{Text: `^(/([^~/]|~[01])+)+$`}
)

// Finding is something about rules that can be saved which whoever saves them should know.
type Finding struct {
	Kind  FindingKind
	Rule  string // id
	Stage int    // number of the stage, from 1; 0: it is the condition on who asks
	Who   string // of FindingUnknown, what the rule names
}

// FindingKind says what was found.
type FindingKind string

const (
	// FindingUnknown: a stage or condition names a post or department that the organisation doesn't have, or no
	// organisation stands. What it takes is refused.
	FindingUnknown FindingKind = "unknown"
	// FindingNobody: a stage finds fewer people today than must stamp, whoever asks.
	FindingNobody FindingKind = "nobody"
)

// Findings returns what should be known about the rules.
func (r *Rules) Findings(d Directory) (all []Finding) {
	for i := range r.Rules {
		rule := &r.Rules[i]
		for _, name := range rule.Unknown(d) {
			all = append(all, Finding{Kind: FindingUnknown, Rule: rule.ID, Who: name})
		}
		all = append(all, rule.findings(rule.ID, d)...)
	}
	return all
}

// findings returns what should be known about the stages of a rule.
func (o *Outcome) findings(rule string, d Directory) (all []Finding) {
	r := resolving{facts: &Facts{}, d: d}
	for i, s := range o.Stages {
		at := Finding{Kind: FindingUnknown, Rule: rule, Stage: i + 1, Who: s.unknown(d)}
		switch {
		case s.Channel:
			continue
		case at.Who != "":
		case s.Superior > 0 && !d.Organised():
			at.Who = s.Name
		case !s.Above() && len(r.stamping(s.find(r.facts, d))) < max(s.Need, 1):
			at.Kind = FindingNobody
		default:
			continue
		}
		all = append(all, at)
	}
	return all
}
