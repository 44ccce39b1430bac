package rules

import (
	"cmp"
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
		p.unless(slices.Contains(kinds, k), field, "choice", choices(kinds))
		p.unless(!slices.Contains(c.Kinds[:i], k), field, "twice")
	}
	value := func(v, field string) { p.words(v, field, MaxValue) }
	if x := c.Places; x != nil {
		p.unless(x.Direct || len(x.Channels) > 0, at+".places", "place")
		p.list(x.Channels, at+".places.channels", MaxListed, p.like(&channelForm, "channel"))
	}
	if x := c.Requester; x != nil {
		p.unless(len(x.Departments)+len(x.Groups)+len(x.Positions) > 0, at+".requester", "requester")
		p.list(x.Departments, at+".requester.departments", MaxListed, value)
		p.list(x.Groups, at+".requester.groups", MaxListed, p.group)
		p.list(x.Positions, at+".requester.positions", MaxListed, value)
	}
	if c.Tools != nil {
		c.Tools.check(p, at+".tools")
	}
	if x := c.Destinations; x != nil {
		p.unless(x.Go == GoWithin || x.Go == GoOutside, at+".destinations.go", "choice", choices([]Go{GoWithin, GoOutside}))
		p.unless(len(x.List) > 0, at+".destinations.list", "some", MaxListed)
		p.list(x.List, at+".destinations.list", MaxListed, value)
	}
	if c.Amount != nil {
		c.Amount.check(p, at+".amount")
	}
	c.checkLabels(p, at+".labels")
}

func (t *Tools) check(p *problems, at string) {
	switch t.Use {
	case UseWriting:
		p.unless(len(t.List) == 0, at+".list", "no_list")
	case UseSome, UseOnly:
		p.unless(len(t.List) > 0 && len(t.List) <= MaxListed, at+".list", "some", MaxListed)
	default:
		p.add(at+".use", "choice", choices([]Use{UseSome, UseOnly, UseWriting}))
	}
	for i, tool := range t.List {
		field := fmt.Sprintf("%s.list[%d]", at, i)
		p.unless(len(tool.Name) >= 1 && len(tool.Name) <= MaxTool, field+".name", "bytes", MaxTool)
		p.unless(len(tool.Address) <= MaxAddress && (tool.Address == "" || strings.Contains(tool.Address, "://")),
			field+".address", "address", MaxAddress)
		p.unless(!slices.ContainsFunc(t.List[:i], tool.Same), field, "twice")
	}
}

func (b *Between) check(p *problems, at string) {
	p.unless(b.Bounded(), at, "bounds")
	p.bounds(b.AtLeast, b.Above, b.AtMost, b.Below, at)
	p.currency(b.Currency, at+".currency")
}

func (e Empty) check(p *problems, at string) {
	one := func(t Then, at string, last Then) {
		all := []Then{ThenUp, ThenSkip, last}
		p.unless(slices.Contains(all, t), at, "choice", choices(all))
	}
	one(e.Vacant, at+".vacant", ThenRefuse)
	one(e.Own, at+".own", ThenRefuse)
	one(e.Twice, at+".twice", ThenAgain)
}

func (s Stage) check(p *problems, at string) {
	p.words(s.Name, at+".name", MaxName)
	s.Who.check(p, at+".who")
	if s.Who.Kind == WhoChannel {
		p.unless(s.Need == 1, at+".need", "of_channel")
		p.unless(s.Empty == Empty{}, at+".empty", "of_channel")
		p.unless(!s.Others, at+".others", "of_channel")
		p.unless(len(s.Beside) == 0, at+".beside", "of_channel")
		p.unless(!s.NoStandIns, at+".no_stand_ins", "of_channel")
		p.unless(s.Share == "", at+".share", "of_channel")
		p.unless(len(s.Raises) == 0, at+".may_raise", "of_channel")
		return
	}
	p.between(s.Need, 0, s.Who.most(), at+".need")
	s.Share.check(p, s.Need, at)
	s.Empty.check(p, at+".empty")
	s.checkBeside(p, at)
	s.checkRaises(p, at+".may_raise")
}

// checkBeside checks what a stage asks side by side.
func (s Stage) checkBeside(p *problems, at string) {
	p.unless(len(s.Beside) <= MaxBeside, at+".beside", "most", MaxBeside)
	for i, x := range s.Beside {
		field := fmt.Sprintf("%s.beside[%d]", at, i)
		p.unless(x.Who.Kind != WhoChannel, field+".who.kind", "choice",
			choices([]WhoKind{WhoPeople, WhoGroup, WhoManager, WhoPosition, WhoAny}))
		x.Who.check(p, field+".who")
		p.between(x.Need, 0, x.Who.most(), field+".need")
		x.Share.check(p, x.Need, field)
	}
	p.unless(len(s.Beside) == 0 || !s.Empty.has(ThenSkip), at+".empty", "beside")
}

func (w Who) check(p *problems, at string) {
	w.checkInstead(p, at+".instead")
	switch only := (Who{Kind: w.Kind}); w.Kind {
	case WhoPeople:
		only.People = w.People
		p.unless(len(w.People) > 0, at+".people", "some", MaxPeople)
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
		only.Positions, only.Department, only.Label, only.None = w.Positions, w.Department, w.Label, w.None
		p.unless(len(w.Positions) > 0, at+".positions", "some", MaxListed)
		p.list(w.Positions, at+".positions", MaxListed, func(v, field string) { p.words(v, field, MaxValue) })
		if w.Department != "" {
			p.words(w.Department, at+".department", MaxValue)
		}
		if w.Label != "" {
			p.words(w.Label, at+".label", MaxNamed)
			p.unless(w.Department == "", at+".label", "one_bound", "department")
		}
		if w.None != "" {
			p.words(w.None, at+".none", MaxValue)
			p.unless(w.Label != "", at+".none", "of_label")
		}
		w.alone(p, only, at)
	case WhoChannel:
		w.alone(p, only, at)
	case WhoAny:
		only.Any = w.Any
		p.between(len(w.Any), 2, MaxAny, at+".any")
		checkEach(p, w.Any, singly, at+".any")
		w.alone(p, only, at)
	default:
		p.add(at+".kind", "choice", choices([]WhoKind{WhoPeople, WhoGroup, WhoManager, WhoPosition, WhoChannel, WhoAny}))
	}
}

// alone reports fields of other kinds, which would look as if they counted.
func (w Who) alone(p *problems, only Who, at string) {
	p.unless(len(w.People) == len(only.People) && w.Group == only.Group && w.Level == only.Level &&
		len(w.Positions) == len(only.Positions) && w.Department == only.Department && len(w.Any) == len(only.Any) &&
		w.Label == only.Label && w.None == only.None, at, "other_kind")
}

// Choices are the values that a field may have.
type Choices []string

func (c Choices) String() string {
	if len(c) == 1 {
		return c[0]
	}
	return strings.Join(c[:len(c)-1], ", ") + " or " + c[len(c)-1]
}

func choices[T ~string](all []T) (c Choices) {
	for _, x := range all {
		c = append(c, string(x))
	}
	return c
}

// problems collects what is wrong with fields.
type problems []Problem

// add adds a problem by a key of Limits, or by a text of its own.
func (p *problems) add(field, limit string, of ...any) {
	text := fmt.Sprintf(cmp.Or(Limits[limit], limit), of...)
	*p = append(*p, Problem{aggregate.ErrField{Field: field, Limit: text}, limit, of})
}

// fields are the problems in English.
func (p *problems) fields() (all []aggregate.ErrField) {
	for _, x := range *p {
		all = append(all, x.ErrField)
	}
	return all
}

// unless adds a problem unless a claim holds.
func (p *problems) unless(holds bool, field, limit string, of ...any) {
	if !holds {
		p.add(field, limit, of...)
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
	p.list(values, field, most, p.like(&userForm, "person"))
}

func (p *problems) group(value, field string) {
	p.like(&groupForm, "group")(value, field)
}

func (p *problems) pointer(value, field string) {
	p.unless(len(value) <= maxPointer && pointerForm.Get().MatchString(value), field,
		"must be a JSON pointer of at most %d bytes such as /items/*/price", maxPointer)
}

func (p *problems) currency(value, field string) {
	p.like(&currencyForm, "currency")(value, field)
}

func (p *problems) number(d Decimal, field string) {
	p.unless(d.Valid() && d.rat().Sign() > 0, field, "number", MaxDigits, MaxDecimals)
}

// bounds checks the bounds of a number, of which those of one side may be absent. Nothing is a number above or up to
// which there are others, but none is below it.
func (p *problems) bounds(atLeast, above, atMost, below Decimal, at string) {
	if atLeast != "" {
		p.number(atLeast, at+".at_least")
	}
	p.unless(above == "" || above.Valid(), at+".above", "number_or_0", MaxDigits, MaxDecimals)
	p.unless(atMost == "" || atMost.Valid(), at+".at_most", "number_or_0", MaxDigits, MaxDecimals)
	if below != "" {
		p.number(below, at+".below")
	}
	p.unless(atLeast == "" || above == "", at+".above", "one_bound", "at_least")
	p.unless(atMost == "" || below == "", at+".below", "one_bound", "at_most")
	high := map[bool]string{true: ".at_most", false: ".below"}[atMost != ""]
	s := spanOf(atLeast, above, atMost, below)
	p.unless(s.low.none() || s.high.none() || !s.empty() && s.low.upTo(s.high), at+high, "more")
}

// Problems returns everything for which the rules can't be saved. known are the tools that requests may call.
func (r *Rules) Problems(known []Known) []Problem {
	var p problems
	p.unless(r.Form == Form, "form", "form", Form)
	text, err := json.Marshal(r)
	p.unless(err == nil && len(text) <= MaxBytes, "rules", "large", MaxBytes, len(text))
	p.unless(len(r.Rules) <= MaxRules, "rules", "most", MaxRules)
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
		return all[0].ErrField
	}
	return nil
}

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
		r.Floor.check(p, &rule.When, rule.Route, at)
	}
}

// check reports a route for writes outside that asks less than the floor.
func (f Floor) check(p *problems, when *Conditions, route *Policy, at string) {
	if route == nil || len(route.Stages) == 0 {
		return
	}
	stages, least := at+".route.stages", leastStamps(route.Stages)
	p.unless(named(route.Stages) > 0, stages, "only_channel")
	p.unless(least >= max(f.Stamps, 1), stages, "floor_stamps", max(f.Stamps, 1))
	if f.mayMoveEnough(when) {
		p.unless(route.AllHands() >= floorHands, at+".route.hands", "floor_hands", floorHands, *f.HandsFrom)
	}
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
	for i, s := range r.Stages {
		s.check(p, fmt.Sprintf("%s.stages[%d]", at, i))
	}
	p.unless(leastStamps(r.Stages) <= MaxStamps, at+".stages", "stamps", MaxStamps)
	p.unless(r.Hands >= 0 && r.reachable(), at+".hands", "reachable")
	if r.Readers != nil {
		p.users(r.Readers.People, at+".readers.people", MaxPeople)
		p.list(r.Readers.Groups, at+".readers.groups", MaxPeople, p.group)
		p.unless(len(r.Readers.Posts) <= MaxPeople, at+".readers.posts", "most", MaxPeople)
		for i, post := range r.Readers.Posts {
			field := fmt.Sprintf("%s.readers.posts[%d]", at, i)
			p.unless(post.Kind == WhoPosition, field+".kind", "choice", choices([]WhoKind{WhoPosition}))
			p.unless(len(post.Instead) == 0, field+".instead", "of_stages")
			post.check(p, field)
		}
		n := len(r.Readers.People) + len(r.Readers.Groups) + len(r.Readers.Posts)
		p.unless(n > 0, at+".readers", "readers")
	}
}
