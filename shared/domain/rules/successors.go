package rules

import (
	"slices"

	"ringi/shared/domain/circulation"
)

// Desk is a stage of an open gate at which somebody may be replaced.
type Desk struct {
	Rule   string // id of the rule by which the gate opened
	Number int    // of the stage, from 1
	Name   string // of the stage
	Of     circulation.Person
}

// OfHome reports whether the person stands there because the home lists them, whatever the rule says.
func (k Desk) OfHome() bool { return k.Of.Via == viaHome }

// Successors returns who may take somebody's place at a stage of an open gate: whom the stage of the same rule names
// as the rule stands now, or whom the home lists now, and who stands above that person in the organisation, at a post's
// stage only if they stand over the post, too. Rules that are nil, or that no longer have the stage, name nobody. Who
// asks, and who may not stamp there, is left out.
func (r *Rules) Successors(k Desk, f *Facts, d Directory) (people []circulation.Person) {
	s := r.stage(k)
	at := &resolving{facts: f, d: d}
	add := func(stage *Stage, p circulation.Person) {
		may := at.mayStamp(stage, p)
		if may && !p.Is(k.Of) && position(people, p) < 0 && len(people) < MaxPeople {
			people = append(people, p)
		}
	}
	var found []circulation.Person
	switch {
	case k.OfHome():
		s, found = &Stage{}, f.Home.people(d)
	case s == nil:
		s = &Stage{}
	default:
		found = s.Who.find(f, d)
	}
	for _, p := range found {
		add(s, p)
	}
	of := k.Of
	if s.Who.Kind == WhoPosition {
		switch over, ok := d.Over(s.Who.Department, s.Who.Position, f.On); {
		case !ok:
			return people
		case !at.under(of, over):
			add(s, s.Who.over(over, f.On))
			of = over
		}
	}
	above(d, of, f.On, func(level int, p circulation.Person) bool {
		add(s, asManager(p, of, level, f.On))
		return true
	})
	return people
}

// Names reports whether the rule of a desk still has its stage, which one at the home doesn't need.
func (r *Rules) Names(k Desk) bool { return k.OfHome() || r.stage(k) != nil }

// stage returns the stage of a rule as it stands now: the one with the same number and name, else the only one of the
// name. It returns nil if the rule, or its stage, is gone.
func (r *Rules) stage(k Desk) *Stage {
	if r == nil || r.Form != Form {
		return nil
	}
	for _, p := range r.policies(k.Rule) {
		if n := k.Number - 1; n >= 0 && n < len(p.Stages) && p.Stages[n].Name == k.Name {
			return &p.Stages[n]
		}
		is := func(s Stage) bool { return s.Name == k.Name }
		if i := slices.IndexFunc(p.Stages, is); i >= 0 && !slices.ContainsFunc(p.Stages[i+1:], is) {
			return &p.Stages[i]
		}
	}
	return nil
}

// policies returns the routes of the rule with this id. The last rule has one for what writes outside, and one for what
// only reads, which counts if the other has no such stage.
func (r *Rules) policies(id string) (all []*Policy) {
	outcomes := []Outcome{}
	if id == LastID {
		outcomes = append(outcomes, r.Last.Writes, r.Last.Reads)
	}
	for i := range r.Rules {
		if r.Rules[i].ID == id {
			outcomes = append(outcomes, r.Rules[i].Outcome)
		}
	}
	for _, o := range outcomes {
		if o.Route != nil {
			all = append(all, o.Route)
		}
	}
	return all
}
