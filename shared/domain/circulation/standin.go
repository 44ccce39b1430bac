package circulation

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// StandIn is a delegation as it was read: by it Hand acts for Principal, from Begins until before Ends.
type StandIn struct {
	Delegation
	Hand, Principal Person
	SetBy           Person // who set it: the principal, or an administrator
	Begins, Ends    time.Time
	// Unfit is why the hand may not act by it on the gate in question, as the organisation says; empty: nothing is.
	Unfit Lack
}

// Absence reports whether nobody stands in by it: it only says that its principal is away.
func (s *StandIn) Absence() bool { return s.Hand == Person{} }

// Counts reports whether the hand may act by it at this time.
func (s *StandIn) Counts(at time.Time) bool { return !at.Before(s.Begins) && at.Before(s.Ends) }

// Needs reports whether a hand can do something at the present stage only for somebody else: the stage names people,
// and the hand has no seat there and stands in none of its stamps.
func (st *State) Needs(hand Person) bool {
	s := st.CurrentStage()
	return s != nil && s.Mode == ModePeople && !slices.ContainsFunc(st.seated(), hand.Is) &&
		!slices.ContainsFunc(s.Stamps, func(act *Act) bool { return hand.Is(act.Hand) || hand.Is(act.Principal) })
}

// For is whom a hand stands in for on a gate, and by what. It may not act by it if Lacks says something.
type For struct {
	StandIn
	Lacks Lack
	Among []Person // all for whom the hand could act now, if they are several and it did not say for whom
	rank  int
}

// The order in which delegations are taken. Those of one rank follow in the order in which they began.
const (
	owes      = iota // their principal has a seat at the present stage, and the hand may stamp for it
	ofAsker          // it has one, but one of the gate's askers set it
	unfit            // it has one, but the delegation isn't for the rule, or the organisation says something against it
	notNow           // it has one, but at another time
	spent            // it has one, but the stamp would be refused: so the hand leaves too few others
	stamped          // their principal is at the present stage, and has stamped
	elsewhere        // their principal is at another stage
	asks             // their principal is one of the askers
)

// StandsIn returns by which of its delegations a hand acts on a gate at a time, with the principal as the route knows
// them; nil: by none. as is the account of the principal for whom the hand says that it acts; empty: it said nothing,
// and of several who owe the stage the first is returned with all of them. A delegation that one of the askers set for
// somebody else doesn't count: nobody chooses who stamps their own request.
func (st *State) StandsIn(g *Gate, hand Person, as string, all []StandIn, at time.Time) *For {
	if !st.Needs(hand) {
		return nil
	}
	var found []For
	for _, s := range all {
		if !s.Hand.Is(hand) {
			continue
		}
		if f, on := st.placed(g, hand, s, at); on && (as == "" || f.Principal.User == as) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil
	}
	sort.SliceStable(found, func(i, j int) bool { // package slices would link its sort for this type: 10 kB
		a, b := &found[i], &found[j]
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.Begins.Compare(b.Begins), cmp.Compare(a.Key, b.Key)) < 0
	})
	first := found[0]
	var among []Person
	for _, f := range found {
		if f.rank == owes && !slices.ContainsFunc(among, f.Principal.Is) {
			among = append(among, f.Principal)
		}
	}
	if len(among) > 1 {
		first.Among = among
	}
	return &first
}

// placed returns where the principal of a hand's delegation stands on the gate; on is false if nowhere, or where it
// doesn't count.
func (st *State) placed(g *Gate, hand Person, s StandIn, at time.Time) (f For, on bool) {
	f = For{StandIn: s, rank: elsewhere}
	for i := range st.Stages {
		j := slices.IndexFunc(st.Stages[i].People, s.Principal.Is)
		if j < 0 || on && i+1 != st.Present {
			continue
		}
		f.Principal, on = st.Stages[i].People[j], true
		if f.Principal.Via = ""; i+1 == st.Present {
			f.rank = stamped
		}
	}
	if !on && slices.ContainsFunc(g.Askers, s.Principal.Is) {
		f.rank, on = asks, true
	}
	theirs := slices.ContainsFunc(st.seated(), s.Principal.Is)
	switch counts, covers := s.Counts(at), s.Covers(g.Rule); {
	case !covers && (!theirs || !counts):
		return f, false
	case !covers:
		f.rank, f.Lacks = unfit, LackRule
	case theirs && s.Chosen(g.Askers):
		f.rank, f.Lacks = ofAsker, LackOthers
	case theirs && st.CurrentStage().NoStandIns:
		f.rank, f.Lacks = unfit, LackAlone
	case theirs && counts && s.Unfit != "":
		f.rank, f.Lacks = unfit, s.Unfit
	case theirs && !counts:
		f.rank, f.Lacks = notNow, LackDelegation
	case theirs && !st.takes(g, hand, &f, at):
		f.rank = spent
	case theirs:
		f.rank = owes
	case !counts || s.Unfit != "" || s.Chosen(g.Askers):
		return f, false
	}
	return f, on
}

// Chosen reports whether one of the askers set the delegation for somebody else.
func (s *StandIn) Chosen(askers []Person) bool {
	return slices.ContainsFunc(askers, func(p Person) bool { return p.Is(s.SetBy) && !s.Principal.Is(p) })
}

// takes reports whether the present stage would take a hand's stamp by a delegation.
func (st *State) takes(g *Gate, hand Person, f *For, at time.Time) bool {
	act := Act{Form: Form, Kind: Stamp, Hand: hand, Principal: f.Principal, At: at, Stage: st.Present, Hash: g.AskedSum,
		Found: Found{Delegation: &f.Delegation, Org: g.Route.Org}}
	return Admit(*g, *st, act) == nil
}

// StoodFor returns those of some delegations by which somebody may stamp the present stage for one of its people, while
// they count, with the principals as the route knows them.
func (st *State) StoodFor(g *Gate, all []StandIn) (out []StandIn) {
	for _, s := range all {
		if f, _ := st.placed(g, s.Hand, s, s.Begins); f.Owes() && st.Needs(s.Hand) {
			out = append(out, f.StandIn)
		}
	}
	return out
}

// Owes reports whether the principal has a seat at the present stage that the hand may stamp for now.
func (f *For) Owes() bool { return f != nil && f.rank == owes }

// Again returns the act by which a hand did the same on a gate that it is about to do once more.
func (st *State) Again(act *Act) *Act {
	var done []*Act
	switch {
	case act.Stage < 1 || act.Stage > len(st.Stages):
	case act.Kind == Stamp:
		done = st.Stages[act.Stage-1].Stamps
	case st.Last != nil && st.Last.Kind == act.Kind:
		done = []*Act{st.Last}
	}
	for _, a := range slices.Backward(done) {
		if a.Hand.Is(act.Hand) {
			return a
		}
	}
	return nil
}

// persons tells people apart. Whom a gate names with the same account, or with the same key of the organisation, is one
// person, also by way of others: an account that has had two keys makes one person of all who have either. Each account
// and key has the number of its person.
type persons map[name]int

// name is an account, or a key of the organisation.
type name struct {
	key  bool
	text string
}

func (p *Person) names() [2]name { return [2]name{{false, p.User}, {true, p.Person}} }

// meet adds somebody whom the gate names. If that makes one person of two, these have the lower one's number, and it
// returns the higher one's; else 0. New numbers are higher than there were names before.
func (ps persons) meet(p *Person) (joined int) {
	id := ps.id(p)
	if id == 0 {
		id = len(ps) + 1
	}
	for _, n := range p.names() {
		switch was, known := ps[n]; {
		case n.text == "":
		case !known:
			ps[n] = id
		case was != id:
			joined, id = max(was, id), min(was, id)
			for other, of := range ps {
				if of == joined {
					ps[other] = id
				}
			}
		}
	}
	return joined
}

// id returns the number of somebody whom the gate names; 0 if they have no name.
func (ps persons) id(p *Person) int {
	for _, n := range p.names() {
		if id, known := ps[n]; known {
			return id
		}
	}
	return 0
}

// same reports whether two whom the gate names are one person.
func (ps persons) same(a, b *Person) bool { return ps.id(a) == ps.id(b) }

// position returns where a person is in a list, or -1.
func (ps persons) position(people []Person, p *Person) int {
	for i := range people {
		if ps.same(&people[i], p) {
			return i
		}
	}
	return -1
}

// given returns where among acts the one of a stamp is: by the same hand for the same principal at one stage; or -1.
func (ps persons) given(acts []*Act, act *Act) int {
	for i, a := range acts {
		if a.Stage == act.Stage && ps.same(&a.Hand, &act.Hand) && ps.same(&a.Principal, &act.Principal) {
			return i
		}
	}
	return -1
}

// in returns how many of a stage's stamps each person stands in, as hand or principal.
func (ps persons) in(s *StageState) map[int]int {
	times := map[int]int{}
	for _, act := range s.Stamps {
		hand, principal := ps.id(&act.Hand), ps.id(&act.Principal)
		if times[hand]++; principal != hand {
			times[principal]++
		}
	}
	return times
}

// stands reports whether somebody stands in a stamp, as hand or principal.
func (ps persons) stands(act *Act, p *Person) bool {
	return ps.same(&act.Hand, p) || ps.same(&act.Principal, p)
}

// stamped reports whether somebody stands in one of a stage's stamps.
func (ps persons) stamped(s *StageState, p *Person) bool {
	return slices.ContainsFunc(s.Stamps, func(act *Act) bool { return ps.stands(act, p) })
}

// distinct returns people, each once.
func (ps persons) distinct(people []Person) (out []Person) {
	for i := range people {
		if ps.position(out, &people[i]) < 0 {
			out = append(out, people[i])
		}
	}
	return out
}

// asks reports whether somebody is one of a gate's askers.
func (ps persons) asks(g *Gate, p *Person) bool { return ps.position(g.Askers, p) >= 0 }

// meetAll adds everybody whom a gate names before its first act.
func (ps persons) meetAll(g *Gate) {
	for i := range g.Askers {
		ps.meet(&g.Askers[i])
	}
	for i := range g.Route.Stages {
		s := &g.Route.Stages[i]
		for j := range s.People {
			ps.meet(&s.People[j])
		}
	}
}

// Beside returns those of some delegations that count where these ask, too: nobody stands in for them, nor they for
// others, nor by what they set for others.
func Beside(all []StandIn, askers ...string) (out []StandIn) {
	for _, s := range all {
		if !slices.ContainsFunc(askers, func(user string) bool {
			return user == s.Hand.User || user == s.Principal.User || user == s.SetBy.User
		}) {
			out = append(out, s)
		}
	}
	return out
}
