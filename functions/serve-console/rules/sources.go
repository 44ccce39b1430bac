package rules

import (
	"slices"

	"ringi/shared/domain/rules"
)

// source is a way in which a stage finds people, as the form has it: a stage of its own, or joined to the one before
// it.
type source struct {
	rules.Stage
	join string
}

// How a source is joined to the one before it: both are asked at the same time, or any of them, or it is asked next in
// the place of who is away, or may be added by the stage's people in the case that its name says.
const (
	joinRaise   = "raise"
	joinBeside  = "beside"
	joinAny     = "any"
	joinInstead = "instead"
)

// Joined reports whether it is a part of the stage before it, which says what happens without its people.
func (s stageData) Joined() bool { return s.Beside || s.Any }

// staged returns the stages of sources.
func staged(all []source) []rules.Stage {
	stages := []rules.Stage{}
	for i, s := range all {
		if i > 0 && s.join != "" {
			s.joins(&stages[len(stages)-1])
			continue
		}
		stages = append(stages, s.Stage)
	}
	return stages
}

// joins puts a source into the stage of those before it: all but what is asked beside, or may be added, goes to the
// last of these.
func (s *source) joins(to *rules.Stage) {
	who := &to.Who
	if n := len(to.Beside); n > 0 {
		who = &to.Beside[n-1].Who
	}
	if n := len(to.Raises); n > 0 {
		who = &to.Raises[n-1].Who
	}
	either := func(w rules.Who) rules.Who {
		return rules.Who{Kind: rules.WhoAny, Any: append(slices.Clone(w.Each()), s.Who)}
	}
	switch n := len(who.Instead); {
	case s.join == joinBeside:
		to.Beside = append(to.Beside, rules.Source{Who: s.Who, Need: s.Need, Share: s.Share})
	case s.join == joinRaise:
		to.Raises = append(to.Raises, rules.Raise{When: s.Name, Who: s.Who})
	case s.join == joinInstead:
		who.Instead = append(slices.Clone(who.Instead), s.Who)
	case n > 0:
		who.Instead[n-1] = either(who.Instead[n-1])
	default:
		*who = either(*who)
	}
}

// sourcesOf returns the sources of a route as the form has them.
func sourcesOf(p *rules.Policy) (all []source) {
	for i := range p.Stages {
		join := ""
		for _, s := range p.Stages[i].Sources() {
			s.Raises = nil
			all = append(all, eachOf(s, join)...)
			join = joinBeside
		}
		for _, x := range p.Stages[i].Raises {
			all = append(all, eachOf(rules.Stage{Name: x.When, Who: x.Who, Need: 1}, joinRaise)...)
		}
	}
	return all
}

// eachOf returns a source of each of whom any is asked, and then of who is asked instead.
func eachOf(s rules.Stage, join string) (all []source) {
	for n, of := range append([]rules.Who{s.Who}, s.Who.Instead...) {
		if n > 0 {
			join = joinInstead
		}
		for _, who := range of.Each() {
			s.Who = who
			s.Who.Instead = nil
			all, join = append(all, source{s, join}), joinAny
		}
	}
	return all
}
