package aggregate

import (
	"cmp"
	"slices"
	"time"

	"ringi/shared/domain/circulation"
)

// Hand returns somebody as a hand on the gate. person is their key in the organisation, if that was looked up.
func (g *Gate) Hand(user, person string) circulation.Person {
	p := g.Person(user)
	if g.Organised() {
		p.Person = cmp.Or(person, p.Person)
	}
	return p
}

// Organised reports whether the gate's route tells people apart by an organisation.
func (g *Gate) Organised() bool { return g.Route != nil && g.Route.Org != "" }

// HandKey returns by what rows of delegations name a hand on the gate; empty if the organisation does not know them.
func (g *Gate) HandKey(hand circulation.Person) string {
	if !g.Organised() {
		return hand.User
	}
	return hand.Person
}

// Account returns the account by which one of the gate's stages asks somebody; empty if none does.
func (g *Gate) Account(p circulation.Person) string {
	st := circulation.Walk(g.Circulating())
	for _, s := range st.Stages {
		if i := slices.IndexFunc(s.People, p.Is); i >= 0 {
			return s.People[i].User
		}
	}
	return ""
}

// NeedsStandIn reports whether a hand can do something at the gate's present stage only for somebody else.
func (g *Gate) NeedsStandIn(hand circulation.Person) bool {
	st := circulation.Walk(g.Circulating())
	return hand.User != "" && st.Needs(hand)
}

// OwesFor returns for whom somebody may stamp at the gate's present stage, and its number, by their delegations; the
// stage is 0 if they may for nobody, or owe a stamp themselves. It takes their key in the organisation from their
// delegations, and doesn't look at the organisation itself: a click may still be refused by it.
func (g *Gate) OwesFor(user string, all []circulation.StandIn, at time.Time) (principal string, stage int) {
	if g.Status != PendingApproval || user == "" || len(all) == 0 {
		return "", 0
	}
	c := g.Circulating()
	st := circulation.Walk(c)
	hand, by := g.standsIn(&c, &st, user, all, at)
	if !by.Owes() {
		return "", 0
	}
	act := circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: hand, Principal: by.Principal, At: at,
		Stage: st.Present, Hash: g.Asked, Surface: string(SurfaceSlack)}
	act.Found.Delegation, act.Found.Org = &by.Delegation, g.Route.Org
	if circulation.Admit(c, st, act) != nil {
		return "", 0
	}
	return by.Principal.User, st.Present
}

// AsWhom returns for whom somebody may act at the gate's present stage, by their delegations, if they are several.
func (g *Gate) AsWhom(user string, all []circulation.StandIn, at time.Time) []circulation.Person {
	c := g.Circulating()
	st := circulation.Walk(c)
	if _, by := g.standsIn(&c, &st, user, all, at); by != nil {
		return by.Among
	}
	return nil
}

func (g *Gate) standsIn(c *circulation.Gate, st *circulation.State, user string, all []circulation.StandIn,
	at time.Time) (circulation.Person, *circulation.For) {
	hand := g.Person(user)
	if i := slices.IndexFunc(all, func(s circulation.StandIn) bool { return s.Hand.User == user }); i >= 0 {
		hand = g.Hand(user, all[i].Hand.Person)
	}
	return hand, st.StandsIn(c, hand, "", all, at)
}
