package rules

import (
	"reflect"
	"slices"

	"ringi/shared/domain/circulation"
)

// whoseOwn returns whose words are in the way where nobody else is.
func (r *resolving) whoseOwn() string {
	if slices.ContainsFunc(r.facts.Askers, func(p circulation.Person) bool { return !r.facts.Requester.Is(p) }) {
		return LeftAskers
	}
	return LeftOwn
}

// whyFew returns why fewer than need are found.
func (r *resolving) whyFew(s *Stage, found []circulation.Person, need int) string {
	named := r.named(s, found)
	own := slices.ContainsFunc(found, r.facts.Requester.Is)
	switch {
	case len(found) == 0 && s.Who.lost(r.facts, r.d):
		return LeftAbove
	case len(found) == 0 && s.Who.unnamed(r.d) != "":
		return LeftUnknown
	case len(found) == 0:
		return s.Who.noneFound(r.d)
	case len(named) >= need:
		return LeftAskers
	case own && len(named)+1 >= need && r.facts.Spoken:
		return r.whoseOwn()
	case own && len(named)+1 >= need:
		return LeftOwn
	}
	return LeftStanding
}

// noneFound returns why nobody is found: a post is vacant, or the requester's department and those above have none.
func (w Who) noneFound(d Directory) string {
	if slices.ContainsFunc(w.Each(), func(w Who) bool {
		has := func(position string) bool { return d.Knows(w.Department, position) }
		return !w.Placed || slices.ContainsFunc(w.Positions, has)
	}) {
		return LeftVacant
	}
	return LeftElsewhere
}

// empty does with a stage that has too few people what the policy says.
func (r *resolving) empty(i int, why string) error {
	out, of := &r.stages[i], r.sources[i].Empty
	then := of.Vacant
	switch {
	case why == LeftTwice:
		then = of.Twice
	case why == LeftOwn, why == LeftAskers && of.Own == ThenUp:
		then = of.Own
	case why == LeftAskers, why == LeftAbove, why == LeftUnknown && then == ThenSkip:
		then = ThenRefuse
	}
	switch beside := why == LeftTwice && r.sources[i].Who.Label != ""; {
	case beside && r.heads(i), then == ThenSkip && !beside:
		r.leaveOut(i, why)
		return nil
	case beside && then == ThenSkip: // who is asked beside may leave it to another
		then = ThenUp
	}
	switch then {
	case ThenUp:
		if why == LeftOwn {
			r.climbed = append(r.climbed, i)
		}
		for len(r.stamping(out.People)) < out.Need {
			if !r.up(i, slices.Concat(r.beside(i), r.gone[i], out.People), why == LeftOwn || why == LeftAskers) {
				return r.refuse(i, why)
			}
		}
		if out.Filled = why; why == LeftVacant {
			r.overLeave(i)
		}
		return nil
	}
	return r.refuse(i, why)
}

func (r *resolving) leaveOut(i int, why string) {
	r.stages[i] = circulation.Stage{Name: r.stages[i].Name, Mode: r.stages[i].Mode, LeftOut: why}
}

// twice does what the policy says with a stage all of whose people have to stamp at earlier ones. Askers count as if
// they stamped: nobody makes a stage another's second by asking in a thread. Nor does who takes the place of a post of
// which the organisation hasn't the name: somebody else may hold it, so they stamp there and at their own. Nor does who
// was reached past an asker: without those words they would only stamp at their own. A lighter stamp, which a stand-in
// may give, doesn't replace a stricter one.
func (r *resolving) twice(i int) error {
	out, then := &r.stages[i], r.sources[i].Empty.Twice
	if out.LeftOut != "" || out.Filled == LeftUnknown || then == ThenAgain {
		return nil
	}
	var sure, asked []circulation.Person
	for j, s := range r.stages[:i] {
		lighter := r.sources[j].lighter(&r.sources[i])
		if asked = append(asked, s.People...); s.Need == len(s.People) && s.Filled != LeftUnknown && !lighter {
			sure = append(sure, but(s.People, r.past)...)
		}
	}
	if len(but(out.People, sure)) > 0 {
		return nil
	}
	if then == ThenSkip {
		r.leaveOut(i, LeftTwice)
		return nil
	}
	for out.People = nil; len(out.People) < out.Need; {
		if !r.up(i, append(asked, out.People...), false) {
			return r.refuse(i, LeftTwice)
		}
	}
	out.Filled = LeftTwice
	return nil
}

// up adds to a stage the nearest who stands above and may stamp, except those in not. They stand above whom the stage
// found and who can't take a place, above the requester only if the stage is their own, and then over the post that it
// names: a holder's superior counts only if they stand over the post, too. Of a manager's stage they are the managers
// above that one.
func (r *resolving) up(i int, not []circulation.Person, own bool) (added bool) {
	s, out, on := &r.sources[i], &r.stages[i], r.facts.On
	past := false
	try := func(p circulation.Person) bool {
		past = past || r.asks(p) && !r.facts.Requester.Is(p)
		if added = r.mayStamp(s, p) && position(not, p) < 0; added {
			out.People = append(out.People, p)
			if past {
				r.past = append(r.past, p)
			}
		}
		return added
	}
	climb := func(of circulation.Person, least int) bool {
		above(r.d, of, on, func(level int, p circulation.Person) bool {
			return level <= least || !try(asManager(p, of, level, on))
		})
		return added
	}
	if s.Who.Kind == WhoManager {
		return climb(r.facts.Requester, s.Who.Level)
	}
	over, known := s.Who.over(r.d, on)
	for _, p := range r.found[i] {
		own := own && r.facts.Requester.Is(p)
		theirs := own && s.Who.Kind != WhoAny // as one of several, it may be another's post
		if !own && (r.facts.Requester.Is(p) || r.mayStamp(s, p) && position(not, p) < 0) {
			continue
		}
		if (theirs || !s.Who.of(WhoPosition) || known && r.under(p, over)) && climb(p, 0) {
			return true
		}
	}
	return s.Who.of(WhoPosition) && known && (try(over) || climb(over, 0))
}

// under reports whether somebody's superior is this one, or stands above them. Whoever holds a post whose rank isn't
// known may have a superior who stands below the post, such as the requester's own.
func (r *resolving) under(p, over circulation.Person) (is bool) {
	manager, ok := r.d.Manager(p, r.facts.On)
	if is = ok && manager.Is(over); ok && !is {
		above(r.d, over, r.facts.On, func(_ int, x circulation.Person) bool { is = manager.Is(x); return !is })
	}
	return is
}

// lighter reports whether a stamp at a stage is given more easily than at another one.
func (s *Stage) lighter(than *Stage) bool {
	return than.NoStandIns && !s.NoStandIns
}

// ordered returns the route with each stage left out for which only who stands above the requester was asked, if that
// person is asked at a later stage anyway: so whoever is asked between comes before them, as the rule says. Nothing
// else of the route changes, else it stays as it is.
func (r *resolving) ordered(route circulation.Route) circulation.Route {
	for i := 0; i < len(r.stages); i++ {
		j, moved := r.moving(i)
		if j < 0 {
			continue
		}
		other, is, err := r.policy.resolve(r.facts, r.floor, r.d, slices.Concat(r.later, moved))
		if err != nil || other.Hands != route.Hands || !asksOnly(&is.stages[j], r.stages[i].People) {
			continue
		}
		same := true
		for k := range r.stages {
			same = same && (k == j || slices.Contains(moved, k) || reflect.DeepEqual(r.stages[k], is.stages[k]))
		}
		if same {
			*r, route, i = *is, other, -1 // others may follow
		}
	}
	return route
}

// moving returns the later stage at which whoever was asked for a requester's own stage would stamp anyway, if somebody
// is asked between, and the requester's own stages until there that asked, or would ask, the same. Else it returns -1.
func (r *resolving) moving(i int) (to int, moved []int) {
	between := false
	if r.stages[i].Filled != LeftOwn || len(r.stages[i].People) != r.stages[i].Need {
		return -1, nil
	}
	for j := i; j < len(r.sources); j++ {
		s, is := &r.sources[j], &r.stages[j]
		switch left := is.LeftOut == LeftTwice; {
		case j > i && !left:
			between = between || is.LeftOut == ""
		case !r.single(j):
		case slices.Contains(r.climbed, j):
			moved = append(moved, j)
		case between:
			heavier := func(k int) bool { return s.lighter(&r.sources[k]) || len(r.sources[k].Raises) > 0 }
			if len(moved) > 0 && moved[0] == i && !slices.ContainsFunc(moved, heavier) {
				return j, moved
			}
		}
	}
	return -1, nil
}

// single reports whether a source is the only one of its stage.
func (r *resolving) single(j int) bool {
	return len(r.policy.Stages[r.of[j]].Beside) == 0 &&
		(j+1 == len(r.of) || r.of[j+1] != r.of[j]) && (j == 0 || r.of[j-1] != r.of[j])
}

// asksOnly reports whether a stage asks all of these people, and nobody else.
func asksOnly(s *circulation.Stage, people []circulation.Person) bool {
	return s.Need == len(s.People) && len(s.People) == len(people) && len(but(s.People, people)) == 0
}
