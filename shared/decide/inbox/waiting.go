package inbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

const (
	// mostFound is how many gates are collected for a person, oldest first: more than Slack can show.
	mostFound = 50
	// mostLooked and lookFor bound how many of a workspace's gates are searched for one person, and for how long:
	// /ringi must be answered within Slack's 3 s.
	mostLooked, lookFor = 1000, time.Second
)

// waiting returns the gates that wait for a person's decision, oldest first, and how many of the workspace's gates were
// searched; 0: all.
func (r Reader) waiting(ctx context.Context, tenant, team, user string, s tenancy.Settings) (out []Item, looked int, err error) {
	l := look{Reader: r, tenant: tenant, user: user, team: team, settings: s, who: &people.People{Slack: people.Once(r.Slack), Now: r.Now}}
	until := r.Now().Add(lookFor)
	for cursor := ""; ; {
		page, err := r.Store.Waiting(ctx, tenant, cursor, store.MaxPage)
		if err != nil {
			return nil, 0, fmt.Errorf("list what waits: %w", err)
		}
		found, n, err := l.page(ctx, page.Items, mostFound-len(out))
		if err != nil {
			return nil, 0, err
		}
		out, looked, cursor = append(out, found...), looked+n, page.Next
		switch {
		case n == len(page.Items) && cursor == "":
			return out, 0, nil
		case len(out) >= mostFound, looked >= mostLooked, !r.Now().Before(until):
			return out, looked, nil
		}
	}
}

// look is a search for the gates that one person may decide.
type look struct {
	Reader
	tenant, team, user string
	settings           tenancy.Settings
	who                *people.People
}

// page returns the gates on a page that the person may approve, and how many rows it has checked, at most most. It
// loads only subjects that the person may decide judging by where they were asked for.
func (l look) page(ctx context.Context, items []store.WaitingItem, most int) (out []Item, looked int, err error) {
	refs := make([]aggregate.Ref, len(items))
	for i, x := range items {
		refs[i] = x.Ref
	}
	origins, err := l.Rows.Origins(ctx, refs)
	if err != nil {
		return nil, 0, fmt.Errorf("read where what waits was asked for: %w", err)
	}
	for looked < len(items) && len(out) < most {
		var may []store.WaitingItem
		for ; looked < len(items) && len(may) < most-len(out); looked++ {
			x := items[looked]
			decides, err := l.decides(ctx, x, origins[x.Ref])
			if err != nil {
				return nil, 0, err
			}
			if decides {
				may = append(may, x)
			}
		}
		for _, x := range l.open(ctx, may) {
			by, policy, err := l.actor(ctx, x.Of.Origin())
			if err != nil {
				return nil, 0, err
			}
			if decide.Approves(x.Of, x.ID, by, policy, l.Now()) {
				out = append(out, x)
			}
		}
	}
	return out, looked, nil
}

// actor returns the person as Slack knows them where something was asked for, and the policy there.
func (l look) actor(ctx context.Context, o aggregate.Origin) (aggregate.Actor, aggregate.Policy, error) {
	return l.who.Who(ctx, people.Want{User: l.user, Team: l.team}, o, l.settings)
}

// decides reports whether the person may approve a row, judging by who asked. The aggregate may still refuse.
func (l look) decides(ctx context.Context, x store.WaitingItem, o aggregate.Origin) (bool, error) {
	if x.OfAuthor || o.Team == "" {
		return false, nil
	}
	askers := x.Askers
	if len(askers) == 0 {
		askers = []string{o.User}
	}
	by, policy, err := l.actor(ctx, o)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(askers, func(asker string) bool { return policy.Approve(by, asker) != nil }), nil
}

// open returns the gates that still wait by their rows, without those that can't be read.
func (l look) open(ctx context.Context, items []store.WaitingItem) (out []Item) {
	refs := make([]aggregate.Ref, len(items))
	for i, x := range items {
		refs[i] = x.Ref
	}
	for i, of := range l.load(ctx, refs) {
		if q := items[i].Question; of != nil && of.IsOpen(q.ID) {
			out = append(out, Item{of, q})
		}
	}
	return out
}
