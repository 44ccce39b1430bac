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
	case !st.letsAskers(act) && (st.asks(g, &act.Hand) || st.asks(g, &act.Principal)):
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
	return act.Kind == Answer || st.objects(act)
}

// repeats reports whether the very same was done, and still stands.
func (st *State) repeats(act *Act) bool {
	s := &st.Stages[act.Stage-1]
	switch act.Kind {
	case Stamp, Dissent:
		i := st.who.given(s.Stamps, act)
		return i >= 0 && s.Stamps[i].Kind == act.Kind
	case Add:
		return slices.ContainsFunc(st.Stages, func(s StageState) bool {
			return s.By != nil && s.By.Kind == Add && st.who.given([]*Act{s.By}, act) == 0 && s.By.As == act.As &&
				st.who.same(s.By.To, act.To) && st.who.position(s.People, act.To) >= 0
		})
	case TakeBack:
		return st.who.given(s.Stamps, act) < 0 && st.who.given(st.backs, act) >= 0
	case Ask:
		q := st.Open()
		return q != nil && st.who.given([]*Act{q.Asked}, act) == 0
	case Answer:
		a := st.answered()
		return a != nil && st.who.given([]*Act{a}, act) == 0
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
	if s.Mode == ModeSettings && act.Kind != Stamp && act.Kind != SendBack && act.Kind != GiveBack {
		return WhyUnknown
	}
	if act.Kind == Answer {
		return st.answer(g, act)
	}
	why := st.owing(g, s, act)
	switch {
	case why != "":
	case act.Kind == Ask:
		return st.ask()
	case act.Kind == Stamp:
		return s.minuted(g, st.who, act)
	case act.Kind == Add:
		return st.addition(g, s, act)
	case act.Kind == Dissent && s.As != AsConsult:
		return WhyUnknown
	case act.Ends() && s.As == AsConsult:
		return WhyConsult
	case act.Kind == Deny:
		return s.minuted(g, st.who, act)
	}
	return why
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
	case st.who.stamped(s, &act.Principal), act.Gives() && st.who.stamped(s, &act.Hand):
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

// stampedAfter returns the number of the first stage after this one that has a stamp, or 0.
func (st *State) stampedAfter(stage int) int {
	for _, n := range st.from(stage) {
		if slices.ContainsFunc(st.Stages[n-1].Stamps, func(act *Act) bool { return act.Stage == n }) {
			return n
		}
	}
	return 0
}

// elsewhere says of a principal who is not at the present stage whether another one asks them.
func (st *State) elsewhere(act *Act) Why {
	for i := range st.Stages {
		if s := &st.Stages[i]; !s.Closed && st.who.position(s.People, &act.Principal) >= 0 {
			return WhyTurn
		}
	}
	return WhyRoute
}

// coming reports whether a stage names people who are asked now, or later.
func (st *State) coming(stage int) bool {
	s := &st.Stages[stage-1]
	return !slices.Contains(st.from(stage), st.Present) && s.LeftOut == "" && !s.Closed && s.Mode == ModePeople
}

// stand checks that an administrator puts somebody in the place of one who may still stamp.
func (st *State) stand(g *Gate, s *StageState, act *Act) Why {
	switch {
	case !st.coming(act.Stage):
		return WhyStage
	case st.lacks(g, act, s) != "":
		return WhyFound
	case st.asks(g, act.To):
		return WhySelf
	case st.who.same(&act.Hand, act.For) || st.who.same(&act.Hand, act.To):
		return WhyParty
	case st.asks(g, act.For) || st.who.position(s.People, act.For) < 0 || st.who.stamped(s, act.For):
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
	st.keyed = g.Answers
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
	st.Stages, st.Stands, st.backs = slices.Clone(st.Stages), slices.Clip(st.Stands), slices.Clone(st.backs)
	st.Questions = slices.Clone(st.Questions)
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
		refused.Yours, refused.Unnamed = st.later(&act.Principal)
	case WhySelf:
		refused.Asker = st.asker(g, act)
		refused.Put = !st.asks(g, &act.Hand) && !st.asks(g, &act.Principal)
	case WhyNext:
		refused.Stage = st.stampedAfter(act.Stage)
		refused.Name = st.Stages[refused.Stage-1].Name
	case WhyMinutes, WhySecretary:
		refused.People = slices.DeleteFunc(st.CurrentStage().Records(), func(p Person) bool { return !st.Spares(p) })
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
	case Ask:
		st.question(g, act)
	case Answer:
		st.answers(g, act)
	case Add:
		st.added++
		st.add(g, act, []Person{*act.To}, act.As)
	case Stamp, Dissent:
		st.give(act)
		st.backs = slices.DeleteFunc(st.backs, func(back *Act) bool { return st.who.given([]*Act{back}, act) == 0 })
		if act.Kind == Dissent {
			st.raise(g, act)
		}
	case TakeBack:
		st.takeBack(s.Stamps[st.who.given(s.Stamps, act)])
		st.backs = append(st.backs, act)
		st.lower(act.Stage)
	case Stand:
		s.People[st.who.position(s.People, act.For)] = *act.To
		st.Stands = append(st.Stands, act)
	}
	st.enter(g, act)
}
