package circulation

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// StandIn is a delegation as it was read: by it Hand acts for Principal, from Begins until before Ends.
type StandIn struct {
	Delegation
	Hand, Principal Person
	SetBy           Person // the principal, or an administrator
	Begins, Ends    time.Time
}

// Counts reports whether the hand may act by it at this time.
func (s *StandIn) Counts(at time.Time) bool { return !at.Before(s.Begins) && at.Before(s.Ends) }

// Chosen reports whether one of the askers set it for somebody else: nobody chooses who stamps their own request.
func (s *StandIn) Chosen(askers []Person) bool {
	return slices.ContainsFunc(askers, s.SetBy.Is) && !s.Principal.Is(s.SetBy)
}

// names reports whether a delegation, if there is one, is for the hand and the principal of an act.
func (d *Delegation) names(act *Act) bool {
	return d != nil && d.Rev > 0 && strings.HasPrefix(d.Key, act.Hand.User+"#"+act.Principal.User+"#")
}

// standsFor returns whom the act's hand stands in for, or nobody.
func (act *Act) standsFor() (p Person) {
	if !act.own() {
		p = act.Principal
	}
	return p
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

// Needs reports whether a hand can do something at the present stage only for somebody else: the stage asks people, and
// the hand is none of them and stands in no stamp.
func (st *State) Needs(hand Person) bool {
	s := st.CurrentStage()
	return s != nil && s.Mode == ModePeople && !s.names(hand) && !st.stamped(hand)
}

// StandsIn returns the first of some delegations by which a hand may stamp the present stage at a time, or nil.
func (st *State) StandsIn(g *Gate, hand Person, all []StandIn, at time.Time) *StandIn {
	for _, s := range st.StoodFor(g, all) {
		if s.Hand.Is(hand) && s.Counts(at) {
			return &s
		}
	}
	return nil
}

// Again returns what a hand did at a stage that it is about to do once more, or nil: it does that for whom it did it
// then.
func (st *State) Again(act *Act) *Act {
	if act.Stage > 0 && act.Stage <= len(st.Stages) {
		for _, given := range st.Stages[act.Stage-1].Stamps {
			if given.Kind == act.Kind && given.Hand.Is(act.Hand) {
				return given
			}
		}
	}
	if st.Ended() != "" && st.Last.Kind == act.Kind && st.Last.Hand.Is(act.Hand) {
		return st.Last
	}
	return nil
}

// StoodFor returns those of some delegations by which somebody may stamp the present stage for one of its people while
// they count, in the order in which they begin.
func (st *State) StoodFor(g *Gate, all []StandIn) (out []StandIn) {
	for _, s := range all {
		act := Act{Form: Form, Kind: Stamp, Hand: s.Hand, Principal: s.Principal, Stage: st.Present, Hash: g.AskedSum,
			Found: Found{Delegation: &s.Delegation}}
		if st.Needs(s.Hand) && !s.Chosen(g.Askers) && Admit(*g, *st, act) == nil {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b StandIn) int {
		return cmp.Or(a.Begins.Compare(b.Begins), cmp.Compare(a.Key, b.Key))
	})
	return out
}
