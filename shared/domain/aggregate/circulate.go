package aggregate

import (
	"slices"
	"time"

	"ringi/shared/domain/circulation"
)

// ErrOnRoute: what is done to a gate doesn't follow from its route and acts.
var ErrOnRoute error = ErrNotAllowed{RuleOnRoute}

// Ruled reports whether there is a gate and a rule chose its route; else the settings say who may stamp.
func (g *Gate) Ruled() bool { return g != nil && g.Terms.Rule != nil }

// Automatic reports whether the gate opened and asks nobody.
func (g *Gate) Automatic() bool { return g.Route != nil && len(g.Route.Stages) == 0 }

// Whole returns the gate itself, so that rows have it of the gate that they embed.
func (g *Gate) Whole() *Gate { return g }

// GateOf returns the gate of a row, nil if it has none.
func GateOf(r Row) *Gate {
	if x, has := r.(interface{ Whole() *Gate }); has {
		return x.Whole()
	}
	return nil
}

// Circulating returns what the fold needs of a gate.
func (g *Gate) Circulating() circulation.Gate {
	c := circulation.Gate{
		Hours: g.Terms.ApprovalHours, Days: ApprovalDays, Askers: g.Askers, AskedSum: g.AskedSum, Rule: g.Terms.Rule,
		Route: g.Route, Acts: g.Acts,
	}
	if g.AskedAt != nil {
		c.AskedAt = *g.AskedAt
	}
	return c
}

// Stampers returns the accounts of all who approved: along a route in their order, each once. Of a gate that nobody was
// asked about there are none.
func (g *Gate) Stampers() (users []string) {
	st := circulation.Walk(g.Circulating())
	for _, act := range st.Stamps() {
		if !slices.Contains(users, act.Hand.User) {
			users = append(users, act.Hand.User)
		}
	}
	return users
}

// ApprovalDays is for how many days people's stamps are good once they settled a gate.
const ApprovalDays = 14

// GoodUntil returns until when calls may begin by a gate; nil: for ever, since nobody was asked, or it isn't settled.
func (g *Gate) GoodUntil() *time.Time {
	st := circulation.Walk(g.Circulating())
	if !st.Settled || st.Last == nil {
		return nil
	}
	until := st.Last.At.AddDate(0, 0, ApprovalDays)
	return &until
}

// OnRoute reports whether somebody is at one of the gate's stages, or acted for somebody else. by is by
// what somebody stands in for them, who may then act on the gate, or come to; nil: nobody stands in.
func (g *Gate) OnRoute(user string, by *circulation.StandIn) bool {
	is := isUser(user)
	if g.Route == nil || user == "" ||
		by != nil && by.Chosen(g.Askers) {
		return false
	}
	if slices.ContainsFunc(g.Route.Stages, func(s circulation.Stage) bool {
		return slices.ContainsFunc(s.People, is)
	}) {
		return true
	}
	return slices.ContainsFunc(g.Acts, func(act circulation.Act) bool {
		return act.Hand.User != act.Principal.User && is(act.Hand)
	})
}

// SentBack reports whether the gate ended with its being sent back.
func (g *Gate) SentBack() bool {
	return g.Status == Rejected && len(g.Acts) > 0 && g.Acts[len(g.Acts)-1].Kind == circulation.SendBack
}

// Owes returns the number of the stage at which the gate waits for somebody's stamp as one of its people, 0: at none. A
// channel's stage names nobody.
func (g *Gate) Owes(user string) (stage int) {
	if g.Status != PendingApproval || user == "" {
		return 0
	}
	c := g.Circulating()
	st := circulation.Walk(c)
	if !slices.ContainsFunc(st.Owes(), isUser(user)) {
		return 0
	}
	return st.Present
}

func isUser(id string) func(circulation.Person) bool {
	return func(p circulation.Person) bool { return p.User == id }
}

// IsAsker reports whether what a gate asks about is a user's own request.
func (g *Gate) IsAsker(user string) bool { return slices.ContainsFunc(g.Askers, isUser(user)) }

// WaitsFor reports whether the present stage waits for somebody: as one of its people who owes a stamp, as a full
// member of the channel who is no asker and leaves enough other hands, or as somebody whom the settings allow.
// by.Member is of the gate's Place.
func (g *Gate) WaitsFor(by Actor, p Policy) bool {
	st := circulation.Walk(g.Circulating())
	s := st.CurrentStage()
	if s == nil || g.Status != PendingApproval || by.ID == "" || p.Team == "" {
		return false
	}
	switch s.Mode {
	case circulation.ModeSettings:
		return p.may(g, circulation.Stamp, by) == nil
	case circulation.ModeChannel:
		member := Policy{Team: p.Team, Mode: ApproversChannel}
		return !g.IsAsker(by.ID) && member.approver(by) == nil && st.Spares(circulation.Person{User: by.ID})
	}
	return slices.ContainsFunc(st.Owes(), isUser(by.ID))
}

// Acted returns a gate with one more act, and with the verdict if the act settles or ends it. It returns a
// *circulation.Refusal if the act isn't admitted.
func (g Gate) Acted(act circulation.Act) (Gate, error) {
	c := g.Circulating()
	if err := circulation.Admit(c, circulation.Walk(c), act); err != nil {
		return g, err
	}
	g.Acts = append(g.Acts[:len(g.Acts):len(g.Acts)], act)
	st := circulation.Walk(g.Circulating())
	g.dueBy(&st)
	switch {
	case st.Settled:
		g.ApprovedBy, g.ApprovedAt = act.Hand.User, &act.At
	case st.Ended() != "":
		g.RejectedBy, g.RejectedAt, g.RejectionReason = act.Hand.User, &act.At, act.Text
	}
	return g, nil
}

// Unasked returns a gate that asks nobody as the system settles it. It returns ErrNotAllowed for any other.
func (g Gate) Unasked(at time.Time) (Gate, error) {
	if st := circulation.Walk(g.Circulating()); !st.Settled || len(g.Acts) > 0 {
		return g, ErrNotAllowed{RuleNotListed}
	}
	g.ApprovedAt = &at
	return g, nil
}

// LastSurface says where the last act on the gate was done; "" if there is none.
func (g *Gate) LastSurface() Surface {
	if len(g.Acts) == 0 {
		return ""
	}
	return Surface(g.Acts[len(g.Acts)-1].Surface)
}

// NeedsStandIn reports whether somebody can do something at the gate's present stage only for somebody else.
func (g *Gate) NeedsStandIn(user string) bool {
	st := circulation.Walk(g.Circulating())
	return user != "" && st.Needs(circulation.Person{User: user})
}

// OwesFor returns for whom somebody may stamp at the gate's present stage, and its number, by their delegations; the
// stage is 0 if they may for nobody, or owe a stamp themselves.
func (g *Gate) OwesFor(user string, all []circulation.StandIn, at time.Time) (principal string, stage int) {
	if g.Status != PendingApproval || user == "" || len(all) == 0 {
		return "", 0
	}
	c := g.Circulating()
	st := circulation.Walk(c)
	by := st.StandsIn(&c, circulation.Person{User: user}, all, at)
	if by == nil {
		return "", 0
	}
	return by.Principal.User, st.Present
}
