package circulation

import "slices"

// Vacant is somebody who can't stamp any more at a stage that waits, or will wait, for them.
type Vacant struct {
	Stage  int // number
	Person Person
}

// Stuck returns the people without whom the gate can't be settled, of those who are gone: of each part of a stage that
// has too few others. If only the number of different hands can't be reached, it returns all who are gone and haven't
// stamped. A gate that nobody is asked about isn't stuck.
func (st *State) Stuck(g Gate, gone func(Person) bool) (out []Vacant) {
	if st.Refused != nil || st.Present == 0 {
		return nil
	}
	left, all := *st, []Vacant{}
	left.Stages = slices.Clone(st.Stages)
	for i := range left.Stages {
		s := &st.Stages[i]
		if s.Owed == 0 || s.Mode != ModePeople {
			continue
		}
		here, able, stay := make([][]Vacant, len(s.owed)), make([]int, len(s.owed)), &left.Stages[i]
		stay.People, stay.part = nil, nil
		for j, p := range s.People {
			part, stamped := s.part[j], st.who.stamped(s, &p)
			if !stamped && gone(p) {
				here[part] = append(here[part], Vacant{i + 1, p})
				continue
			}
			if stay.People, stay.part = append(stay.People, p), append(stay.part, part); !stamped {
				able[part]++
			}
		}
		for part := range here {
			all = append(all, here[part]...)
			if able[part] < s.owed[part] {
				out = append(out, here[part]...)
			}
		}
	}
	if len(out) == 0 && left.missing() > 0 {
		return all
	}
	return out
}

// Replaceable reports whether a successor may be put in somebody's place at a stage: they may still stamp there.
func (st *State) Replaceable(stage int, p *Person) bool {
	if st.Present == 0 || stage < 1 || stage > len(st.Stages) || !st.coming(stage) {
		return false
	}
	s := &st.Stages[stage-1]
	return st.who.position(s.People, p) >= 0 && !st.who.stamped(s, p)
}
