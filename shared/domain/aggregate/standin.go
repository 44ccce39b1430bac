package aggregate

import (
	"time"

	"ringi/shared/domain/circulation"
)

// HandKey returns by what rows of delegations name somebody as a hand on the gate; empty if the organisation does not
// know them.
func (g *Gate) HandKey(user string) string {
	if g.Route == nil || g.Route.Org == "" {
		return user
	}
	return g.Person(user).Person
}

// NeedsStandIn reports whether somebody can do something at the gate's present stage only for somebody else.
func (g *Gate) NeedsStandIn(user string) bool {
	st := circulation.Walk(g.Circulating())
	return user != "" && st.Needs(g.Person(user))
}

// OwesFor returns for whom somebody may stamp at the gate's present stage, and its number, by their delegations; the
// stage is 0 if they may for nobody, or owe a stamp themselves.
func (g *Gate) OwesFor(user string, all []circulation.StandIn, at time.Time) (principal string, stage int) {
	if g.Status != PendingApproval || user == "" || len(all) == 0 {
		return "", 0
	}
	c := g.Circulating()
	st, hand := circulation.Walk(c), g.Person(user)
	by := st.StandsIn(&c, hand, all, at)
	if !by.Owes() {
		return "", 0
	}
	act := circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: hand, Principal: by.Principal, At: at,
		Stage: st.Present, Hash: g.Asked, Surface: string(SurfaceSlack)}
	act.Found.Delegation = &by.Delegation
	if circulation.Admit(c, st, act) != nil {
		return "", 0
	}
	return by.Principal.User, st.Present
}
