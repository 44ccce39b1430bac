package circulation

import (
	"slices"
	"time"
)

// MostTime is how long all stages of a gate may take together.
const MostTime = 300 * 24 * time.Hour

// State is where a gate stands.
type State struct {
	Stages  []StageState
	Present int      // number of the stage that is asked; 0: none
	Settled bool     // all stages have the stamps that they need
	Last    *Act     // the act that settled or ended it
	Stands  []*Act   // who put whom in whose place
	Refused *Refusal // why an act, or the route, makes no sense; then nothing stands and nothing is offered

	acts, bytes int
	backs       []*Act // the newest take-backs, each until its stamp is given again
}

// StageState is where a stage stands. Its People are those who are asked now: without askers, with successors.
type StageState struct {
	Stage
	Stamps             []*Act // that stand
	Owed               int
	OpenedAt, DecideBy *time.Time // while it is asked or done
}

// Ended returns SendBack or Deny if the gate ended by it, else "".
func (st *State) Ended() Kind {
	if st.Last == nil || st.Settled {
		return ""
	}
	return st.Last.Kind
}

// Asked returns the stage that is asked, or nil.
func (st *State) Asked() *StageState {
	if st.Present == 0 {
		return nil
	}
	return &st.Stages[st.Present-1]
}

// Owes returns who owes the present stage a stamp. It is empty for a channel's stage, which names nobody.
func (st *State) Owes(g *Gate) (people []Person) {
	if s := st.Asked(); s != nil {
		for i := range s.People {
			if !s.stamped(g.Route, &s.People[i], false) {
				people = append(people, s.People[i])
			}
		}
	}
	return people
}

// Stamps returns the stamps that stand, stage by stage.
func (st *State) Stamps() (acts []*Act) {
	for i := range st.Stages {
		acts = append(acts, st.Stages[i].Stamps...)
	}
	return acts
}

// stamped reports whether somebody is the principal, or else the hand, of a stamp that stands.
func (s *StageState) stamped(r *Route, p *Person, hand bool) bool {
	for _, act := range s.Stamps {
		who := &act.Principal
		if hand {
			who = &act.Hand
		}
		if r.same(who, p) {
			return true
		}
	}
	return false
}

// hands returns the people whose hands gave the stamps that stand.
func (st *State) hands(r *Route) (ids []string) {
	for _, act := range st.Stamps() {
		if id := r.id(&act.Hand); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// enter makes the first stage that owes something the present one, since this act (nil: since the gate asks) unless it
// was already; later stages are closed. If none owes anything, the act settled the gate.
func (st *State) enter(g *Gate, by *Act) {
	was, at := st.Present, g.AskedAt
	if by != nil {
		at = by.At
	}
	st.Present = 0
	for i := range st.Stages {
		switch s := &st.Stages[i]; {
		case s.Owed == 0:
		case st.Present > 0:
			s.OpenedAt, s.DecideBy = nil, nil
		default:
			st.Present = i + 1
			if st.Present == was {
				continue
			}
			decideBy := at.Add(time.Duration(g.Hours) * time.Hour)
			if last := g.AskedAt.Add(MostTime); decideBy.After(last) {
				decideBy = last
			}
			s.OpenedAt, s.DecideBy = &at, &decideBy
		}
	}
	if st.Settled = st.Present == 0; st.Settled {
		st.Last = by
	}
}
