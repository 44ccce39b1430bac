package decide

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
)

// standIn completes an act of a hand that owes nothing at the present stage itself but stands in for somebody, and
// returns the row on which that depends. What the hand does once more it does for whom it did it before.
func standIn(g *circulation.Gate, st *circulation.State, act *circulation.Act, all []circulation.StandIn,
	at time.Time) ([]aggregate.Owned, error) {
	if done := st.Again(g, act); done != nil {
		act.Principal, act.Found.Delegation = done.Principal, done.Found.Delegation
		return nil, nil
	}
	by := st.StandsIn(g, act.Hand, all, at)
	if by == nil || act.Kind == circulation.TakeBack {
		return nil, nil
	}
	if by.Lacks != "" {
		return nil, &circulation.Refusal{Why: circulation.WhyFound, Lacks: by.Lacks, Stage: st.Present,
			Name: st.Asked().Name, People: st.Owes(), For: by.Principal, Begins: by.Begins, Ends: by.Ends}
	}
	act.Principal, act.Found.Delegation = by.Principal, &by.Delegation
	return []aggregate.Owned{{Partition: tenancy.DelegatePrefix, Key: by.Key, Rev: by.Rev}}, nil
}

// standIns reads the delegations by which somebody stands in for others, with one query, if only by them they can do
// something on the gate with this id. Those whose principals have left the workspace, or are guests now, are left out.
func (m Maker) standIns(ctx context.Context, of Subject, id, user string) ([]circulation.StandIn, error) {
	_, g := ruled(of, id)
	if g == nil || !g.NeedsStandIn(user) || g.HandKey(user) == "" {
		return nil, nil
	}
	all, err := m.Store.StandIns(ctx, of.Ref().Tenant, g.HandKey(user))
	if err != nil {
		return nil, fmt.Errorf("read the delegations of %s: %w", user, err)
	}
	team, gone := of.Origin().Team, map[string]bool{}
	for _, s := range all {
		who := s.Principal.User
		if _, asked := gone[who]; asked || !s.Counts(m.Now()) || !g.OnRoute(who) {
			continue
		}
		by, err := m.People.Requester(ctx, team, who)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errorclass.ErrUnverified, err)
		}
		gone[who] = aggregate.Policy{Team: team}.Request(by) != nil
	}
	return slices.DeleteFunc(all, func(s circulation.StandIn) bool { return gone[s.Principal.User] }), nil
}
