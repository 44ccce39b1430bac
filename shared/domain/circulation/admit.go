package circulation

// common checks what holds of acts of every kind.
func (st *State) common(g *Gate, act *Act) Why {
	switch {
	case st.Refused != nil || !act.known(g.Route) || act.Stage < 1 || act.Stage > len(st.Stages):
		return WhyUnknown
	case act.Hash != g.Asked:
		return WhyHash
	case st.repeats(g.Route, act):
		return WhyAgain
	case st.Settled:
		return WhySettled
	case st.Last != nil:
		return WhyEnded
	case !act.worded():
		return WhyText
	case g.asks(&act.Hand) || g.asks(&act.Principal):
		return WhySelf
	}
	return ""
}

// repeats reports whether the very same was done, and still stands.
func (st *State) repeats(r *Route, act *Act) bool {
	s := &st.Stages[act.Stage-1]
	switch act.Kind {
	case Stamp:
		return r.given(s.Stamps, act) >= 0
	case TakeBack:
		return r.given(st.backs, act) >= 0
	case Stand:
		for _, a := range st.Stands {
			if r.given([]*Act{a}, act) == 0 && r.same(a.For, act.For) && r.same(a.To, act.To) {
				return r.position(s.People, act.For) < 0 && r.position(s.People, act.To) >= 0
			}
		}
		return false
	}
	return st.Last != nil && st.Last.Kind == act.Kind && r.given([]*Act{st.Last}, act) == 0
}

// own checks what holds of acts of this kind.
func (st *State) own(g *Gate, act *Act) Why {
	r, s := g.Route, &st.Stages[act.Stage-1]
	switch act.Kind {
	case TakeBack:
		if r.given(s.Stamps, act) < 0 {
			return WhyNothing
		}
		if st.stampedAfter(act.Stage) > 0 {
			return WhyNext
		}
		return ""
	case Stand:
		return st.stand(g, s, act)
	}
	switch {
	case act.Stage != st.Present:
		return WhyStage
	case s.Mode == ModePeople && r.position(s.People, &act.Principal) < 0:
		return st.elsewhere(r, act)
	case !act.found(r, s.Mode):
		return WhyFound
	case s.stamped(r, &act.Principal, false), act.Kind == Stamp && s.stamped(r, &act.Hand, true):
		return WhyTwice
	}
	return ""
}

// stampedAfter returns the number of the first stage after this one that has a stamp, or 0.
func (st *State) stampedAfter(stage int) int {
	for i := range st.Stages[stage:] {
		if len(st.Stages[stage+i].Stamps) > 0 {
			return stage + i + 1
		}
	}
	return 0
}

// elsewhere says of a principal who is not at the present stage whether another one asks them.
func (st *State) elsewhere(r *Route, act *Act) Why {
	for i := range st.Stages {
		if r.position(st.Stages[i].People, &act.Principal) >= 0 {
			return WhyTurn
		}
	}
	return WhyRoute
}

// stand checks that an administrator puts somebody in the place of one who may still stamp.
func (st *State) stand(g *Gate, s *StageState, act *Act) Why {
	r := g.Route
	switch {
	case act.Stage < st.Present || s.LeftOut != "" || s.Mode != ModePeople:
		return WhyStage
	case r.Org != "" && act.Found.Org == "":
		return WhyFound
	case g.asks(act.To):
		return WhySelf
	case r.same(&act.Hand, act.For) || r.same(&act.Hand, act.To):
		return WhyParty
	case r.position(s.People, act.For) < 0 || s.stamped(r, act.For, false):
		return WhyFor
	case r.position(s.People, act.To) >= 0:
		return WhyTo
	}
	return ""
}
