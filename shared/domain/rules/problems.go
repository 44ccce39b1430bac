package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

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
