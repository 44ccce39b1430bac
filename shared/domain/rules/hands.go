package rules

import (
	"fmt"
	"time"

	"ringi/shared/domain/circulation"
)

// asked returns how many stages ask somebody, and how many stamps they need.
func (r *resolving) asked() (stages, stamps int) {
	for _, s := range r.stages {
		if s.LeftOut == "" {
			stages, stamps = stages+1, stamps+s.Need
		}
	}
	return stages, stamps
}

// hands returns how many different people have to stamp.
func (r *resolving) hands() int {
	n := len(r.stages)
	for _, s := range r.stages {
		if s.LeftOut == LeftTwice {
			n--
		}
	}
	return r.policy.hands(n)
}

// enoughHands sees to it that as many different people can stamp as the route needs. Who stands above is added to the
// first stage that adds nobody to those of the stages before it, if it says so of people who are asked twice.
func (r *resolving) enoughHands() error {
	for {
		i, short := r.short()
		if !short {
			return nil
		}
		var all []circulation.Person
		for _, s := range r.stages {
			all = append(all, s.People...)
		}
		s := &r.stages[i]
		ups := s.LeftOut == "" && r.policy.Stages[i].Empty.Twice == ThenUp && len(s.People) < MaxPeople
		switch {
		case ups && r.up(i, all, true):
			s.Filled = LeftHands
		case len(r.stamping(all)) < len(all): // with the askers' stamps it might be enough
			return r.refuse(i, LeftAskers)
		default:
			return r.refuse(i, LeftHands)
		}
	}
}

// short reports whether too few different people can stamp, and the stage because of which: the first that adds nobody,
// else one that was left out, else the last. Nothing is short where nobody is asked, or the route is too long for a
// gate.
func (r *resolving) short() (stage int, short bool) {
	need, best := r.hands(), 0
	if !walkable(r.route(r.stages, 1), r.facts) || walkable(r.route(r.stages, need), r.facts) {
		return 0, false
	}
	last, out := 0, -1
	for i, s := range r.stages {
		if s.LeftOut != "" {
			out = i
			continue
		}
		last = i
		before := best
		for walkable(r.route(r.stages[:i+1], best+1), r.facts) {
			best++
		}
		if best == before {
			return i, true
		}
	}
	if out >= 0 {
		last = out
	}
	return last, true
}

func (r *resolving) route(stages []circulation.Stage, hands int) circulation.Route {
	return circulation.Route{Form: circulation.Form, Stages: stages, Hands: hands, Org: r.d.Org()}
}

// walkable reports whether a gate can be settled by this route: by as many different people as it needs, within the
// bounds of a gate. The fold that later counts the stamps says so.
func walkable(route circulation.Route, f *Facts) bool {
	g := circulation.Gate{Rule: &circulation.Rule{}, AskedAt: time.Unix(0, 0).UTC(), Hours: 1, Asked: "-",
		Route: &route, Askers: f.Askers}
	st := circulation.Walk(g)
	return st.Refused == nil
}

// reachable reports whether the people whom the policy names are enough for its hands. Stages that find people only
// when a route is made are taken to find others each time. It says nothing of stages that are wrong in other ways.
func (p *Policy) reachable() bool {
	return p.reaches(p.Stages, p.LeastHands())
}

// reaches reports whether the people whom these stages of the policy name are enough for so many hands.
func (p *Policy) reaches(of []Stage, hands int) bool {
	var stages []circulation.Stage
	for i, s := range of {
		out := circulation.Stage{Mode: circulation.ModePeople, Need: s.least()}
		if s.Who.Kind == WhoChannel {
			out.Mode = circulation.ModeChannel
		}
		for _, user := range s.Who.People {
			out.People = append(out.People, circulation.Person{User: user})
		}
		if s.Need == 0 { // all of a group are taken to be as many as are needed
			out.Need = max(1, min(s.Who.most(), hands))
		}
		if s.Who.Kind != WhoChannel && (s.Who.Kind != WhoPeople || s.Empty.has(ThenUp)) {
			for j := range min(s.Who.most(), MaxPeople) {
				out.People = append(out.People, circulation.Person{User: fmt.Sprintf("found %d at %d", j, i)})
			}
		}
		stages = append(stages, out)
	}
	least := circulation.Route{Form: circulation.Form, Stages: stages, Hands: 1}
	enough := least
	enough.Hands = hands
	return !walkable(least, &Facts{}) || walkable(enough, &Facts{})
}

// aboveFloor returns *Unresolved for a route that asks nobody, or less than the floor.
func (r *resolving) aboveFloor() error {
	out, people := 0, 0
	for i, s := range r.stages {
		switch {
		case s.LeftOut != "" && out == 0:
			out = i + 1
		case s.LeftOut == "" && s.Mode == circulation.ModePeople:
			people++
		}
	}
	left := &Unresolved{Why: LeftFloor}
	if out > 0 {
		left.Stage, left.Name = out, r.stages[out-1].Name
	}
	n, stamps := r.asked()
	switch {
	case n == 0 && out > 0:
		left.Why = r.stages[out-1].LeftOut
		return left
	case n == 0:
		left.Why = LeftVacant
		return left
	case r.facts.Writes() && people == 0:
		left.Why = LeftChannel
		return left
	case !r.floor.Allows(r.facts, stamps, r.hands()):
		return left
	}
	return nil
}
