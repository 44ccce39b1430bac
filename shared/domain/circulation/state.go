package circulation

import (
	"slices"
	"time"
)

// MostTime is how long all stages of a gate under a rule may take together.
const MostTime = 300 * 24 * time.Hour

// State is where a gate stands.
type State struct {
	Stages  []StageState
	Present int      // number of the stage that is asked; 0: none
	Settled bool     // all stages have the stamps that they need
	Last    *Act     // the act that settled or ended it
	Stands  []*Act   // who put whom in whose place
	Refused *Refusal // why an act, or the route, makes no sense; then nothing stands and nothing is offered

	who         persons
	askers      []Person
	need        int  // different hands that the route asks for
	joined      bool // the newest act showed that two whom the gate had named before are one person
	acts, bytes int
}

// StageState is where a stage stands. Its People are those who are asked now: without askers, with successors.
type StageState struct {
	Stage
	Aside              []Person // askers whom it names: they may end the gate, and not stamp
	Stamps             []*Act
	Owed               int
	OpenedAt, DecideBy *time.Time // while it is asked or done

	part []int // of each of the people
	owed []int // stamps of each part
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

// Owes returns who owes the present stage a stamp and may give it: its people who have a seat there, and whose hand
// spares enough others. It is empty for a channel's stage, which names nobody.
func (st *State) Owes() []Person {
	return slices.DeleteFunc(st.seated(), func(p Person) bool { return !st.Spares(p) })
}

// seated returns the present stage's people who stand in none of its stamps, as hand or principal, without those of a
// part that has its stamps.
func (st *State) seated() (people []Person) {
	if s := st.CurrentStage(); s != nil {
		in := st.who.in(s)
		for i := range s.People {
			if in[st.who.id(&s.People[i])] == 0 && s.owed[s.part[i]] > 0 {
				people = append(people, s.People[i])
			}
		}
	}
	return people
}

// Spares reports whether enough hands are left for the other stamps after one that somebody gives the present stage in
// their own name.
func (st *State) Spares(p Person) bool { return st.spares(p, p) }

func (st *State) spares(hand, principal Person) bool {
	if st.Present == 0 {
		return false
	}
	after := *st
	after.Stages = slices.Clone(st.Stages)
	s := &after.Stages[st.Present-1]
	*s = s.clone()
	s.give(st.who, &Act{Kind: Stamp, Hand: hand, Principal: principal, Stage: st.Present})
	return after.missing() == 0
}

// Stamps returns the stamps, stage by stage.
func (st *State) Stamps() (acts []*Act) {
	for i := range st.Stages {
		acts = append(acts, st.Stages[i].Stamps...)
	}
	return acts
}

// Hands returns how many different people's hands gave the stamps.
func (st *State) Hands() int { return len(st.hands()) }

func (st *State) hands() (ids []int) {
	for _, act := range st.Stamps() {
		if id := st.who.id(&act.Hand); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// meet adds the people of an act.
func (st *State) meet(act *Act) {
	before := len(st.who)
	st.joined = false
	for _, p := range []*Person{&act.Hand, &act.Principal, act.For, act.To} {
		if p != nil {
			joined := st.who.meet(p)
			st.joined = st.joined || joined > 0 && joined <= before
		}
	}
	if st.joined {
		for i := range st.Stages {
			st.Stages[i].merge(st.who)
		}
	}
}

// twice returns the hands of those stamps in which somebody stands who stands in another one of the same stage, as it
// turns out when the newest act shows that two are one person.
func (st *State) twice() (hands []Person) {
	if !st.joined {
		return nil
	}
	for i := range st.Stages {
		in := st.who.in(&st.Stages[i])
		for _, act := range st.Stages[i].Stamps {
			if in[st.who.id(&act.Hand)] > 1 || in[st.who.id(&act.Principal)] > 1 {
				hands = append(hands, act.Hand)
			}
		}
	}
	return hands
}

// enter makes the first stage that owes something the present one, since this act (nil: since the gate asks) unless it
// was already. If none owes anything, the act settled the gate.
func (st *State) enter(g *Gate, by *Act) {
	was, at := st.Present, g.AskedAt
	if by != nil {
		at = by.At
	}
	st.Present = 0
	if i := slices.IndexFunc(st.Stages, func(s StageState) bool { return s.Owed > 0 }); i >= 0 {
		if st.Present = i + 1; st.Present != was {
			st.Stages[i].opens(g, at)
		}
	}
	if st.Settled = st.Present == 0; st.Settled {
		st.Last = by
	}
}

// opens has a stage asked since a time, and says until when it is to be decided.
func (s *StageState) opens(g *Gate, at time.Time) {
	by := at.Add(time.Duration(g.Hours) * time.Hour)
	if last := g.AskedAt.Add(MostTime); by.After(last) && g.Rule != nil {
		by = last
	}
	s.OpenedAt, s.DecideBy = &at, &by
}

// seats are the stamps that a part of a stage still owes.
type seats struct {
	free  int
	who   []int // may give one with their own hand
	given []int
	tried bool
}

// free returns the seats of a part of a stage, in whose stamps people stand.
func (st *State) free(s *StageState, part int, in map[int]int) *seats {
	free := &seats{free: s.owed[part]}
	for i := range s.People {
		if id := st.who.id(&s.People[i]); s.part[i] == part && in[id] == 0 {
			free.who = append(free.who, id)
		}
	}
	return free
}

// missing returns how many stamps or hands would be missing in the end if from this state on people stamped with their
// own hands only, each where it helps most. Above 0 the gate could rest for ever. A channel, or whom the settings
// allow, is taken to have somebody whose hand has not stamped.
func (st *State) missing() int {
	used, open := st.hands(), []*seats{}
	more := st.need - len(used)
	for i := range st.Stages {
		switch s := &st.Stages[i]; {
		case s.Owed == 0:
		case s.Mode != ModePeople:
			more -= s.Owed
		default:
			in := st.who.in(s)
			for n := range s.owed {
				free := st.free(s, n, in)
				if short := free.free - len(free.who); short > 0 {
					return short
				}
				open = append(open, free)
			}
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
