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
		p.unless(slices.Contains(kinds, k), field, "one_of", choices(kinds))
		p.unless(!slices.Contains(c.Kinds[:i], k), field, "twice")
	}
	if x := c.Places; x != nil {
		p.unless(x.Direct || len(x.Channels) > 0, at+".places", "place")
		p.list(x.Channels, at+".places.channels", MaxListed, p.like(&channelForm, "channel_id"))
	}
	if x := c.Requester; x != nil {
		p.unless(len(x.People)+len(x.Departments)+len(x.Groups) > 0, at+".requester", "requester")
		p.users(x.People, at+".requester.people", MaxListed)
		p.list(x.Departments, at+".requester.departments", MaxListed, p.value)
		p.list(x.Groups, at+".requester.groups", MaxListed, p.group)
	}
	if c.Tools != nil {
		c.Tools.check(p, at+".tools")
	}
	if c.Amount != nil {
		c.Amount.check(p, at+".amount")
	}
	p.unless(len(c.Labels) <= MaxPointers, at+".labels", "most", MaxPointers)
	for i, l := range c.Labels {
		field := fmt.Sprintf("%s.labels[%d]", at, i)
		p.words(l.Name, field+".name", MaxNamed)
		p.unless(len(l.List) > 0, field+".list", "some", MaxListed)
		p.list(l.List, field+".list", MaxListed, p.value)
		p.unless(!slices.Contains(c.Names()[:i], l.Name), field+".name", "twice")
	}
}

func (t *Tools) check(p *problems, at string) {
	switch t.Use {
	case UseWriting:
		p.unless(len(t.List) == 0, at+".list", "no_list")
	case UseSome, UseOnly:
		p.unless(len(t.List) > 0 && len(t.List) <= MaxListed, at+".list", "some", MaxListed)
	default:
		p.add(at+".use", "one_of", choices([]Use{UseSome, UseOnly, UseWriting}))
	}
	for i, tool := range t.List {
		field := fmt.Sprintf("%s.list[%d]", at, i)
		p.unless(len(tool.Name) >= 1 && len(tool.Name) <= MaxTool, field+".name", "bytes", MaxTool)
		p.unless(len(tool.Address) <= MaxAddress && (tool.Address == "" || strings.Contains(tool.Address, "://")),
			field+".address", "tool_address", MaxAddress)
		p.unless(!slices.ContainsFunc(t.List[:i], tool.Same), field, "twice")
	}
}

func (b *Between) check(p *problems, at string) {
	p.unless(b.Bounded(), at, "bounds")
	if b.AtLeast != "" {
		p.number(b.AtLeast, at+".at_least")
	}
	if b.Below != "" {
		p.number(b.Below, at+".below")
	}
	p.unless(b.AtLeast == "" || !b.Below.Valid() || !b.AtLeast.least(b.Below), at+".below", "more")
	p.currency(b.Currency, at+".currency")
}

func (s Stage) check(p *problems, at string) {
	p.words(s.Name, at+".name", MaxName)
	if s.Who.Kind == WhoChannel {
		p.unless(s.Need == 1, at+".need", "of_channel")
	} else {
		p.between(s.Need, 0, max(s.Who.most(), 1), at+".need")
	}
	s.Who.check(p, at+".who")
}

// oneOf are the kinds of which several may be asked as one.
var oneOf = []WhoKind{WhoPeople, WhoGroup, WhoManager, WhoPosition}

func (w Who) check(p *problems, at string) {
	only := Who{Kind: w.Kind}
	switch w.Kind {
	case WhoPeople:
		only.People = w.People
		p.unless(len(w.People) > 0, at+".people", "some", MaxPeople)
		p.users(w.People, at+".people", MaxPeople)
	case WhoGroup:
		only.Group = w.Group
		p.group(w.Group, at+".group")
	case WhoManager:
		only.Level = w.Level
		p.between(w.Level, 1, MaxLevel, at+".level")
	case WhoPosition:
		only.Position, only.Department = w.Position, w.Department
		p.value(w.Position, at+".position")
		if w.Department != "" {
			p.value(w.Department, at+".department")
		}
	case WhoChannel:
	case WhoAny:
		only.Any = w.Any
		p.between(len(w.Any), 2, MaxAny, at+".any")
		for i, x := range w.Any {
			field := fmt.Sprintf("%s.any[%d]", at, i)
			if slices.Contains(oneOf, x.Kind) {
				x.check(p, field)
			} else {
				p.add(field+".kind", "one_of", choices(oneOf))
			}
		}
	default:
		p.add(at+".kind", "one_of", choices(append(slices.Clone(oneOf), WhoChannel, WhoAny)))
		return
	}
	// fields of other kinds would look as if they counted
	p.unless(len(w.People) == len(only.People) && w.Group == only.Group && w.Level == only.Level &&
		w.Position == only.Position && w.Department == only.Department && len(w.Any) == len(only.Any), at, "other_kind")
}

// most returns the most people whom it may find.
func (w Who) most() (n int) {
	for _, x := range w.Each() {
		switch x.Kind {
		case WhoPeople:
			n += len(x.People)
		case WhoGroup, WhoPosition:
			return MaxPeople
		default:
			n++
		}
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
type problems aggregate.Problems

func (p *problems) add(field, code string, args ...any) {
	*p = append(*p, aggregate.Problem{Field: field, Code: code, Args: args})
}

// unless adds a problem unless a claim holds.
func (p *problems) unless(holds bool, field, code string, args ...any) {
	if !holds {
		p.add(field, code, args...)
	}
}

func (p *problems) between(n, least, most int, field string) {
	p.unless(n >= least && n <= most, field, "between", least, most)
}

// words checks a text that people read or a value that they choose.
func (p *problems) words(text, field string, most int) {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	p.unless(text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		text == strings.TrimSpace(text) && !strings.ContainsFunc(text, hidden), field, "words", most)
}

func (p *problems) value(v, field string) { p.words(v, field, MaxValue) }

// list checks each value of a list, and that none is there twice.
func (p *problems) list(values []string, field string, most int, each func(value, field string)) {
	p.unless(len(values) <= most, field, "most", most)
	seen := map[string]bool{}
	for i, v := range values {
		at := fmt.Sprintf("%s[%d]", field, i)
		each(v, at)
		p.unless(!seen[v], at, "twice")
		seen[v] = true
	}
}

// like returns a check by a form.
func (p *problems) like(form *language.Regexp, limit string) func(value, field string) {
	return func(value, field string) { p.unless(form.Get().MatchString(value), field, limit) }
}

func (p *problems) users(values []string, field string, most int) {
	p.list(values, field, most, p.like(&userForm, "user_id"))
}

func (p *problems) group(value, field string) {
	p.like(&groupForm, "group_id")(value, field)
}

func (p *problems) pointer(value, field string) {
	p.unless(len(value) <= maxPointer && pointerForm.Get().MatchString(value), field,
		"must be a JSON pointer such as /items/*/price, in bytes at most", maxPointer)
}

func (p *problems) currency(value, field string) {
	p.like(&currencyForm, "currency")(value, field)
}

func (p *problems) number(d Decimal, field string) {
	p.unless(d.Valid() && d.rat().Sign() > 0, field, "positive", MaxDigits, MaxDecimals)
}

// Problems returns everything for which the rules can't be saved. known are the tools that requests may call.
func (r *Rules) Problems(known []Known) aggregate.Problems {
	var p problems
	p.unless(r.Form == Form, "form", "form", Form)
	text, err := json.Marshal(r)
	p.unless(err == nil && len(text) <= MaxBytes, "rules", "large", MaxBytes, len(text))
	p.unless(len(r.Rules) <= MaxRules, "rules", "most", MaxRules)
	for i := range r.Rules {
		r.rule(&p, i, known)
	}
	if r.Last.Reads.Route != nil || r.Last.Reads.Refuse != "" {
		r.Last.Reads.check(&p, "last.reads")
	}
	if r.Last.Writes.Route != nil || r.Last.Writes.Refuse != "" {
		r.Last.Writes.check(&p, "last.writes")
		r.Last.Writes.ofWrites(&p, "last.writes")
	}
	return aggregate.Problems(p)
}

// Validate returns the first of Problems, or nil.
func (r *Rules) Validate(known []Known) error { return r.Problems(known).Err() }

func (r *Rules) rule(p *problems, i int, known []Known) {
	rule, at := &r.Rules[i], fmt.Sprintf("rules[%d]", i)
	before := r.Rules[:i]
	p.unless(aggregate.ValidID(rule.ID), at+".id", "id")
	p.unless(!slices.ContainsFunc(before, func(x Rule) bool { return x.ID == rule.ID }), at+".id", "taken")
	p.words(rule.Name, at+".name", MaxName)
	p.unless(!slices.ContainsFunc(before, func(x Rule) bool { return x.Name == rule.Name }), at+".name", "taken")
	rule.When.check(p, at+".when")
	rule.check(p, at)
	if rule.When.mayWrite(known) {
		rule.ofWrites(p, at)
	}
}

// ofWrites reports a route for writes outside that asks the channel alone.
func (o *Outcome) ofWrites(p *problems, at string) {
	p.unless(o.Route == nil || len(o.Route.Stages) == 0 || slices.ContainsFunc(o.Route.Stages, func(s Stage) bool {
		return s.Who.Kind != WhoChannel
	}), at+".route.stages", "only_channel")
}

func (o *Outcome) check(p *problems, at string) {
	if o.Route == nil {
		text := strings.NewReplacer("\n", " ", "\t", " ").Replace(o.Refuse)
		p.words(text, at+".refuse", MaxRefuse)
		return
	}
	p.unless(o.Refuse == "", at+".refuse", "both")
	o.Route.check(p, at+".route")
}

func (r *Policy) check(p *problems, at string) {
	p.unless(len(r.Stages) >= 1 && len(r.Stages) <= MaxStages, at+".stages", "some", MaxStages)
	stamps := 0
	for i, s := range r.Stages {
		s.check(p, fmt.Sprintf("%s.stages[%d]", at, i))
		stamps += max(s.Need, 1)
	}
	p.unless(stamps <= MaxStamps, at+".stages", "stamps", MaxStamps)
	p.unless(r.Tells == "" || channelForm.Get().MatchString(r.Tells) || groupForm.Get().MatchString(r.Tells), at+".tells",
		"tells")
}
