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
	for i, k := range c.Kinds {
		field := fmt.Sprintf("%s.kinds[%d]", at, i)
		p.unless(slices.Contains(kinds, k), field, "must be steps or action")
		p.unless(!slices.Contains(c.Kinds[:i], k), field, "is there twice")
	}
	value := func(v, field string) { p.words(v, field, MaxValue) }
	if x := c.Places; x != nil {
		p.unless(x.Direct || len(x.Channels) > 0, at+".places", "must name a channel or direct messages, or be absent")
		p.list(x.Channels, at+".places.channels", MaxListed,
			p.like(&channelForm, "must be a Slack channel's id such as C012ABCDEF"))
	}
	if x := c.Requester; x != nil {
		p.unless(len(x.Departments)+len(x.Groups) > 0, at+".requester", "must name a department or group, or be absent")
		p.list(x.Departments, at+".requester.departments", MaxListed, value)
		p.list(x.Groups, at+".requester.groups", MaxListed, p.group)
	}
	if c.Tools != nil {
		c.Tools.check(p, at+".tools")
	}
	if x := c.Destinations; x != nil {
		p.unless(x.Go == GoWithin || x.Go == GoOutside, at+".destinations.go", "must be within or outside")
		p.unless(len(x.List) > 0, at+".destinations.list", "must have 1 to %d entries", MaxListed)
		p.list(x.List, at+".destinations.list", MaxListed, value)
	}
	if c.Amount != nil {
		c.Amount.check(p, at+".amount")
	}
}

func (t *Tools) check(p *problems, at string) {
	switch t.Use {
	case UseWriting:
		p.unless(len(t.List) == 0, at+".list", "must be empty of writes outside")
	case UseSome, UseOnly:
		p.unless(len(t.List) > 0 && len(t.List) <= MaxListed, at+".list", "must have 1 to %d entries", MaxListed)
	default:
		p.add(at+".use", "must be some, only or writes_outside")
	}
	for i, tool := range t.List {
		field := fmt.Sprintf("%s.list[%d]", at, i)
		p.unless(len(tool.Name) >= 1 && len(tool.Name) <= MaxTool, field+".name", "must have 1 to %d bytes", MaxTool)
		p.unless(len(tool.Address) <= MaxAddress && (tool.Address == "" || strings.Contains(tool.Address, "://")),
			field+".address", "must be an address of at most %d bytes, or empty of Ringi's own tool", MaxAddress)
		p.unless(!slices.ContainsFunc(t.List[:i], tool.Same), field, "is there twice")
	}
}

func (b *Between) check(p *problems, at string) {
	p.unless(b.AtLeast != "" || b.Below != "", at, "must have at_least or below, or be absent")
	if b.AtLeast != "" {
		p.number(b.AtLeast, at+".at_least")
	}
	if b.Below != "" {
		p.number(b.Below, at+".below")
	}
	p.unless(b.AtLeast == "" || b.Below == "" || b.AtLeast.below(b.Below), at+".below", "must be more than at_least")
	p.currency(b.Currency, at+".currency")
}

func (e Empty) check(p *problems, at string) {
	one := func(t Then, at, last string) {
		p.unless(t == ThenUp || t == ThenSkip || string(t) == last, at, "must be up, skip or %s", last)
	}
	one(e.Vacant, at+".vacant", string(ThenRefuse))
	one(e.Own, at+".own", string(ThenRefuse))
	one(e.Twice, at+".twice", string(ThenAgain))
}

func (s Stage) check(p *problems, at string) {
	p.words(s.Name, at+".name", MaxName)
	s.Who.check(p, at+".who")
	switch {
	case s.Who.Kind == WhoChannel:
		p.unless(s.Need == 1, at+".need", "must be 1 of a channel")
		p.unless(s.Empty == Empty{}, at+".empty", "must be absent of a channel, which is never empty")
		p.unless(!s.Others, at+".others", "must be absent of a channel")
		return
	default:
		p.between(s.Need, 0, s.Who.most(), at+".need")
	}
	s.Empty.check(p, at+".empty")
}

func (w Who) check(p *problems, at string) {
	switch only := (Who{Kind: w.Kind}); w.Kind {
	case WhoPeople:
		only.People = w.People
		p.unless(len(w.People) > 0, at+".people", "must have 1 to %d entries", MaxPeople)
		p.users(w.People, at+".people", MaxPeople)
		w.alone(p, only, at)
	case WhoGroup:
		only.Group = w.Group
		p.group(w.Group, at+".group")
		w.alone(p, only, at)
	case WhoManager:
		only.Level = w.Level
		p.between(w.Level, 1, MaxLevel, at+".level")
		w.alone(p, only, at)
	case WhoPosition:
		only.Position, only.Department = w.Position, w.Department
		p.words(w.Position, at+".position", MaxValue)
		p.words(w.Department, at+".department", MaxValue)
		w.alone(p, only, at)
	case WhoChannel:
		w.alone(p, only, at)
	default:
		p.add(at+".kind", "must be people, group, manager, position or channel")
	}
}

// alone reports fields of other kinds, which would look as if they counted.
func (w Who) alone(p *problems, only Who, at string) {
	p.unless(len(w.People) == len(only.People) && w.Group == only.Group && w.Level == only.Level &&
		w.Position == only.Position && w.Department == only.Department, at,
		"must have no fields of another kind than %s", w.Kind)
}

// Limits of a tenant's rules.
const (
	MaxBytes    = 100 << 10 // of all rules as JSON: what one row holds
	MaxRules    = 100
	MaxName     = 80 // characters of a rule's or a stage's name
	MaxRefuse   = 1000
	MaxListed   = 100 // values of one condition
	MaxValue    = 200 // characters of a department, position or destination
	MaxAddress  = 500 // bytes of a tool's address, as the settings have
	MaxTool     = 100 // bytes of a tool's name
	MaxStages   = 5
	MaxPeople   = 50 // of one stage, and of the readers
	MaxLevel    = 10
	MaxAskers   = 100 // of what is asked along a route: more are refused, and nobody is forgotten
	MaxStamps   = 100 // that all stages of a route need together, as in circulation
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

// problems collects what is wrong with fields.
type problems []aggregate.ErrField

func (p *problems) add(field, limit string, args ...any) {
	*p = append(*p, aggregate.ErrField{Field: field, Limit: fmt.Sprintf(limit, args...)})
}

// unless adds a problem unless a claim holds.
func (p *problems) unless(holds bool, field, limit string, args ...any) {
	if !holds {
		p.add(field, limit, args...)
	}
}

func (p *problems) between(n, least, most int, field string) {
	p.unless(n >= least && n <= most, field, "must be between %d and %d", least, most)
}

// words checks a text that people read or a value that they choose.
func (p *problems) words(text, field string, most int) {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	p.unless(text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		text == strings.TrimSpace(text) && !strings.ContainsFunc(text, hidden), field,
		"must have 1 to %d characters, none of them hidden, and no space around them", most)
}

// list checks each value of a list, and that none is there twice.
func (p *problems) list(values []string, field string, most int, each func(value, field string)) {
	p.unless(len(values) <= most, field, "must have at most %d entries", most)
	seen := map[string]bool{}
	for i, v := range values {
		at := fmt.Sprintf("%s[%d]", field, i)
		each(v, at)
		p.unless(!seen[v], at, "is there twice")
		seen[v] = true
	}
}

// like returns a check by a form.
func (p *problems) like(form *language.Regexp, limit string) func(value, field string) {
	return func(value, field string) { p.unless(form.Get().MatchString(value), field, "%s", limit) }
}

func (p *problems) users(values []string, field string, most int) {
	p.list(values, field, most, p.like(&userForm, "must be a Slack user id such as U012ABCDEF"))
}

func (p *problems) group(value, field string) {
	p.like(&groupForm, "must be a Slack user group's id such as S012ABCDEF")(value, field)
}

func (p *problems) pointer(value, field string) {
	p.unless(len(value) <= maxPointer && pointerForm.Get().MatchString(value), field,
		"must be a JSON pointer of at most %d bytes such as /items/*/price", maxPointer)
}

func (p *problems) currency(value, field string) {
	p.like(&currencyForm, "must be a currency of three letters such as JPY")(value, field)
}

func (p *problems) number(d Decimal, field string) {
	p.unless(d.Valid() && d.rat().Sign() > 0, field,
		"must be a number above 0 with at most %d digits and %d decimals, such as 100000", MaxDigits, MaxDecimals)
}

// Problems returns everything for which the rules can't be saved. known are the tools that requests may call.
func (r *Rules) Problems(known []Known) []aggregate.ErrField {
	var p problems
	p.unless(r.Form == Form, "form", "must be %d", Form)
	text, err := json.Marshal(r)
	p.unless(err == nil && len(text) <= MaxBytes, "rules", "must have at most %d bytes, not %d", MaxBytes, len(text))
	p.unless(len(r.Rules) <= MaxRules, "rules", "must have at most %d entries", MaxRules)
	p.between(r.Floor.Stamps, 1, MaxStages, "floor.stamps")
	if m := r.Floor.HandsFrom; m != nil {
		p.number(m.Value, "floor.hands_from.value")
		p.currency(m.Currency, "floor.hands_from.currency")
	}
	for i := range r.Rules {
		r.rule(&p, i, known)
	}
	if r.Last.Reads.Route != nil || r.Last.Reads.Refuse != "" {
		r.Last.Reads.check(&p, "last.reads")
	}
	if r.Last.Writes.Route != nil || r.Last.Writes.Refuse != "" {
		r.Last.Writes.check(&p, "last.writes")
		r.Floor.check(&p, &Conditions{}, r.Last.Writes.Route, "last.writes")
	}
	return p
}

// Validate returns the first of Problems, or nil.
func (r *Rules) Validate(known []Known) error {
	if all := r.Problems(known); len(all) > 0 {
		return all[0]
	}
	return nil
}

func (r *Rules) rule(p *problems, i int, known []Known) {
	rule, at := &r.Rules[i], fmt.Sprintf("rules[%d]", i)
	before := r.Rules[:i]
	p.unless(aggregate.ValidID(rule.ID), at+".id", "must be a ULID")
	p.unless(!slices.ContainsFunc(before, func(x Rule) bool { return x.ID == rule.ID }), at+".id", "is taken")
	p.words(rule.Name, at+".name", MaxName)
	p.unless(!slices.ContainsFunc(before, func(x Rule) bool { return x.Name == rule.Name }), at+".name", "is taken")
	rule.When.check(p, at+".when")
	rule.check(p, at)
	if rule.When.mayWrite(known) {
		r.Floor.check(p, &rule.When, rule.Route, at)
	}
}

// check reports a route for writes outside that asks less than the floor.
func (f Floor) check(p *problems, when *Conditions, route *Policy, at string) {
	if route == nil || len(route.Stages) == 0 {
		return
	}
	stages := at + ".route.stages"
	least := leastStamps(route.Stages)
	p.unless(named(route.Stages) > 0, stages, "must ask others than the channel, since it may write outside")
	p.unless(least >= max(f.Stamps, 1), stages, "must need at least %d stamps, the floor of writes outside",
		max(f.Stamps, 1))
	if f.mayMoveEnough(when) {
		p.unless(route.hands(len(route.Stages)) >= floorHands, at+".route.hands",
			"must be at least %d, the floor of writes outside from %s %s on", floorHands, f.HandsFrom.Value,
			f.HandsFrom.Currency)
	}
}

func (o *Outcome) check(p *problems, at string) {
	if o.Route == nil {
		text := strings.NewReplacer("\n", " ", "\t", " ").Replace(o.Refuse)
		p.words(text, at+".refuse", MaxRefuse)
		return
	}
	p.unless(o.Refuse == "", at+".refuse", "must be empty beside a route")
	o.Route.check(p, at+".route")
}

func (r *Policy) check(p *problems, at string) {
	p.unless(len(r.Stages) >= 1 && len(r.Stages) <= MaxStages, at+".stages", "must have 1 to %d entries", MaxStages)
	for i, s := range r.Stages {
		s.check(p, fmt.Sprintf("%s.stages[%d]", at, i))
	}
	p.unless(leastStamps(r.Stages) <= MaxStamps, at+".stages", "must need at most %d stamps together", MaxStamps)
	p.unless(r.Hands >= 0 && r.reachable(), at+".hands",
		"must be at least 0, and at most the number of different people who can stamp")
	if r.Readers != nil {
		p.users(r.Readers.People, at+".readers.people", MaxPeople)
		p.list(r.Readers.Groups, at+".readers.groups", MaxPeople, p.group)
		n := len(r.Readers.People) + len(r.Readers.Groups)
		p.unless(n > 0, at+".readers", "must name somebody, or be absent")
	}
}
