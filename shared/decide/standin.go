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
	user  string
	all   []circulation.StandIn
	staff tenancy.Staff
	at    time.Time
}

// StaffReader reads who is employed in a tenant at a time.
type StaffReader func(ctx context.Context, tenant string, at time.Time) (tenancy.Staff, error)

// StandInsOf reads by what somebody stands in for others now: with one query, and the organisation if they do.
func StandInsOf(ctx context.Context, rows interface {
	StandInsBy(ctx context.Context, tenant, account string) ([]circulation.StandIn, error)
}, staff StaffReader, tenant, user string, now time.Time) (x StandIns, err error) {
	x.user, x.at = user, now
	if x.all, err = rows.StandInsBy(ctx, tenant, user); err != nil {
		return x, fmt.Errorf("list for whom a person stands in: %w", err)
	}
	x.all = slices.DeleteFunc(x.all, func(s circulation.StandIn) bool { return !s.Counts(now) })
	sort.SliceStable(x.all, func(i, j int) bool { return x.all[i].Begins.Before(x.all[j].Begins) })
	if len(x.all) > 0 {
		if x.staff, err = staff(ctx, tenant, now); err != nil {
			return x, fmt.Errorf("read who is employed: %w", err)
		}
	}
	return x, nil
}

// Principals returns the accounts for whom the person stands in.
func (x StandIns) Principals() (accounts []string) {
	for _, s := range x.all {
		if !slices.Contains(accounts, s.Principal.User) && len(accounts) < tenancy.MaxDelegations {
			accounts = append(accounts, s.Principal.User)
		}
	}
	return accounts
}

// Owes returns for whom the person may stamp at a gate's present stage, and its number, as Gate.OwesFor does. askers
// are such beside the gate's.
func (x StandIns) Owes(g *aggregate.Gate, askers ...string) (principal string, stage int) {
	if g == nil || len(x.all) == 0 {
		return "", 0
	}
	return g.OwesFor(x.user, x.staff.Fit(g, x.user, x.all, askers...), x.at)
}

// OnRoute reports whether the person stands in for somebody on a gate's route, as Gate.OnRoute says.
func (x StandIns) OnRoute(g *aggregate.Gate, askers ...string) bool {
	return slices.ContainsFunc(x.staff.Fit(g, x.user, x.all, askers...), func(s circulation.StandIn) bool {
		return g.OnRoute(s.Principal.User, &s)
	})
}
