package circulation

import (
	"cmp"
	"maps"
	"slices"
)

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
	case act.Hash != g.AskedSum:
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

// letsAskers reports whether a stage lets one of the askers act. By the settings they may always send or give back, and
// stamp if these allow it; else see objects.
func (st *State) letsAskers(act *Act) bool {
	if a := act.Found.Allowed; st.Stages[act.Stage-1].Mode == ModeSettings {
		return act.Kind == SendBack || act.Kind == GiveBack || a != nil && a.Self
	}
	return st.objects(act)
}

// repeats reports whether the very same was done, and still stands.
func (st *State) repeats(act *Act) bool {
	s := &st.Stages[act.Stage-1]
	switch act.Kind {
	case Stamp:
		return st.who.given(s.Stamps, act) >= 0
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
	if act.Kind == Stand {
		return st.stand(g, s, act)
	}
	if s.Mode == ModeSettings && act.Kind != Stamp && act.Kind != SendBack && act.Kind != GiveBack {
		return WhyUnknown
	}
	return st.owing(g, s, act)
}

// owing checks that an act is for somebody who owes the present stage a stamp, by a hand that may give it.
func (st *State) owing(g *Gate, s *StageState, act *Act) Why {
	switch {
	case act.Stage != st.Present:
		return WhyStage
	case s.Mode == ModePeople && st.who.position(s.People, &act.Principal) < 0 && !st.objects(act):
		return st.elsewhere(act)
	case st.lacks(g, act, s) != "":
		return WhyFound
	case st.who.stamped(s, &act.Principal), act.Kind == Stamp && st.who.stamped(s, &act.Hand):
		return WhyTwice
	case s.enough(st.who, &act.Principal) && !st.objects(act):
		return WhyEnough
	}
	return ""
}

// objects reports whether an asker ends the gate at a stage that names them: whose words led to what is asked may not
// stamp it, but is not silenced by that.
func (st *State) objects(act *Act) bool {
	return act.Ends() && st.who.same(&act.Hand, &act.Principal) &&
		st.who.position(st.Stages[act.Stage-1].Aside, &act.Hand) >= 0
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

// coming reports whether a stage names people who are asked now, or later.
func (st *State) coming(stage int) bool {
	s := &st.Stages[stage-1]
	return stage >= st.Present && s.LeftOut == "" && s.Mode == ModePeople
}

// stand checks that an administrator puts somebody in the place of one who may still stamp.
func (st *State) stand(g *Gate, s *StageState, act *Act) Why {
	switch {
	case !st.coming(act.Stage):
		return WhyStage
	case st.lacks(g, act, s) != "":
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
	was := st
	st.Stages, st.Stands = slices.Clone(st.Stages), slices.Clip(st.Stands)
	st.who = maps.Clone(st.who)
	for i := range st.Stages {
		st.Stages[i] = st.Stages[i].clone()
	}
	refused := st.take(&g, &act)
	switch {
	case refused == nil:
		return nil
	case refused.People == nil:
		refused.People = was.Owes()
	}
	return refused
}

// take changes the state to the one that an act leaves. If it returns why the act isn't admitted, the state is none.
func (st *State) take(g *Gate, act *Act) *Refusal {
	refused := &Refusal{Stage: st.Present, Home: g.Home}
	if s := st.CurrentStage(); s != nil {
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
	case WhyFound:
		refused.Lacks = cmp.Or(st.lacks(g, act, &st.Stages[act.Stage-1]), LackOrg) // or the row is another's
	case WhyTwice:
		for _, given := range st.CurrentStage().Stamps {
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
	if refused.Missing = st.missing(); refused.Missing > 0 {
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
	case SendBack, GiveBack, Deny:
		st.Present, st.Last = 0, act
		return
	case Stamp:
		s.give(st.who, act)
	case Stand:
		s.People[st.who.position(s.People, act.For)] = *act.To
		st.Stands = append(st.Stands, act)
	}
	st.enter(g, act)
}
