package decide

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

const (
	// mostFound is how many gates are collected for a person, oldest first: more than Slack can show.
	mostFound = 50
	// mostListed and lookFor bound how many of a workspace's gates are searched for one person, and for how long.
	mostListed, lookFor = 1000, time.Second
)

// waiting returns the gates that wait for a person's decision, the oldest first: those at which they owe a stamp by
// name, wherever those were asked for, then those that they may decide as somebody of the place. It also returns how
// many of the oldest gates were searched; 0: all.
func (l *look) waiting(ctx context.Context) (out []InboxItem, looked int, err error) {
	if l.settings.Ruled {
		if out, looked, err = l.named(ctx); err != nil || looked > 0 {
			return out, looked, err
		}
	}
	return l.search(ctx, out, l.page, func(cursor string) (store.Page[store.WaitingItem], error) {
		return l.Store.Waiting(ctx, l.tenant, cursor, store.MaxPage)
	})
}

// named returns the gates at which the person, or whom they stand in for, owes a stamp by name. It takes a query, and
// another one for delegations, which find nothing for a tenant that never had rules.
func (l *look) named(ctx context.Context) (out []InboxItem, looked int, err error) {
	owing := func(user string) error {
		out, looked, err = l.search(ctx, out, l.owed, func(cursor string) (store.Page[store.WaitingItem], error) {
			return l.Store.Owed(ctx, l.tenant, user, cursor, store.MaxPage)
		})
		return err
	}
	if err := owing(l.user); err != nil || looked > 0 {
		return out, looked, err
	}
	if l.standIns, err = StandInsOf(ctx, l.Store, l.tenant, l.user, l.Now()); err != nil {
		return nil, 0, err
	}
	for _, principal := range l.standIns.Principals() {
		if err := owing(principal); err != nil || looked > 0 {
			return out, looked, err
		}
	}
	return out, 0, nil
}

// search adds those gates of a list that found keeps, until enough are found. looked is how many rows were checked; 0:
// all.
func (l *look) search(
	ctx context.Context, out []InboxItem, found func(context.Context, []store.WaitingItem, int) ([]InboxItem, int, error),
	list func(cursor string) (store.Page[store.WaitingItem], error),
) (_ []InboxItem, looked int, err error) {
	for cursor := ""; ; {
		page, err := list(cursor)
		if err != nil {
			return nil, 0, fmt.Errorf("list what waits: %w", err)
		}
		items, n, err := found(ctx, page.Items, mostFound-len(out))
		if err != nil {
			return nil, 0, err
		}
		out, looked, cursor = append(out, items...), looked+n, page.Next
		switch {
		case n == len(page.Items) && cursor == "":
			return out, 0, nil
		case len(out) >= mostFound, looked >= mostListed, !l.Now().Before(l.until):
			return out, max(looked, len(out)), nil
		}
	}
}

// look is a search for the gates that one person may decide.
type look struct {
	InboxReader
	tenant, team, user string
	settings           tenancy.Settings
	who                *people.People
	until              time.Time
	known              map[store.Place]bool // gates at which the person owes a stamp, which were found
	standIns           StandIns
}

func (r InboxReader) look(tenant, team, user string, s tenancy.Settings) *look {
	return &look{InboxReader: r, tenant: tenant, user: user, team: team, settings: s, until: r.Now().Add(lookFor),
		who: &people.People{Slack: people.Once(r.Slack), Now: r.Now}, known: map[store.Place]bool{}}
}

// owed returns the gates on a page at which the person, or whom they stand in for, owes a stamp by their rows as
// loaded, at most most, and how many rows it has checked.
func (l *look) owed(ctx context.Context, items []store.WaitingItem, most int) (out []InboxItem, looked int, err error) {
	for looked < len(items) && len(out) < most {
		some := items[looked:min(len(items), looked+most-len(out))]
		for _, x := range l.open(ctx, some) {
			if at := (store.Place{Ref: x.Of.Ref(), Key: x.Key}); x.Stage > 0 && !l.known[at] {
				out = append(out, x)
				l.known[at] = true
			}
		}
		looked += len(some)
	}
	return out, looked, nil
}

// page returns the gates on a page that the person may approve, and how many rows it has checked, at most most. It
// loads only subjects that the person may decide judging by where they were asked for.
func (l *look) page(ctx context.Context, items []store.WaitingItem, most int) (out []InboxItem, looked int, err error) {
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
			decides, err := l.approves(ctx, x)
			if err != nil {
				return nil, 0, err
			}
			if decides {
				out = append(out, x)
			}
		}
	}
	return out, looked, nil
}

// actor returns the person as Slack knows them where something was asked for, and the policy there.
func (l *look) actor(ctx context.Context, o aggregate.Origin) (aggregate.Actor, aggregate.Policy, error) {
	return l.who.Who(ctx, people.Want{User: l.user, Team: l.team}, o, l.settings)
}

// decides reports whether the person may approve a row, judging by its route. The aggregate may still refuse. What they
// are known to owe is left out.
func (l *look) decides(ctx context.Context, x store.WaitingItem, o aggregate.Origin) (bool, error) {
	if o.Team == "" || l.known[store.Place{Ref: x.Ref, Key: x.Key}] {
		return false, nil
	}
	g := aggregate.GateOf(x.Row)
	if g == nil {
		return false, nil
	}
	return l.along(ctx, g, o, nil)
}

// along reports whether the present stage of a gate waits for the person.
func (l *look) along(ctx context.Context, g *aggregate.Gate, o aggregate.Origin, askers []string) (bool, error) {
	if g.Owes(l.user) > 0 {
		return true, nil
	}
	if _, stage := l.standIns.Owes(g, askers...); stage > 0 {
		return true, nil
	}
	by, policy, err := l.actor(ctx, o)
	return err == nil && g.WaitsFor(by, policy), err
}

// approves reports whether the person may approve a gate by its subject as loaded.
func (l *look) approves(ctx context.Context, x InboxItem) (bool, error) {
	g := x.gate()
	if g == nil {
		return false, nil
	}
	return l.along(ctx, g, x.Of.Origin(), x.Of.Askers())
}

// open returns the gates that still wait by their rows, without those that can't be read.
func (l *look) open(ctx context.Context, items []store.WaitingItem) (out []InboxItem) {
	refs := make([]aggregate.Ref, len(items))
	for i, x := range items {
		refs[i] = x.Ref
	}
	for i, of := range l.load(ctx, refs) {
		if q := items[i].Question; of != nil && of.IsOpen(q.ID) {
			x := InboxItem{Of: of, Question: q}
			if g := x.gate(); g != nil {
				if x.Stage = g.Owes(l.user); x.Stage == 0 {
					x.For, x.Stage = l.standIns.Owes(g, of.Askers()...)
				}
			}
			out = append(out, x)
		}
	}
	return out
}
