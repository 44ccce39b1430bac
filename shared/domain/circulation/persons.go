package circulation

import "slices"

// persons tells people apart. Whom a gate names with the same account, or with the same key of the organisation, is one
// person, also by way of others: an account that has had two keys makes one person of all who have either. Each account
// and key has the number of its person.
type persons map[name]int

// name is an account, or a key of the organisation.
type name struct {
	key  bool
	text string
}

func (p *Person) names() [2]name { return [2]name{{false, p.User}, {true, p.Person}} }

// meet adds somebody whom the gate names, and reports whether that makes one person of two.
func (ps persons) meet(p *Person) (joined bool) {
	id := ps.id(p)
	if id == 0 {
		id = len(ps) + 1
	}
	for _, n := range p.names() {
		switch was, known := ps[n]; {
		case n.text == "":
		case !known:
			ps[n] = id
		case was != id:
			joined = true
			for other, of := range ps {
				if of == was {
					ps[other] = id
				}
			}
		}
	}
	return joined
}

// id returns the number of somebody whom the gate names; 0 if they have no name.
func (ps persons) id(p *Person) int {
	for _, n := range p.names() {
		if id, known := ps[n]; known {
			return id
		}
	}
	return 0
}

// same reports whether two whom the gate names are one person.
func (ps persons) same(a, b *Person) bool { return ps.id(a) == ps.id(b) }

// position returns where a person is in a list, or -1.
func (ps persons) position(people []Person, p *Person) int {
	for i := range people {
		if ps.same(&people[i], p) {
			return i
		}
	}
	return -1
}

// given returns where among acts the one of a stamp is: by the same hand for the same principal at one stage; or -1.
func (ps persons) given(acts []*Act, act *Act) int {
	for i, a := range acts {
		if a.Stage == act.Stage && ps.same(&a.Hand, &act.Hand) && ps.same(&a.Principal, &act.Principal) {
			return i
		}
	}
	return -1
}

// in returns how many of a stage's stamps each person stands in, as hand or principal.
func (ps persons) in(s *StageState) map[int]int {
	times := map[int]int{}
	for _, act := range s.Stamps {
		hand, principal := ps.id(&act.Hand), ps.id(&act.Principal)
		if times[hand]++; principal != hand {
			times[principal]++
		}
	}
	return times
}

// stands reports whether somebody stands in a stamp, as hand or principal.
func (ps persons) stands(act *Act, p *Person) bool {
	return ps.same(&act.Hand, p) || ps.same(&act.Principal, p)
}

// stamped reports whether somebody stands in one of a stage's stamps.
func (ps persons) stamped(s *StageState, p *Person) bool {
	return slices.ContainsFunc(s.Stamps, func(act *Act) bool { return ps.stands(act, p) })
}

// distinct returns people, each once.
func (ps persons) distinct(people []Person) (out []Person) {
	for i := range people {
		if ps.position(out, &people[i]) < 0 {
			out = append(out, people[i])
		}
	}
	return out
}

// asks reports whether somebody is one of a gate's askers.
func (ps persons) asks(g *Gate, p *Person) bool { return ps.position(g.Askers, p) >= 0 }

// meetAll adds everybody whom a gate names before its first act.
func (ps persons) meetAll(g *Gate) {
	for i := range g.Askers {
		ps.meet(&g.Askers[i])
	}
	for i := range g.Route.Stages {
		people := g.Route.Stages[i].People
		for j := range people {
			ps.meet(&people[j])
		}
	}
}
