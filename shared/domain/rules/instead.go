package rules

import (
	"fmt"
	"slices"

	"ringi/shared/domain/circulation"
)

// FilledInstead says of a stage of a route that people are asked in the place of who is away, vacant ones among them.
const FilledInstead = "instead"

// singly are the kinds of which several may be asked as one.
var singly = []WhoKind{WhoPeople, WhoGroup, WhoManager, WhoPosition}

// inOrder are the kinds that may be asked instead.
var inOrder = append(slices.Clone(singly), WhoAny)

// checkEach checks those of which any is asked, or who is asked instead: each of one of these kinds.
func checkEach(p *problems, all []Who, kinds []WhoKind, at string) {
	for i, x := range all {
		x.checkOne(p, kinds, fmt.Sprintf("%s[%d]", at, i))
	}
}

func (w Who) checkOne(p *problems, kinds []WhoKind, at string) {
	may := slices.Contains(kinds, w.Kind)
	p.unless(may, at+".kind", "choice", choices(kinds))
	p.unless(len(w.Instead) == 0, at+".instead", "of_sources")
	p.unless(w.None == "", at+".none", "of_one")
	if may || w.Kind != WhoAny {
		w.check(p, at)
	}
}

func (w Who) checkInstead(p *problems, at string) {
	p.unless(len(w.Instead) <= MaxInstead, at, "most", MaxInstead)
	p.unless(len(w.Instead) == 0 || w.Kind != WhoChannel, at, "of_channel")
	checkEach(p, w.Instead, inOrder, at)
}

// away returns those of a stage's people who are away on the day, if it says who is asked instead. Where a delegation
// for the rule has a hand who may stamp, that hand stands in. One that an asker set for somebody else doesn't count.
func (r *resolving) away(s *Stage, people []circulation.Person) (gone []circulation.Person) {
	if len(s.Who.Instead) == 0 {
		return nil
	}
	for _, p := range people {
		away, stood := false, false
		for _, x := range r.d.Absences(p, r.facts.On) {
			switch {
			case !x.Covers(&circulation.Rule{ID: r.facts.Rule}) || x.Chosen(r.facts.Askers):
			case x.Absence():
				away = true
			default:
				also := position(people, x.Hand) >= 0
				stood = stood || !also && !s.NoStandIns && r.mayStamp(s, x.Hand) && !r.below(x.Hand)
			}
		}
		if away && !stood {
			gone = append(gone, p)
		}
	}
	return gone
}

// below reports whether somebody stands below one of the askers.
func (r *resolving) below(p circulation.Person) (is bool) {
	above(r.d, p, r.facts.On, func(_ int, over circulation.Person) bool { is = r.asks(over); return !is })
	return is
}

// spoken reports whether another asker than the requester is this person, or stands over them.
func (r *resolving) spoken(p circulation.Person) (is bool) {
	by := func(x circulation.Person) bool { return !r.facts.Requester.Is(x) && position(r.facts.Askers, x) >= 0 }
	is = by(p)
	above(r.d, p, r.facts.On, func(_ int, over circulation.Person) bool { is = is || by(over); return !is })
	return is
}

// instead asks the order of a source, one Who after the other, until enough can stamp beside here, who are its own
// people that are there, and reports whether they are enough. Nobody stands in below whoever asks, nor does an asker,
// whose own stage it isn't. Whoever writes a label passes over nobody by it: one that nobody knows refuses.
func (r *resolving) instead(i int, here []circulation.Person) (enough bool, err error) {
	s, out := &r.sources[i], &r.stages[i]
	asked := slices.Concat(r.beside(i), r.gone[i], here)
	people, past := slices.Clone(here), slices.ContainsFunc(r.gone[i], func(p circulation.Person) bool {
		return slices.ContainsFunc(r.d.Absences(p, r.facts.On), func(x circulation.StandIn) bool { return r.spoken(x.Hand) })
	})
	for _, w := range s.Who.Instead {
		if what := w.misnamed(r.d); what != "" {
			return false, r.unknown(i, what)
		}
	}
	of := r.absent(i)
	for _, w := range s.Who.Instead {
		if len(r.stamping(people)) >= out.Need {
			break
		}
		found := w.find(r.facts, r.d)
		for _, p := range found[:min(len(found), mostFound)] {
			past = past || r.spoken(p)
			if r.mayStamp(s, p) && len(r.away(s, []circulation.Person{p})) == 0 && !r.below(p) && position(asked, p) < 0 {
				p.Via = of.Via(p.Via)
				if people, asked = append(people, p), append(asked, p); past {
					r.past = append(r.past, p)
				}
			}
		}
	}
	if len(people) > MaxPeople || len(r.stamping(people)) < out.Need {
		return false, nil
	}
	out.People, out.Filled = people, FilledInstead
	return true, nil
}

// others returns how many people beside these a stage finds instead, at the least, or as many as may be where that
// hangs on who asks.
func (r *resolving) others(s *Stage, people []circulation.Person) (n int) {
	people = slices.Clone(people)
	for _, w := range s.Who.Instead {
		if w.Above() {
			return MaxPeople
		}
		for _, p := range w.find(r.facts, r.d) {
			if r.mayStamp(s, p) && position(people, p) < 0 {
				people, n = append(people, p), n+1
			}
		}
	}
	return n
}

// absent returns in whose place others are asked for a source.
func (r *resolving) absent(i int) (of circulation.Absent) {
	for _, p := range r.gone[i] {
		of.Away = append(of.Away, p.User)
	}
	add := func(p circulation.Person) {
		if !slices.Contains(of.OnLeave, p.User) && len(of.OnLeave) < MaxInstead {
			of.OnLeave = append(of.OnLeave, p.User)
		}
	}
	for _, w := range r.sources[i].Who.Each() {
		for _, position := range w.Positions {
			for _, p := range r.d.OnLeave(w.Department, position, r.facts.On) {
				add(p)
			}
		}
	}
	if len(r.found[i]) == 0 && r.sources[i].Who.of(WhoManager) {
		for _, p := range r.d.LeaveAbove(highest(r.facts, r.d), r.facts.On) {
			add(p)
		}
	}
	for _, p := range r.d.OnLeave("", "", r.facts.On) {
		if position(r.found[i], p) >= 0 {
			add(p)
		}
	}
	if len(r.found[i]) == 0 && len(of.OnLeave) == 0 {
		of.Elsewhere = r.sources[i].Who.noneFound(r.d) == LeftElsewhere
		of.Vacant = !of.Elsewhere
	}
	return of
}

// asManager returns somebody with how they were found: level by level above another.
func asManager(p, of circulation.Person, level int, on string) circulation.Person {
	p.Via = fmt.Sprintf("manager %d of %s as of %s", level, of.User, on)
	return p
}

// highest returns the last of whom the organisation says that they stand above the requester, or the requester.
func highest(f *Facts, d Directory) circulation.Person {
	last := f.Requester
	above(d, last, f.On, func(_ int, p circulation.Person) bool { last = p; return true })
	return last
}

// passed returns who is on leave, so that another stands above somebody.
func passed(d Directory, below circulation.Person, on string) (of circulation.Absent) {
	of.Over = true
	for _, p := range d.LeaveAbove(below, on) {
		if len(of.OnLeave) < MaxInstead {
			of.OnLeave = append(of.OnLeave, p.User)
		}
	}
	return of
}

// filledBy says of the people whom a stage finds itself whether one stands over a manager who is on leave.
func filledBy(people []circulation.Person) string {
	if slices.ContainsFunc(people, func(p circulation.Person) bool { of, _, _ := circulation.InsteadOf(p); return of.Over }) {
		return LeftAway
	}
	return ""
}

// overLeave says of whoever stands above a stage's vacant post who is on leave from it, if anybody is.
func (r *resolving) overLeave(i int) {
	if of := r.absent(i); of.OnLeave != nil {
		out := &r.stages[i]
		of.Over, out.Filled = true, LeftAway
		for j := range out.People {
			out.People[j].Via = of.Via(out.People[j].Via)
		}
	}
}
