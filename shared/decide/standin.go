package decide

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
)

// StandIns are the delegations by which somebody stands in for others at a time, those first that began first.
type StandIns struct {
	user string
	all  []circulation.StandIn
	at   time.Time
}

// StandInsOf reads by what somebody stands in for others now, with one query.
func StandInsOf(ctx context.Context, rows interface {
	StandIns(ctx context.Context, tenant, hand string) ([]circulation.StandIn, error)
}, tenant, user string, now time.Time) (x StandIns, err error) {
	x.user, x.at = user, now
	if x.all, err = rows.StandIns(ctx, tenant, user); err != nil {
		return x, fmt.Errorf("list for whom a person stands in: %w", err)
	}
	x.all = slices.DeleteFunc(x.all, func(s circulation.StandIn) bool { return !s.Counts(now) })
	sort.SliceStable(x.all, func(i, j int) bool { return x.all[i].Begins.Before(x.all[j].Begins) })
	return x, nil
}

// Owes returns for whom the person may stamp at a gate's present stage, and its number, as Gate.OwesFor does. askers
// are such beside the gate's.
func (x StandIns) Owes(g *aggregate.Gate, askers ...string) (principal string, stage int) {
	if g == nil || len(x.all) == 0 {
		return "", 0
	}
	return g.OwesFor(x.user, circulation.Beside(x.all, askers...), x.at)
}

// OnRoute reports whether the person stands in for somebody on a gate's route, as Gate.OnRoute says.
func (x StandIns) OnRoute(g *aggregate.Gate, askers ...string) bool {
	return slices.ContainsFunc(circulation.Beside(x.all, askers...), func(s circulation.StandIn) bool {
		return g.OnRoute(s.Principal.User, &s)
	})
}

// standIn completes an act of a hand that owes nothing at the present stage itself but stands in for somebody, and
// returns the row on which that depends. What the hand does once more it does for whom it did it before.
func standIn(g *circulation.Gate, st *circulation.State, act *circulation.Act, all []circulation.StandIn,
	at time.Time) []aggregate.Owned {
	if done := st.Again(act); done != nil {
		act.Principal, act.Found.Delegation = done.Principal, done.Found.Delegation
		return nil
	}
	by := st.StandsIn(g, act.Hand, all, at)
	if by == nil {
		return nil
	}
	act.Principal, act.Found.Delegation = by.Principal, &by.Delegation
	return []aggregate.Owned{{Partition: tenancy.DelegatePrefix, Key: by.Key, Rev: by.Rev}}
}

// StandIns reads the delegations by which somebody stands in for others, with one query, if only by them they can do
// something at the gate with this id: also for somebody who has left.
func (m Maker) StandIns(ctx context.Context, of Subject, id, user string) ([]circulation.StandIn, error) {
	g := of.Asked(id).Gate
	if g == nil || !g.NeedsStandIn(user) {
		return nil, nil
	}
	all, err := m.Store.StandIns(ctx, of.Ref().Tenant, user)
	if err != nil {
		return nil, fmt.Errorf("read the delegations of %s: %w", user, err)
	}
	return circulation.Beside(all, of.Askers()...), nil
}
