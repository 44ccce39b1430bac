package rules

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/circulation"
)

// asked returns how many sources are asked, and how many stamps they need.
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
	n := 0
	for _, s := range joined(r.stages, r.of) {
		if !slices.Contains([]string{LeftTwice, LeftNone, LeftLater}, s.LeftOut) {
			n++
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
		ups := s.LeftOut == "" && r.sources[i].Empty.Twice == ThenUp && len(s.People) < MaxPeople
		switch {
		case ups && r.up(i, all, true):
			s.Filled = LeftHands
		case len(r.stamping(all)) < len(all): // with the askers' stamps it might be enough
			return r.refuse(i, LeftAskers)
		default:
			no := r.refuse(i, LeftHands)
			for no.Need = r.hands(); walkable(r.route(len(r.stages), no.Few+1), r.facts); {
				no.Few++
			}
			return no
		}
	}
}

// short reports whether too few different people can stamp, and the stage because of which: the first that adds nobody,
// else one that was left out, else the last. Nothing is short where nobody is asked, or the route is too long for a
// gate.
func (r *resolving) short() (stage int, short bool) {
	need, best := r.hands(), 0
	if !walkable(r.route(len(r.stages), 1), r.facts) || walkable(r.route(len(r.stages), need), r.facts) {
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
		for walkable(r.route(i+1, best+1), r.facts) {
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

// route returns the route of the first sources.
func (r *resolving) route(sources, hands int) circulation.Route {
	stages := joined(r.stages[:sources], r.of)
	return circulation.Route{Form: circulation.Form, Stages: stages, Hands: hands, Org: r.d.Org()}
}

// walkable reports whether a gate can be settled by this route: by as many different people as it needs, within the
// bounds of a gate. The fold that later counts the stamps says so.
func walkable(route circulation.Route, f *Facts) bool {
	g := circulation.Gate{Rule: &circulation.Rule{}, AskedAt: time.Unix(0, 0).UTC(), Hours: 1, AskedSum: "-",
		Route: &route, Askers: f.Askers}
	st := circulation.Walk(g)
	return st.Refused == nil
}

// finding returns whom a stage finds, and whether it may find others beside them when a route is made.
type finding func(s *Stage) (people []circulation.Person, others bool)

// byName finds whom stages name.
func byName(s *Stage) (people []circulation.Person, others bool) {
	for _, user := range s.Who.People {
		people = append(people, circulation.Person{User: user})
	}
	return people, s.Who.Kind != WhoPeople || s.Empty.has(ThenUp) || len(s.Who.Instead) > 0
}

// foundOn finds whom stages find on a day, as far as that doesn't hang on who asks.
func foundOn(d Directory, day string) finding {
	r := resolving{facts: &Facts{On: day}, d: d}
	return func(s *Stage) (people []circulation.Person, others bool) {
		if s.Who.Above() || s.Who.Kind == WhoChannel || s.Empty.has(ThenUp) || len(s.Who.Instead) > 0 {
			return byName(s)
		}
		for _, p := range s.Who.find(r.facts, d) {
			if r.mayStamp(s, p) {
				people = append(people, p)
			}
		}
		return people, false
	}
}

// reachable reports whether the people whom the policy names are enough for its hands. Stages that find people only
// when a route is made are taken to find others each time. It says nothing of stages that are wrong in other ways.
func (p *Policy) reachable() bool {
	return p.reaches(p.Stages, p.LeastHands(), byName)
}

// reaches reports whether the people whom these stages of the policy find are enough for so many hands. It says nothing
// of stages that find too few people for their own stamps.
func (p *Policy) reaches(of []Stage, hands int, find finding) bool {
	var stages []circulation.Stage
	sources, places := (&Policy{Stages: of}).Sources()
	for i, s := range sources {
		out := circulation.Stage{Mode: circulation.ModePeople, Need: s.least()}
		if s.Who.Kind == WhoChannel {
			out.Mode = circulation.ModeChannel
		}
		people, others := find(&s)
		out.People = people
		switch {
		case s.Need == 0 && others: // all of a group are taken to be as many as are needed
			out.Need = max(1, min(s.Share.of(s.Who.most()), hands))
		case s.Need == 0:
			out.Need = max(1, s.Share.of(len(people)))
		}
		if s.Who.Kind != WhoChannel && others {
			for j := range min(s.Who.most(), MaxPeople) {
				out.People = append(out.People, circulation.Person{User: fmt.Sprintf("found %d at %d", j, i)})
			}
		}
		stages = append(stages, out)
	}
	least := circulation.Route{Form: circulation.Form, Stages: joined(stages, places), Hands: 1}
	enough := least
	enough.Hands = hands
	return !walkable(least, &Facts{}) || walkable(enough, &Facts{})
}

// aboveFloor returns *Unresolved for a route that asks nobody, or less than the floor.
func (r *resolving) aboveFloor() error {
	people, left, why := 0, &Unresolved{Why: LeftFloor}, LeftVacant
	for i, s := range r.stages {
		switch {
		case s.LeftOut != "" && left.Stage == 0:
			left.Stage, left.Name, why = r.of[i]+1, s.Name, s.LeftOut
		case s.LeftOut == "" && s.Mode == circulation.ModePeople:
			people++
		}
	}
	n, stamps := r.asked()
	switch {
	case n == 0:
		left.Why = why
		return left
	case r.facts.Writes() && people == 0:
		left.Why = LeftChannel
		return left
	case !r.floor.Allows(r.facts, stamps, r.hands()):
		return left
	}
	return nil
}

// floorHands is how many hands the floor asks from an amount on.
const floorHands = 2

// stamps and hands return what the floor asks of a request.
func (f Floor) stamps(r *Facts) int {
	if !r.Writes() {
		return 0
	}
	return max(f.Stamps, 1)
}

func (f Floor) hands(r *Facts) int {
	if r.Writes() && f.HandsFrom != nil && r.Amount().AtLeast(f.HandsFrom.Value, f.HandsFrom.Currency) {
		return floorHands
	}
	return min(f.stamps(r), 1)
}

// Allows reports whether this many stamps by this many different hands are enough for a request. Who asks for a step's
// own approval checks it, since the stamps of the steps count there.
func (f Floor) Allows(r *Facts, stamps, hands int) bool {
	return stamps >= f.stamps(r) && hands >= f.hands(r)
}

// mayMoveEnough reports whether a request that meets the conditions may have an amount from which two hands are needed.
func (f Floor) mayMoveEnough(c *Conditions) bool {
	if f.HandsFrom == nil {
		return false
	}
	return c.Amount == nil || c.Amount.Currency != f.HandsFrom.Currency ||
		!c.Amount.span().high.upTo(cut{f.HandsFrom.Value, false})
}
