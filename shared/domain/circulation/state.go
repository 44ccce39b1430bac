package circulation

import (
	"slices"
	"time"
)

// State is where a gate stands.
type State struct {
	Stages  []StageState
	Present int      // number of the stage that is asked; 0: none
	Settled bool     // all stages have the stamps that they need
	Last    *Act     // the act that settled or ended it
	Refused *Refusal // why an act, or the route, makes no sense; then nothing stands and nothing is offered
}

// StageState is where a stage stands. Its People are those who may stamp: without askers, each once.
type StageState struct {
	Stage
	Stamps             []*Act
	Owed               int
	OpenedAt, DecideBy *time.Time // while it is asked or done
}

// open returns the state of a gate before the first act; ok is false if this release can't walk its route.
func open(g *Gate) (st State, ok bool) {
	if !g.sound() {
		return State{}, false
	}
	stamps := 0
	for _, s := range g.Route.Stages {
		if !s.sound(g.Rule) {
			return State{}, false
		}
		of := StageState{Stage: s, Owed: s.Need}
		of.People = nil
		for _, p := range s.People {
			if p.User != "" && !g.asks(p) && !of.names(p) {
				of.People = append(of.People, p)
			}
		}
		st.Stages, stamps = append(st.Stages, of), stamps+s.Need
	}
	st.enter(g, nil)
	return st, stamps <= MaxStamps && (stamps > 0 || len(st.Stages) == 0) && st.missing() == 0
}

// enter asks the next stage since an act (nil: since the gate asks). If there is none, the act settled the gate.
func (st *State) enter(g *Gate, by *Act) {
	at := g.AskedAt
	if by != nil {
		at = by.At
	}
	for st.Present++; st.Present <= len(st.Stages) && st.Stages[st.Present-1].Owed == 0; st.Present++ {
	}
	if st.Settled = st.Present > len(st.Stages); st.Settled {
		st.Present, st.Last = 0, by
		return
	}
	due := at.Add(time.Duration(g.Hours) * time.Hour)
	if last := g.AskedAt.Add(MostTime); g.Rule != nil && due.After(last) {
		due = last
	}
	s := st.CurrentStage()
	s.OpenedAt, s.DecideBy = &at, &due
}

// clone returns a copy of which acts change nothing in the state.
func (st State) clone() State {
	st.Stages = slices.Clone(st.Stages)
	for i := range st.Stages {
		st.Stages[i].Stamps = slices.Clip(st.Stages[i].Stamps)
	}
	return st
}

// Ended returns the kind of the act by which the gate ended without a settlement, or "".
func (st *State) Ended() Kind {
	if st.Last == nil || st.Settled {
		return ""
	}
	return st.Last.Kind
}

// CurrentStage returns the stage that is asked, or nil.
func (st *State) CurrentStage() *StageState {
	if st.Present == 0 {
		return nil
	}
	return &st.Stages[st.Present-1]
}

// Stamps returns the stamps, the oldest first.
func (st *State) Stamps() (acts []*Act) {
	for i := range st.Stages {
		acts = append(acts, st.Stages[i].Stamps...)
	}
	return acts
}

// stamped reports whether somebody stands in a stamp of the gate, as hand or principal.
func (st *State) stamped(p Person) bool {
	return slices.ContainsFunc(st.Stages, func(s StageState) bool {
		return slices.ContainsFunc(s.Stamps, func(act *Act) bool { return act.By(p) })
	})
}

func (s *StageState) names(p Person) bool { return slices.ContainsFunc(s.People, p.Is) }

// names reports whether a stage asks somebody by name.
func (st *State) names(p Person) bool {
	return slices.ContainsFunc(st.Stages, func(s StageState) bool { return s.names(p) })
}

// later returns the name of the stage after the present one that asks somebody, or "".
func (st *State) later(p Person) string {
	for i := range st.Stages[st.Present:] {
		if s := &st.Stages[st.Present+i]; s.names(p) {
			return s.Name
		}
	}
	return ""
}

// Owes returns who owes the present stage a stamp and may give it: its people who stand in none, and whose stamp leaves
// enough others. It is empty for a channel's stage, which names nobody.
func (st *State) Owes() (people []Person) {
	if s := st.CurrentStage(); s != nil {
		for _, p := range s.People {
			if st.Spares(p) {
				people = append(people, p)
			}
		}
	}
	return people
}

// Spares reports whether somebody stands in no stamp, and enough people are left for the other ones after their own at
// the present stage.
func (st *State) Spares(p Person) bool {
	if st.stamped(p) {
		return false
	}
	if !slices.ContainsFunc(st.Stages[st.Present:], func(s StageState) bool { return s.names(p) }) {
		return true // no other stage needs them
	}
	then := st.clone()
	s := then.CurrentStage()
	s.Stamps, s.Owed = append(s.Stamps, &Act{Hand: p, Principal: p}), s.Owed-1
	return then.missing() == 0
}

// missing returns how many stamps could not be given any more if from this state on people stamped in their own names,
// each where it helps most. Above 0 the gate could rest for ever. A channel, or whom the settings allow, is taken to
// have somebody who has not stamped.
func (st *State) missing() (n int) {
	seats := seats{by: map[string]int{}}
	for i := range st.Stages {
		s := &st.Stages[i]
		if s.Mode != ModePeople || s.Owed == 0 {
			continue
		}
		var free []string
		for _, p := range s.People {
			if !st.stamped(p) {
				free = append(free, p.User)
			}
		}
		for range s.Owed {
			seats.of = append(seats.of, free)
			if !seats.fill(len(seats.of)-1, map[string]bool{}) {
				n++
			}
		}
	}
	return n
}

// seats are stamps that are owed: for each, who may give it, and for whom gives one, which.
type seats struct {
	of [][]string
	by map[string]int
}

// fill gives a seat to somebody. If all who may have it have another one, it moves one of them who can have a third.
func (s *seats) fill(seat int, tried map[string]bool) bool {
	for _, user := range s.of[seat] {
		if tried[user] {
			continue
		}
		tried[user] = true
		if other, has := s.by[user]; !has || s.fill(other, tried) {
			s.by[user] = seat
			return true
		}
	}
	return false
}
