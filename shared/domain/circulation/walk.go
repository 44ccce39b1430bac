package circulation

import "slices"

// Walk folds a gate's acts from the beginning, each admitted by the state that those before it left. If one of them
// isn't, or the route is one that this release can't walk, Refused says so and nothing stands.
func Walk(g Gate) State {
	st, ok := open(g)
	if !ok {
		return State{Refused: &Refusal{Why: WhyUnknown}}
	}
	for i := range g.Acts {
		next, refused := st.take(g, &g.Acts[i])
		if refused != nil {
			refused.Act = i + 1
			return State{Refused: refused}
		}
		st = next
	}
	return st
}

// Admit returns nil if the act may follow those that left this state of the gate, else a *Refusal.
func Admit(g Gate, st State, act Act) error {
	if _, refused := st.take(g, &act); refused != nil {
		return refused
	}
	return nil
}

// take returns the state that an act leaves, or why it isn't admitted. The state that it is called on stays as it is.
func (st State) take(g Gate, act *Act) (State, *Refusal) {
	if why := st.common(g, act); why != "" {
		return st, st.refuse(g, why, act)
	}
	why := Why("")
	switch act.Kind {
	case Stamp:
		why = st.stamp(g, act)
	case SendBack, Deny:
		why = st.turn(g, act)
	case TakeBack:
		why = st.takeBack(g, act)
	case Stand:
		why = st.stand(g, act)
	}
	if why != "" {
		return st, st.refuse(g, why, act)
	}
	next := st.after(g, act)
	if missing := next.missing(g); missing > 0 {
		refused := st.refuse(g, WhyHands, act)
		refused.Missing = missing
		return st, refused
	}
	if !next.bounded(act) {
		return st, st.refuse(g, WhyBounds, act)
	}
	return next, nil
}

// after returns the state that an admitted act leaves.
func (st State) after(g Gate, act *Act) State {
	r := g.Route
	st.acts, st.bytes = st.acts+1, st.bytes+act.bytes()
	if act.Kind == SendBack || act.Kind == Deny {
		st.Present, st.Last = 0, act
		return st
	}
	st.Stages = slices.Clone(st.Stages)
	s := &st.Stages[act.Stage-1]
	switch act.Kind {
	case Stamp:
		s.Stamps, s.Owed = append(slices.Clip(s.Stamps), *act), s.Owed-1
		st.backs = slices.DeleteFunc(slices.Clone(st.backs), func(b Act) bool { return r.sameStamp(&b, act) })
	case TakeBack:
		s.Stamps, s.Owed = slices.Delete(slices.Clone(s.Stamps), st.given(r, act), st.given(r, act)+1), s.Owed+1
		st.backs = append(slices.Clip(st.backs), *act)
	case Stand:
		s.People = slices.Clone(s.People)
		s.People[r.position(s.People, *act.For)] = *act.To
		st.Stands = append(slices.Clip(st.Stands), *act)
	}
	st.enter(g, act.At)
	if st.Settled {
		st.Last = act
	}
	return st
}

// sameStamp reports whether two acts are of one stamp: by the same hand for the same principal at one stage.
func (r *Route) sameStamp(a, b *Act) bool {
	return a.Stage == b.Stage && r.same(a.Hand, b.Hand) && r.same(a.Principal, b.Principal)
}

// given returns where among its stage's stamps that of an act is, or -1.
func (st *State) given(r *Route, act *Act) int {
	return slices.IndexFunc(st.Stages[act.Stage-1].Stamps, func(s Act) bool { return r.sameStamp(&s, act) })
}
