package decide

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// standIn completes an act of a hand that owes nothing at the present stage itself but stands in for somebody, and
// returns the row on which that depends. What the hand does once more it does for whom it did it before. as is the
// account of the principal for whom the hand says that it acts, if it said so.
func standIn(g *circulation.Gate, st *circulation.State, act *circulation.Act, as string, all []circulation.StandIn,
	at time.Time) ([]aggregate.Owned, error) {
	if done := st.Again(g, act); done != nil {
		act.Principal, act.Found.Delegation = done.Principal, done.Found.Delegation
		return nil, nil
	}
	by := st.StandsIn(g, act.Hand, as, all, at)
	if by == nil || act.Kind == circulation.TakeBack {
		return nil, nil
	}
	refused := &circulation.Refusal{Stage: st.Present, Name: st.Asked().Name, People: st.Owes(), For: by.Principal,
		Begins: by.Begins, Ends: by.Ends}
	switch {
	case by.Lacks != "":
		refused.Why, refused.Lacks = circulation.WhyFound, by.Lacks
		return nil, refused
	case len(by.Among) > 0:
		refused.Why, refused.People = circulation.WhyWhom, by.Among
		return nil, refused
	}
	act.Principal, act.Found.Delegation = by.Principal, &by.Delegation
	return []aggregate.Owned{{Partition: tenancy.DelegatePrefix, Key: by.Key, Rev: by.Rev}}, nil
}

// StandIns reads the delegations by which somebody stands in for others at a gate, as a click on it would.
func (m Maker) StandIns(ctx context.Context, of Subject, id, user string) ([]circulation.StandIn, error) {
	member, err := m.member(ctx, of, id, user)
	if err != nil {
		return nil, err
	}
	return m.standIns(ctx, of, id, user, member)
}

// member looks up who somebody is in the organisation, if a gate's route tells people apart by one.
func (m Maker) member(ctx context.Context, of Subject, id, user string) (in tenancy.Employed, err error) {
	if g := of.GateWith(id); g != nil && g.Organised() {
		if in, err = m.Organised(ctx, of.Ref().Tenant, user); err != nil {
			err = fmt.Errorf("who it is in the organisation: %w", err)
		}
	}
	return in, err
}

// standIns reads the delegations by which a hand stands in for others, with one query, if only by them it can do
// something on the gate with this id. Those whose principals have left the workspace or the organisation, or are guests
// now, are left out. in is who the hand is in the organisation, if the gate's route asks that.
func (m Maker) standIns(ctx context.Context, of Subject, id, user string,
	in tenancy.Employed) ([]circulation.StandIn, error) {
	g := of.GateWith(id)
	if g == nil {
		return nil, nil
	}
	hand := g.Hand(user, in.Person)
	if !g.NeedsStandIn(hand) || g.HandKey(hand) == "" {
		return nil, nil
	}
	all, err := m.Store.StandIns(ctx, of.Ref().Tenant, g.HandKey(hand))
	if err != nil {
		return nil, fmt.Errorf("read the delegations of %s: %w", user, err)
	}
	team, gone := of.Origin().Team, map[string]bool{}
	for _, s := range all {
		who := g.Account(s.Principal)
		if _, asked := gone[who]; asked || !s.Counts(m.Now()) || who == "" {
			continue
		}
		by, err := m.People.Requester(ctx, team, who)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", explain.ErrUnverified, err)
		}
		gone[who] = aggregate.Policy{Team: team}.Request(by) != nil
	}
	all = slices.DeleteFunc(all, func(s circulation.StandIn) bool { return gone[g.Account(s.Principal)] })
	return m.fit(of, g, all, in), nil
}

// fit says of delegations what the organisation of the day has against them, where the gate's route has one: a hand who
// is no employee, or who stands below anybody who asks. Those whose principals are not in it are left out.
func (m Maker) fit(of Subject, g *aggregate.Gate, all []circulation.StandIn, in tenancy.Employed) []circulation.StandIn {
	if !g.Organised() || len(all) == 0 || in.Organisation == nil {
		return all
	}
	c := m.chart(in)
	var lacks circulation.Lack
	switch hand, here := c.Person(in.Person); {
	case !here || hand.Kind != organisation.Employee:
		lacks = circulation.LackEmployee
	case belowAny(c, in.Person, of, g, in.Accounts):
		lacks = circulation.LackBelow
	}
	var out []circulation.StandIn
	for _, s := range all {
		if _, here := c.Person(s.Principal.Person); here {
			s.Unfit = lacks
			s.SetBy.Person, _ = in.Accounts.Number(s.SetBy.User)
			out = append(out, s)
		}
	}
	return out
}

// chart returns today's organisation.
func (m Maker) chart(in tenancy.Employed) *organisation.Chart {
	return in.Organisation.Chart(organisation.DateOf(m.Now().In(tenancy.Zone())))
}

// unfit returns what the organisation of the day has against what a hand does in its own name on the gate with this id:
// it isn't there any more, or is no employee where a channel is asked. Of people whom a stage names the rule has said
// whether they may be none.
func (m Maker) unfit(of Subject, id string, in tenancy.Employed) circulation.Lack {
	if in.Organisation == nil {
		return ""
	}
	switch hand, here := m.chart(in).Person(in.Person); {
	case !here:
		return circulation.LackOrg
	case hand.Kind != organisation.Employee && askedMode(of, id) == circulation.ModeChannel:
		return circulation.LackEmployee
	}
	return ""
}

// belowAny reports whether a hand stands below anybody who asks for what a gate is about.
func belowAny(c *organisation.Chart, hand string, of Subject, g *aggregate.Gate, accounts *organisation.Accounts) bool {
	asks := slices.Clone(g.Askers)
	for _, user := range of.Askers() {
		asks = append(asks, circulation.Person{User: user})
	}
	return slices.ContainsFunc(asks, func(p circulation.Person) bool {
		if p.Person == "" {
			p.Person, _ = accounts.Number(p.User)
		}
		return p.Person != "" && c.Below(hand, p.Person)
	})
}
