package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

// reminding is one round of reminders in a tenant.
type reminding struct {
	*Handler
	tenant   string
	day      organisation.Date
	settings tenancy.Settings
	now      time.Time
	standIns map[string][]circulation.StandIn // by the hand's account; nil: not read
	owed     map[string][]owing               // by account
	loaded   sync.Map                         // functions that read aggregates once, by ref
}

// owing is a gate that waits for somebody.
type owing struct {
	ref   aggregate.Ref
	gate  aggregate.Question
	until *time.Time
	since time.Time
	as    string // for whom they stand in
}

// find collects what waits for whom, judging by the index. It reports whether anything waits in the tenant.
func (r *reminding) find(ctx context.Context) (some bool, err error) {
	r.owed = map[string][]owing{}
	for cursor := ""; ; {
		page, err := r.Reminders.Waiting(ctx, r.tenant, cursor, store.MaxPage)
		if err != nil {
			return false, fmt.Errorf("list what waits: %w", err)
		}
		some = some || len(page.Items) > 0
		if err := r.add(ctx, page.Items); err != nil {
			return false, err
		}
		if cursor = page.Next; cursor == "" {
			return some, nil
		}
	}
}

// readStandIns reads once who stands in for others now.
func (r *reminding) readStandIns(ctx context.Context) error {
	if r.standIns != nil {
		return nil
	}
	all, err := r.Reminders.Delegations(ctx, r.tenant)
	if err != nil {
		return fmt.Errorf("who stands in for whom: %w", err)
	}
	r.standIns = map[string][]circulation.StandIn{}
	for _, d := range all {
		if d.Counts(r.now) {
			r.standIns[d.Hand.User] = append(r.standIns[d.Hand.User], d.StandIn())
		}
	}
	return nil
}

// add notes for whom the gates of a page wait: the people of a route's present stage and those who stand in for them,
// or without a rule the approvers who got a copy. A stage that asks a channel's members names nobody.
func (r *reminding) add(ctx context.Context, items []store.WaitingItem) error {
	var settings []store.WaitingItem
	for _, x := range items {
		switch g := aggregate.GateOf(x.Row); {
		case x.OfAuthor || g == nil:
		case !g.Ruled():
			settings = append(settings, x)
		default:
			if err := r.readStandIns(ctx); err != nil {
				return err
			}
			r.addRuled(x, g)
		}
	}
	if r.settings.Approvers.Mode != aggregate.ApproversList || r.settings.ApprovalCopies == tenancy.CopiesNone {
		return nil
	}
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, x := range settings {
		all.Go(func() error { _, err := r.load(ctx, x.Ref); return err })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	for _, x := range settings {
		a, _ := r.load(ctx, x.Ref)
		g := aggregate.GateOf(x.Row)
		if a == nil || g.AskedAt == nil {
			continue
		}
		for _, c := range a.Common().CopiesOf(x.Key) {
			listed := len(r.settings.Approvers.Usergroups) > 0 || slices.Contains(r.settings.Approvers.Users, c.User)
			if listed && !c.AtHome() {
				r.owe(c.User, owing{x.Ref, x.Question, g.Terms.DecideBy, *g.AskedAt, ""})
			}
		}
	}
	return nil
}

func (r *reminding) addRuled(x store.WaitingItem, g *aggregate.Gate) {
	st := circulation.Walk(g.Circulating())
	s, owes := st.CurrentStage(), st.Owes()
	if s == nil || s.OpenedAt == nil || g.Status != aggregate.PendingApproval {
		return
	}
	of := owing{x.Ref, x.Question, s.DecideBy, *s.OpenedAt, ""}
	for _, p := range owes {
		r.owe(p.User, of)
	}
	for hand, all := range r.standIns {
		stands := func(s circulation.StandIn) bool { return slices.ContainsFunc(owes, s.Principal.Is) }
		if !slices.ContainsFunc(all, stands) {
			continue
		}
		if as, stage := g.OwesFor(hand, all, r.now); stage > 0 {
			of.as = as
			r.owe(hand, of)
		}
	}
}

func (r *reminding) owe(user string, x owing) {
	if r.now.Sub(x.since) >= justAsked {
		r.owed[user] = append(r.owed[user], x)
	}
}

// tell reminds people. What is the table's fault is an error; somebody who can't be reminded otherwise is passed over.
func (r *reminding) tell(ctx context.Context, users []string) error {
	var all errgroup.Group
	for _, user := range users {
		all.Go(func() error {
			err := r.tellOne(ctx, user)
			if err != nil && !unavailable(err) {
				slog.ErrorContext(ctx, "somebody is not reminded", "tenant", r.tenant, "err", err)
				return nil
			}
			return err
		})
	}
	return all.Wait()
}

func (r *reminding) tellOne(ctx context.Context, user string) (err error) {
	defer boot.Recover(ctx, &err, "tenant", r.tenant)
	owed := r.owed[user]
	slices.SortStableFunc(owed, func(a, b owing) int {
		return cmp.Or(dueFirst(a.until, b.until), a.since.Compare(b.since))
	})
	team, told := "", task.Reminded{N: len(owed)}
	for _, x := range owed {
		if x.as != "" {
			told.As++
		}
	}
	for i := 0; i < len(owed) && len(told.Items) < mostItems; i++ {
		item, of, err := r.item(ctx, user, owed[i])
		switch {
		case err != nil:
			return err
		case of != "":
			team, told.Items = of, append(told.Items, item)
			continue
		case owed[i].as != "":
			told.As--
		}
		told.N--
	}
	if len(told.Items) == 0 {
		return nil
	}
	change, ref := task.Remind(r.tenant, team, user, r.day, told, r.now)
	if err := r.Reminders.Create(ctx, ref, change); err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("remind somebody: %w", err)
	}
	return nil
}

// dueFirst orders times, those without an end last.
func dueFirst(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(*b)
}

// item says what waits for somebody, and in which workspace; "": it doesn't any more, since the index may be late.
func (r *reminding) item(ctx context.Context, user string, x owing) (out task.RemindedItem, team string, err error) {
	a, err := r.load(ctx, x.ref)
	of, is := a.(asking)
	if err != nil || !is {
		return out, "", err
	}
	g, stage := of.GateAt(x.gate.Key), 0
	if g == nil || g.Status != aggregate.PendingApproval {
		return out, "", nil
	}
	if g.Ruled() {
		if stage = g.Owes(user); x.as != "" {
			_, stage = g.OwesFor(user, r.standIns[user], r.now)
		}
		if stage == 0 {
			return out, "", nil
		}
	}
	out = task.RemindedItem{Kind: x.ref.Kind, ID: x.ref.ID, Asker: a.Root().Common().Requester, Until: x.until, For: x.as}
	out.Title, out.Later = titled(a, x.gate.ID)
	if t, is := a.(*task.Aggregate); is {
		out.Amount = t.Head.Glance.Amount
	}
	out.Channel, out.TS, out.Thread = aggregate.MessageFor(of, x.gate.Key, user, stage, true)
	return out, of.Origin().Team, nil
}

// load reads an aggregate once in a round. It returns nil for one that is gone or can't be read for its own fault.
func (r *reminding) load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	read, _ := r.loaded.LoadOrStore(ref, sync.OnceValues(func() (aggregate.Aggregate, error) {
		a, err := r.Store.Load(ctx, ref)
		switch {
		case unavailable(err):
			return nil, fmt.Errorf("load what waits: %w", err)
		case err != nil:
			if !errors.Is(err, aggregate.ErrNotFound) {
				slog.ErrorContext(ctx, "nobody is reminded of what can't be read", ref.Log(), "err", err)
			}
			return nil, nil
		}
		return a, nil
	}))
	return read.(func() (aggregate.Aggregate, error))()
}
