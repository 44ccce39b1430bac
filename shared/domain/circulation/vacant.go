package circulation

import "slices"

// Vacant is somebody who can't stamp any more at a stage that waits, or will wait, for them.
type Vacant struct {
	Stage  int // number
	Person Person
}

// Stuck returns the people without whom the gate can't be settled, of those who are gone: of each stage that has too
// few others. If only the number of different hands can't be reached, it returns all who are gone and haven't stamped.
// A gate that nobody is asked about isn't stuck.
func (st *State) Stuck(g Gate, gone func(Person) bool) (out []Vacant) {
	if st.Refused != nil || st.Present == 0 {
		return nil
	}
	left, all := *st, []Vacant{}
	left.Stages = slices.Clone(st.Stages)
	for i := range left.Stages {
		s := &left.Stages[i]
		if s.Owed == 0 || s.Mode != ModePeople {
			continue
		}
		var here []Vacant
		s.People = slices.DeleteFunc(slices.Clone(s.People), func(p Person) bool {
			if st.who.stamped(s, &p) || !gone(p) {
				return false
			}
			here = append(here, Vacant{i + 1, p})
			return true
		})
		all = append(all, here...)
		if able := s.able(st.who); able < s.Owed {
			out = append(out, here...)
		}
	}
	if len(out) == 0 && left.missing(g.Route) > 0 {
		return all
	}
	return out
}

// able returns how many of a stage's people have not stamped.
func (s *StageState) able(who persons) (n int) {
	for i := range s.People {
		if !who.stamped(s, &s.People[i]) {
			n++
		}
	}
	return n
}

// Replaceable reports whether a successor may be put in somebody's place at a stage: they may still stamp there.
func (st *State) Replaceable(stage int, p *Person) bool {
	if st.Present == 0 || stage < st.Present || stage > len(st.Stages) {
		return false
	}
	s := &st.Stages[stage-1]
	return s.LeftOut == "" && s.Mode == ModePeople && st.who.position(s.People, p) >= 0 && !st.who.stamped(s, p)
}
