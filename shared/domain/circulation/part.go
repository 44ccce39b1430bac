package circulation

import "slices"

// cut reports whether the parts of a stage are runs of its people whose stamps are the stage's.
func (s *Stage) cut() bool {
	people, need := 0, 0
	for _, part := range s.Parts {
		if part.N < 1 || part.Of < 1 {
			return false
		}
		people, need = people+part.N, need+part.Of
	}
	return len(s.Parts) == 0 || people == len(s.People) && need == s.Need
}

// seat gives each of a stage's people who may stamp a place in their part, once, and sets the askers among them aside.
func (st *State) seat(g *Gate, s *StageState) {
	parts := s.Parts
	if len(parts) == 0 {
		parts = []Part{{N: len(s.People), Of: s.Need}}
	}
	people := s.People
	s.People, s.part, s.owed, s.Owed = nil, nil, make([]int, len(parts)), s.Need
	for n, part := range parts {
		s.owed[n] = part.Of
		for i := range people[:part.N] {
			switch p := &people[i]; {
			case !g.Route.counts(p):
			case st.who.asks(g, p):
				s.Aside = append(s.Aside, *p)
			default:
				s.People, s.part = append(s.People, *p), append(s.part, n)
			}
		}
		people = people[part.N:]
	}
	s.Aside = st.who.distinct(s.Aside)
	s.merge(st.who)
}

// merge leaves each of a stage's people in the first of their places.
func (s *StageState) merge(who persons) {
	first := who.distinct(s.People)
	if len(first) == len(s.People) {
		return
	}
	part := make([]int, len(first))
	for i := range first {
		part[i] = s.partOf(who, &first[i])
	}
	s.People, s.part = first, part
}

// partOf returns the part of a stage in which somebody is; of a stage that doesn't name them there is only one.
func (s *StageState) partOf(who persons, p *Person) int {
	if i := who.position(s.People, p); i >= 0 {
		return s.part[i]
	}
	return 0
}

// enough reports whether the part of a stage in which somebody is has its stamps.
func (s *StageState) enough(who persons, p *Person) bool {
	i := who.position(s.People, p)
	return i >= 0 && s.owed[s.part[i]] == 0
}

// give adds a stamp to a stage.
func (s *StageState) give(who persons, act *Act) {
	n := s.partOf(who, &act.Principal)
	s.Stamps = append(s.Stamps, act)
	s.owed[n], s.Owed = s.owed[n]-1, s.Owed-1
}

// clone returns a copy that shares nothing that acts change.
func (s *StageState) clone() StageState {
	c := *s
	c.People, c.Stamps = slices.Clone(s.People), slices.Clone(s.Stamps)
	c.part, c.owed = slices.Clone(s.part), slices.Clone(s.owed)
	return c
}
