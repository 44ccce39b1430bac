package circulation

import (
	"maps"
	"slices"
)

// Walk folds a gate's acts from the beginning, each admitted by the state that those before it left. If one of them
// isn't, or the route is one that this release can't walk, Refused says so and nothing stands.
func Walk(g Gate) State {
	st, ok := open(&g)
	if !ok {
		return State{Refused: &Refusal{Why: WhyUnknown}}
	}
	for i := range g.Acts {
		if refused := st.take(&g, &g.Acts[i]); refused != nil {
			refused.Act = i + 1
			return State{Refused: refused}
		}
	}
	return st
}

// Admit returns nil if the act may follow those that left this state of the gate, else a *Refusal.
func Admit(g Gate, st State, act Act) error {
	st.Stages, st.Stands, st.backs = slices.Clone(st.Stages), slices.Clip(st.Stands), slices.Clone(st.backs)
	st.who = maps.Clone(st.who)
	for i := range st.Stages {
		s := &st.Stages[i]
		s.People, s.Stamps = slices.Clone(s.People), slices.Clone(s.Stamps)
	}
	if refused := st.take(&g, &act); refused != nil {
		return refused
	}
	return nil
}

// take changes the state to the one that an act leaves. If it returns why the act isn't admitted, the state is none.
func (st *State) take(g *Gate, act *Act) *Refusal {
	r, refused := g.Route, &Refusal{Stage: st.Present, People: st.Owes(), Home: g.Home}
	if s := st.Asked(); s != nil {
		refused.Name = s.Name
	}
	refused.Why = st.common(g, act)
	if refused.Why == "" {
		refused.Why = st.own(g, act)
	}
	switch refused.Why {
	case WhyTurn:
		refused.Yours = st.later(&act.Principal)
	case WhySelf:
		refused.Asker = st.asker(g, act)
		refused.Put = !st.who.asks(g, &act.Hand) && !st.who.asks(g, &act.Principal)
	case WhyNext:
		refused.Stage = st.stampedAfter(act.Stage)
		refused.Name = st.Stages[refused.Stage-1].Name
	case WhyFound:
		refused.Lacks = st.lacks(g, act, st.Stages[act.Stage-1].Mode)
	case WhyTwice:
		refused.People = nil
		for _, given := range st.Asked().Stamps {
			if st.who.stands(given, &act.Hand) || st.who.stands(given, &act.Principal) {
				refused.People = append(refused.People, given.Hand)
			}
		}
	}
	if refused.Why == WhySelf || refused.Why == WhyFound {
		refused.For = st.standsFor(act)
	}
	if refused.Why != "" {
		return refused
	}
	st.after(g, act)
	if act.Ends() {
		return nil
	}
	if hands := st.twice(); len(hands) > 0 {
		refused.Why, refused.People = WhyTwice, hands
		return refused
	}
	if refused.Missing = st.missing(r); refused.Missing > 0 {
		refused.Why = WhyHands
		return refused
	}
	if !st.bounded(act) {
		refused.Why = WhyBounds
		return refused
	}
	return nil
}

// after changes the state to the one that an admitted act leaves.
func (st *State) after(g *Gate, act *Act) {
	st.acts, st.bytes = st.acts+1, st.bytes+act.bytes()
	s := &st.Stages[act.Stage-1]
	switch act.Kind {
	case SendBack, Deny:
		st.Present, st.Last = 0, act
		return
	case Stamp:
		s.Stamps, s.Owed = append(s.Stamps, act), s.Owed-1
		st.backs = slices.DeleteFunc(st.backs, func(back *Act) bool { return st.who.given([]*Act{back}, act) == 0 })
	case TakeBack:
		i := st.who.given(s.Stamps, act)
		s.Stamps, s.Owed = slices.Delete(s.Stamps, i, i+1), s.Owed+1
		st.backs = append(st.backs, act)
	case Stand:
		s.People[st.who.position(s.People, act.For)] = *act.To
		st.Stands = append(st.Stands, act)
	}
	st.enter(g, act)
}
