package circulation

import "slices"

// seats are the stamps that a stage still owes.
type seats struct {
	free  int
	who   []int // may give one with their own hand
	given []int
	tried bool
}

// missing returns how many stamps or hands would be missing in the end if from this state on people stamped with their
// own hands only, each where it helps most. Above 0 the gate could rest for ever. A channel, or whom the settings
// allow, is taken to have somebody whose hand has not stamped.
func (st *State) missing(r *Route) int {
	used, open := st.hands(), []*seats{}
	more := r.Hands - len(used)
	for i := range st.Stages {
		switch s := &st.Stages[i]; {
		case s.Owed == 0:
		case s.Mode != ModePeople:
			more -= s.Owed
		default:
			free, in := &seats{free: s.Owed}, st.who.in(s)
			for i := range s.People {
				if id := st.who.id(&s.People[i]); in[id] == 0 && !slices.Contains(free.who, id) {
					free.who = append(free.who, id)
				}
			}
			if short := s.Owed - len(free.who); short > 0 {
				return short
			}
			open = append(open, free)
		}
	}
	for _, s := range open {
		for _, id := range s.who {
			if more > 0 && !slices.Contains(used, id) {
				used = append(used, id)
				if seat(id, open) {
					more--
				}
				for _, s := range open {
					s.tried = false
				}
			}
		}
	}
	return max(more, 0)
}

// seat gives somebody a seat in one of the stages. If all of theirs are taken, it moves those who have another.
func seat(id int, open []*seats) bool {
	for _, s := range open {
		if s.tried || !slices.Contains(s.who, id) {
			continue
		}
		s.tried = true
		if len(s.given) < s.free {
			s.given = append(s.given, id)
			return true
		}
		for i, other := range s.given {
			if seat(other, open) {
				s.given[i] = id
				return true
			}
		}
	}
	return false
}
