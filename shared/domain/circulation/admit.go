package circulation

// common checks what holds of acts of every kind.
func (st *State) common(g Gate, act *Act) Why {
	r := g.Route
	switch {
	case st.Refused != nil || !act.known(r) || act.Stage < 1 || act.Stage > len(st.Stages):
		return WhyUnknown
	case act.Hash != g.Asked:
		return WhyHash
	case st.repeats(r, act):
		return WhyAgain
	case st.Settled:
		return WhySettled
	case st.Ended() != "":
		return WhyEnded
	case !act.worded():
		return WhyText
	case g.asks(act.Hand) || g.asks(act.Principal):
		return WhySelf
	}
	return ""
}

// repeats reports whether the very same was done, and still stands.
func (st *State) repeats(r *Route, act *Act) bool {
	switch act.Kind {
	case Stamp:
		return st.given(r, act) >= 0
	case TakeBack:
		return st.holds(r, st.backs, act)
	case Stand:
		people := st.Stages[act.Stage-1].People
		return st.holds(r, st.Stands, act) && r.position(people, *act.For) < 0 && r.position(people, *act.To) >= 0
	}
	return st.Ended() != "" && r.again(st.Last, act)
}

func (st *State) holds(r *Route, acts []Act, act *Act) bool {
	for i := range acts {
		if r.again(&acts[i], act) {
			return true
		}
	}
	return false
}

// stamp checks that the principal owes the present stage a stamp, and that the hand may give it.
func (st *State) stamp(g Gate, act *Act) Why {
	if why := st.turn(g, act); why != "" {
		return why
	}
	if st.Asked().hasHand(g.Route, act.Hand) {
		return WhyTwice
	}
	return ""
}

// turn checks that the principal owes the present stage a stamp, and that the decision found what the hand needs.
func (st *State) turn(g Gate, act *Act) Why {
	r, s := g.Route, st.Asked()
	switch {
	case act.Stage != st.Present:
		return WhyStage
	case s.Mode == ModePeople && r.position(s.People, act.Principal) < 0:
		for _, other := range st.Stages {
			if r.position(other.People, act.Principal) >= 0 {
				return WhyTurn
			}
		}
		return WhyRoute
	case !act.found(r, s.Mode):
		return WhyFound
	case s.hasPrincipal(r, act.Principal):
		return WhyTwice
	}
	return ""
}

// takeBack checks that the hand's stamp stands, at the present stage or at the one before it.
func (st *State) takeBack(g Gate, act *Act) Why {
	if st.given(g.Route, act) < 0 {
		return WhyNothing
	}
	for _, later := range st.Stages[act.Stage:] {
		if len(later.Stamps) > 0 {
			return WhyNext
		}
	}
	return ""
}

// stand checks that an administrator puts somebody in the place of one who may still stamp.
func (st *State) stand(g Gate, act *Act) Why {
	r, s := g.Route, &st.Stages[act.Stage-1]
	switch {
	case act.Stage < st.Present || s.LeftOut != "" || s.Mode != ModePeople:
		return WhyStage
	case r.Org != "" && act.Found.Org == "":
		return WhyFound
	case g.asks(*act.To):
		return WhySelf
	case r.same(act.Hand, *act.For) || r.same(act.Hand, *act.To):
		return WhyParty
	case r.position(s.People, *act.For) < 0 || s.hasPrincipal(r, *act.For):
		return WhyFor
	case r.position(s.People, *act.To) >= 0:
		return WhyTo
	}
	return ""
}

// refuse says why an act isn't admitted, with what a sentence to people needs.
func (st *State) refuse(g Gate, why Why, act *Act) *Refusal {
	refused := &Refusal{Why: why, Stage: st.Present}
	refused.People = st.Owes(g)
	if why == WhyTwice {
		refused.People = nil
		for _, s := range st.Asked().Stamps {
			if g.Route.same(s.Hand, act.Hand) || g.Route.same(s.Principal, act.Principal) {
				refused.People = append(refused.People, s.Hand)
			}
		}
	}
	if s := st.Asked(); s != nil {
		refused.Name = s.Name
	}
	return refused
}
