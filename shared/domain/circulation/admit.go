package circulation

// common checks what holds of acts of every kind.
func (st *State) common(g *Gate, act *Act) Why {
	if st.Settled && len(st.Stages) == 0 { // it asks nobody
		return WhySettled
	}
	if st.Refused != nil || !act.known(g.Route) || act.Stage < 1 || act.Stage > len(st.Stages) {
		return WhyUnknown
	}
	st.meet(act)
	switch {
	case act.Kind == Stand && !st.who.same(&act.Hand, &act.Principal):
		return WhyUnknown
	case act.Hash != g.Asked:
		return WhyHash
	case st.repeats(act):
		return WhyAgain
	case st.Settled:
		return WhySettled
	case st.Last != nil:
		return WhyEnded
	case !act.worded():
		return WhyText
	case !st.letsAskers(act) && (st.who.asks(g, &act.Hand) || st.who.asks(g, &act.Principal)):
		return WhySelf
	}
	return ""
}

// letsAskers reports whether a stage lets one of the askers act. By the settings they may always send back, and stamp
// if these allow it; else see objects.
func (st *State) letsAskers(act *Act) bool {
	if a := act.Found.Allowed; st.Stages[act.Stage-1].Mode == ModeSettings {
		return act.Kind == SendBack || a != nil && a.Self
	}
	return st.objects(act)
}

// repeats reports whether the very same was done, and still stands.
func (st *State) repeats(act *Act) bool {
	s := &st.Stages[act.Stage-1]
	switch act.Kind {
	case Stamp:
		return st.who.given(s.Stamps, act) >= 0
	case TakeBack:
		return st.who.given(s.Stamps, act) < 0 && st.who.given(st.backs, act) >= 0
	case Stand:
		for _, a := range st.Stands {
			if st.who.given([]*Act{a}, act) == 0 && st.who.same(a.For, act.For) && st.who.same(a.To, act.To) {
				return st.who.position(s.People, act.For) < 0 && st.who.position(s.People, act.To) >= 0
			}
		}
		return false
	}
	return st.Last != nil && st.Last.Kind == act.Kind && st.who.given([]*Act{st.Last}, act) == 0
}

// own checks what holds of acts of this kind.
func (st *State) own(g *Gate, act *Act) Why {
	s := &st.Stages[act.Stage-1]
	switch act.Kind {
	case TakeBack:
		if st.who.given(s.Stamps, act) < 0 {
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
	case s.Mode == ModeSettings && act.Kind == Deny:
		return WhyUnknown // it can only be sent back
	case s.Mode == ModePeople && st.who.position(s.People, &act.Principal) < 0 && !st.objects(act):
		return st.elsewhere(act)
	case st.lacks(g, act, s.Mode) != "":
		return WhyFound
	case st.who.stamped(s, &act.Principal), act.Kind == Stamp && st.who.stamped(s, &act.Hand):
		return WhyTwice
	}
	return ""
}

// objects reports whether an asker ends the gate at a stage that names them: whose words led to what is asked may not
// stamp it, but is not silenced by that.
func (st *State) objects(act *Act) bool {
	return act.Ends() && st.who.same(&act.Hand, &act.Principal) &&
		st.who.position(st.Stages[act.Stage-1].Aside, &act.Hand) >= 0
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
func (st *State) elsewhere(act *Act) Why {
	for i := range st.Stages {
		if st.who.position(st.Stages[i].People, &act.Principal) >= 0 {
			return WhyTurn
		}
	}
	return WhyRoute
}

// stand checks that an administrator puts somebody in the place of one who may still stamp.
func (st *State) stand(g *Gate, s *StageState, act *Act) Why {
	switch {
	case act.Stage < st.Present || s.LeftOut != "" || s.Mode != ModePeople:
		return WhyStage
	case st.lacks(g, act, s.Mode) != "":
		return WhyFound
	case st.who.asks(g, act.To):
		return WhySelf
	case st.who.same(&act.Hand, act.For) || st.who.same(&act.Hand, act.To):
		return WhyParty
	case st.who.asks(g, act.For) || st.who.position(s.People, act.For) < 0 || st.who.stamped(s, act.For):
		return WhyFor
	case st.who.position(s.People, act.To) >= 0:
		return WhyTo
	}
	return ""
}
