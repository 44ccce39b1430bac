package circulation

import "slices"

// MaxAdded is how many people those who are asked may add to a gate.
const MaxAdded = 10

// Carried is somebody whom people added to a gate, and who is asked along the route of the next version, too.
type Carried struct {
	To      Person `json:"to"`
	By      Person `json:"by"` // whose hand added them
	As      As     `json:"as"`
	After   int    `json:"after"`              // number of the route's stage after which they are asked
	Round   int    `json:"round"`              // in which they were added
	LeftOut string `json:"left_out,omitempty"` // why they aren't; empty: they are
}

// Carries returns whom people added to a gate, which is of this round, or to one before it, for the route of its next
// version: after the stage of the same name where that has one, else at the end. Who wasn't asked beside this gate's
// route comes last.
func (st *State) Carries(on *Route, round int) (all []Carried) {
	if st.Refused != nil || len(on.Stages) == 0 {
		return nil
	}
	for _, n := range st.order {
		s := &st.Stages[n-1]
		if s.By == nil || s.By.Kind != Add {
			continue
		}
		to, in := s.By.To, round
		if s.Carried != nil {
			in = s.Carried.Round
		}
		if len(s.People) > 0 { // else they were left out
			to = &s.People[0]
		}
		for st.Stages[n-1].After > 0 {
			n = st.Stages[n-1].After
		}
		all = append(all, Carried{To: *to, By: s.By.Hand, As: s.By.As,
			After: on.like(n, st.Stages[n-1].Name), Round: in})
	}
	for _, c := range st.unasked {
		c.After = on.like(c.After, st.Stages[c.After-1].Name)
		all = append(all, c)
	}
	return all
}

// like returns the number of the stage that has a name: this one if it has, else the first; or the last stage's.
func (r *Route) like(number int, name string) int {
	named := func(s Stage) bool { return s.Name == name }
	if number <= len(r.Stages) && named(r.Stages[number-1]) {
		return number
	}
	if i := slices.IndexFunc(r.Stages, named); i >= 0 {
		return i + 1
	}
	return len(r.Stages)
}

// carry has somebody asked again whom people added in a round before, unless they ask for it now, or their own approval
// is needed anyway, or to consult them, their own opinion; ok is false for what makes no sense.
func (st *State) carry(g *Gate, c *Carried) (ok bool) {
	if g.Rule == nil || c.After < 1 || c.After > len(g.Route.Stages) || c.As != AsApprove && c.As != AsConsult ||
		c.Round < 1 || c.LeftOut == "" && !g.Route.counts(&c.To) || st.added == MaxAdded {
		return false
	}
	needs := func(s StageState) bool { return s.needs(st.who, &c.To, c.As) }
	by := &Act{Form: Form, Kind: Add, Hand: c.By, Principal: c.By, Stage: c.After, To: &c.To, As: c.As}
	switch {
	case c.LeftOut != "":
		left := Stage{Mode: ModePeople, Need: 1, LeftOut: c.LeftOut}
		st.Stages = append(st.Stages, StageState{Stage: left, By: by, After: c.After, Carried: c})
	case st.asks(g, &c.To) || slices.ContainsFunc(st.Stages, needs):
		st.unasked = append(st.unasked, *c)
	default:
		st.add(g, by, []Person{c.To}, c.As)
		st.Stages[len(st.Stages)-1].Carried = c
	}
	st.added++
	return true
}

// needs reports whether a stage on which nobody has stamped needs what somebody is asked for, their own approval or at
// least opinion: that of each in their part.
func (s *StageState) needs(who persons, p *Person, as As) bool {
	i, others := who.position(s.People, p), 0
	if i < 0 || s.As == AsConsult && as != AsConsult {
		return false
	}
	for j := range s.part {
		if j != i && s.part[j] == s.part[i] {
			others++
		}
	}
	return others < s.owed[s.part[i]]
}

// Counts reports whether a stage's stamps count for what the route asks: who was added, or is only consulted, is asked
// beside it, and replaces nobody's stamp or hand.
func (s *StageState) Counts() bool { return s.By == nil && s.As != AsConsult }

// InOrder returns the numbers of the stages in the order in which they are asked, without those that were closed. What
// was added comes right after the stage at which it was, in the order in which it was; its number is the next free one,
// so that no stage's number ever changes.
func (st *State) InOrder() []int {
	return slices.DeleteFunc(slices.Clone(st.order), func(n int) bool { return st.Stages[n-1].Closed })
}

// Consents returns the consents that stand of people who are consulted, stage by stage.
func (st *State) Consents() []*Act { return st.consulted(Stamp) }

// Dissents returns the objections that stand of people who are consulted, stage by stage.
func (st *State) Dissents() []*Act { return st.consulted(Dissent) }

func (st *State) consulted(kind Kind) []*Act {
	return slices.DeleteFunc(st.given(func(s *StageState) bool { return s.As == AsConsult }),
		func(act *Act) bool { return act.Kind != kind })
}

// given returns the stamps that stand of some stages, and what who is consulted said there, stage by stage.
func (st *State) given(of func(s *StageState) bool) (acts []*Act) {
	for _, n := range st.order {
		if s := &st.Stages[n-1]; of(s) {
			acts = append(acts, s.Stamps...)
		}
	}
	return acts
}

// from returns the numbers of the stages that are asked after this one.
func (st *State) from(stage int) []int { return st.order[slices.Index(st.order, stage)+1:] }

// addition checks whom somebody who owes the present stage a stamp may have asked after it.
func (st *State) addition(g *Gate, s *StageState, act *Act) Why {
	switch {
	case s.Mode != ModePeople:
		return WhyRoute
	case st.asks(g, act.To):
		return WhySelf
	case st.who.same(&act.Hand, act.To) || st.who.same(&act.Principal, act.To):
		return WhyParty
	case st.involved(act.To):
		return WhyTo
	}
	return ""
}

// involved reports whether somebody is at a stage that is asked or will be, or stands in a stamp.
func (st *State) involved(p *Person) bool {
	return slices.ContainsFunc(st.Stages, func(s StageState) bool {
		return s.Owed > 0 && st.who.position(s.People, p) >= 0 || st.who.stamped(&s, p)
	})
}

// add has one of some people asked after a stage, if they may stamp at all. No asker ends the gate there.
func (st *State) add(g *Gate, by *Act, people []Person, as As) {
	s := StageState{Stage: Stage{Mode: ModePeople, People: people, Need: 1}, By: by, After: by.Stage}
	if as == AsConsult {
		s.As = as
	}
	if st.seat(g, &s); len(s.People) > 0 {
		s.Aside = nil
		st.Stages = append(st.Stages, s)
		st.order = st.below(0)
	}
}

// below returns the numbers of the stages that were added after one, each with those added after it; 0: of all.
func (st *State) below(after int) (order []int) {
	for i := range st.Stages {
		if st.Stages[i].After == after {
			order = append(append(order, i+1), st.below(i+1)...)
		}
	}
	return order
}

// raised returns the stage of those who are asked because somebody objected at a stage, or nil.
func (st *State) raised(stage int) *StageState {
	for i := range st.Stages {
		if s := &st.Stages[i]; s.After == stage && s.By != nil && s.By.Kind == Dissent {
			return s
		}
	}
	return nil
}

// raise has one of those who stand over a stage asked after it, once, however many of its people object.
func (st *State) raise(g *Gate, act *Act) {
	switch s, up := &st.Stages[act.Stage-1], st.raised(act.Stage); {
	case s.Dissent != ObjectionRaised:
	case up == nil:
		st.add(g, act, s.Over, AsApprove)
	case up.Closed:
		up.Closed, up.By, up.Owed, up.owed = false, act, 1, []int{1}
	}
}

// give adds a stamp to its stage, and by the own hand of who is asked after an objection also to the later ones that
// ask nobody twice.
func (st *State) give(act *Act) {
	of := &st.Stages[act.Stage-1]
	of.give(st.who, act)
	if of.By == nil || of.By.Kind != Dissent || !st.who.same(&act.Hand, &act.Principal) {
		return
	}
	for _, n := range st.from(act.Stage) {
		if s := &st.Stages[n-1]; s.Once && st.who.position(s.People, &act.Hand) >= 0 && !st.who.stamped(s, &act.Hand) {
			s.give(st.who, act)
		}
	}
}

// takeBack removes a stamp of a stage wherever it counts.
func (st *State) takeBack(act *Act) {
	for i := range st.Stages {
		if at := slices.Index(st.Stages[i].Stamps, act); at >= 0 {
			st.Stages[i].takeBack(at)
		}
	}
}

// lower closes the stage that was raised by objections at a stage, if none of them stands any more.
func (st *State) lower(stage int) {
	objects := func(act *Act) bool { return act.Kind == Dissent }
	if up := st.raised(stage); up != nil && !slices.ContainsFunc(st.Stages[stage-1].Stamps, objects) {
		up.closes()
		up.Closed, up.Owed, up.owed = true, 0, []int{0}
	}
}

// Offers returns whom the rule names for the people of the stage that is asked to add, unless they are asked by now.
func (st *State) Offers() (all []Raise) {
	if s := st.CurrentStage(); s != nil {
		all = st.OffersOf(s)
	}
	return all
}

// OffersOf is Offers of a stage, whether or not it is asked now.
func (st *State) OffersOf(s *StageState) (all []Raise) {
	for _, x := range s.Raises {
		asked := func(s StageState) bool { return x.LeftOut == "" && slices.ContainsFunc(s.People, x.To.Is) }
		if !slices.ContainsFunc(st.Stages, asked) {
			all = append(all, x)
		}
	}
	return all
}

// Offered is somebody whom the rule names for the people of a stage to add, and in which cases.
type Offered struct {
	To   Person
	When []string
}

// Offered returns each of the people whom Offers has once, with all their cases.
func (st *State) Offered() (all []Offered) {
	for _, x := range st.Offers() {
		if x.LeftOut != "" {
			continue
		}
		i := slices.IndexFunc(all, func(o Offered) bool { return o.To.User == x.To.User })
		if i < 0 {
			i, all = len(all), append(all, Offered{To: x.To})
		}
		if !slices.Contains(all[i].When, x.When) {
			all[i].When = append(all[i].When, x.When)
		}
	}
	return all
}
