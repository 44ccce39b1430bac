package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
	"slices"
	"sort"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

// reminding is one round of reminders in a tenant.
type reminding struct {
	*Handler
	tenant   string
	day      tenancy.Date
	settings tenancy.Settings
	now      time.Time
	standIns map[string][]circulation.StandIn // by the hand's account
	loaded   sync.Map                         // functions that read aggregates once, by ref

	mu   sync.Mutex
	owed map[string][]owing // by account, or by channel
}

// owing is a gate that waits for somebody.
type owing struct {
	ref   aggregate.Ref
	gate  aggregate.Question
	until *time.Time
	since time.Time
	as    string // for whom they stand in
	all   bool   // it waits for anybody of a channel
}

// find collects what waits for whom, judging by the index. It reports whether anything waits in the tenant.
func (r *reminding) find(ctx context.Context) (some bool, err error) {
	r.owed, r.standIns = map[string][]owing{}, map[string][]circulation.StandIn{}
	all, err := r.Reminders.Delegations(ctx, r.tenant)
	if err != nil {
		return false, fmt.Errorf("who stands in for whom: %w", err)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].From < all[j].From })
	for _, d := range all {
		if d.Counts(r.now) {
			r.standIns[d.Hand] = append(r.standIns[d.Hand], d.StandIn())
		}
	}
	for cursor := ""; ; {
		page, err := r.Reminders.Waiting(ctx, r.tenant, cursor, store.MaxPage)
		if err != nil {
			return false, fmt.Errorf("list what waits: %w", err)
		}
		var all errgroup.Group
		all.SetLimit(atOnce)
		for _, x := range page.Items {
			all.Go(func() error { return r.passed(ctx, r.add(ctx, x)) })
		}
		if err := all.Wait(); err != nil {
			return false, err
		}
		some = some || len(page.Items) > 0
		if cursor = page.Next; cursor == "" {
			return some, nil
		}
	}
}

// add notes for whom a gate waits: the people of a route's present stage who are there, or for whom nobody may stand in
// who was to, and those who stand in for them; or without a rule the approvers who got a copy. What is asked of a
// channel's members is noted for the channel.
func (r *reminding) add(ctx context.Context, x store.WaitingItem) (err error) {
	defer boot.Recover(ctx, &err, x.Ref.Log())
	g := aggregate.GateOf(x.Row)
	switch {
	case g == nil:
		return nil
	case g.Ruled():
		return r.addRuled(ctx, x, g)
	case g.AskedAt == nil:
		return nil
	}
	of := owing{ref: x.Ref, gate: x.Question, until: g.Terms.DecideBy, since: *g.AskedAt}
	if r.settings.Approvers.Mode != aggregate.ApproversList {
		return r.addShared(ctx, of)
	}
	a, err := r.load(ctx, x.Ref)
	if a == nil {
		return err
	}
	for _, c := range a.Common().CopiesOf(x.Key) {
		listed := len(r.settings.Approvers.Usergroups) > 0 || slices.Contains(r.settings.Approvers.Users, c.User)
		if listed {
			r.owe(c.User, of)
		}
	}
	return nil
}

func (r *reminding) addRuled(ctx context.Context, x store.WaitingItem, g *aggregate.Gate) error {
	st := circulation.Walk(g.Circulating())
	s := st.CurrentStage()
	if s == nil || s.OpenedAt == nil || g.Status != aggregate.PendingApproval {
		return nil
	}
	of := owing{ref: x.Ref, gate: x.Question, until: s.DecideBy, since: *s.OpenedAt}
	r.addOwed(g, &st, of)
	if s.Mode != circulation.ModeChannel {
		return nil
	}
	return r.addShared(ctx, of)
}

// addOwed notes that a stage waits for its people, and for those who may stand in for them.
func (r *reminding) addOwed(g *aggregate.Gate, st *circulation.State, of owing) {
	owes, c, instead := st.Owes(), g.Circulating(), map[string]bool{}
	var stood []circulation.StandIn
	for _, all := range r.standIns {
		if slices.ContainsFunc(all, func(s circulation.StandIn) bool { return slices.ContainsFunc(owes, s.Principal.Is) }) {
			stood = append(stood, st.StoodFor(&c, circulation.Beside(all, of.gate.Askers...))...)
		}
	}
	for _, p := range owes {
		r.owe(p.User, of)
	}
	for _, s := range stood {
		if of.as = s.Principal.User; !instead[s.Hand.User] {
			instead[s.Hand.User] = true
			r.owe(s.Hand.User, of)
		}
	}
}

// addShared notes that a gate waits for the members of the channel where it was asked for.
func (r *reminding) addShared(ctx context.Context, x owing) error {
	a, err := r.load(ctx, x.ref)
	of, is := a.(asking)
	if err != nil || !is || of.Origin().ChannelType == "im" {
		return err
	}
	x.all = true
	r.owe(of.Origin().Channel, x)
	return nil
}

func (r *reminding) owe(user string, x owing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.Sub(x.since) >= justAsked {
		r.owed[user] = append(r.owed[user], x)
	}
}

// passed returns an error that is the table's fault. What else is wrong with a gate or a person stops no other.
func (r *reminding) passed(ctx context.Context, err error) error {
	if err == nil || unavailable(err) {
		return err
	}
	slog.ErrorContext(ctx, "passed over", "tenant", r.tenant, "err", err)
	return nil
}

func (r *reminding) tell(ctx context.Context, users []string) error {
	var all errgroup.Group
	for _, user := range users {
		all.Go(func() error { return r.passed(ctx, r.tellOne(ctx, user)) })
	}
	return all.Wait()
}

func (r *reminding) tellOne(ctx context.Context, user string) (err error) {
	defer boot.Recover(ctx, &err, "tenant", r.tenant)
	owed := r.owed[user]
	slices.SortFunc(owed, func(a, b owing) int {
		return cmp.Or(a.end().Compare(b.end()), a.since.Compare(b.since), cmp.Compare(a.ref.ID, b.ref.ID))
	})
	var team string
	var told task.Reminded
	for _, x := range owed {
		if len(told.Items) < mostItems {
			item, of, err := r.item(ctx, user, x)
			if err != nil {
				return err
			}
			if of == "" {
				continue
			}
			team, told.Items = of, append(told.Items, item)
		}
		if told.N++; x.as != "" {
			told.As++
		}
	}
	if told.N == 0 {
		return nil
	}
	told.Shared = owed[0].all
	change, ref := task.Remind(r.tenant, team, user, r.day, told, r.now)
	if err := r.Reminders.Create(ctx, ref, change); err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("remind somebody: %w", err)
	}
	return nil
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
		st := circulation.Walk(g.Circulating())
		if stage = g.Owes(user); x.as != "" {
			_, stage = g.OwesFor(user, circulation.Beside(r.standIns[user], x.gate.Askers...), r.now)
		}
		s := st.CurrentStage()
		if stage == 0 && !(x.all && s != nil && s.Mode == circulation.ModeChannel) {
			return out, "", nil
		}
	}
	out = task.RemindedItem{Kind: x.ref.Kind, ID: x.ref.ID, Asker: a.Root().Common().Requester, Until: x.until,
		For: x.as}
	out.Title, out.Later = titled(a, x.gate.ID)
	if t, is := a.(*task.Aggregate); is {
		out.Amount = t.Head.Glance.Amount
	}
	out.Channel, out.TS, out.Thread = aggregate.MessageFor(of, x.gate.Key, user, stage, true)
	return out, of.Origin().Team, nil
}

// load reads an aggregate once in a round. It returns nil for one that is gone or can't be read for its own fault.
func (r *reminding) load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	read, _ := r.loaded.LoadOrStore(ref, sync.OnceValues(func() (a aggregate.Aggregate, err error) {
		defer boot.Recover(ctx, &err, ref.Log())
		return r.Store.Load(ctx, ref)
	}))
	a, err := read.(func() (aggregate.Aggregate, error))()
	switch {
	case err == nil:
		return a, nil
	case errors.Is(err, aggregate.ErrNotFound):
		return nil, nil
	}
	return nil, r.passed(ctx, fmt.Errorf("load %s: %w", ref, err))
}

// end returns when it is due; a long time from now, if it never is.
func (x owing) end() time.Time {
	if x.until == nil {
		return x.since.AddDate(100, 0, 0)
	}
	return *x.until
}

// mostItems is how much of what waits a message names, with at most maxTitle characters of a title.
const mostItems, maxTitle = 20, 80

// titled returns the title of a request and the version that the gate with this id is about, or what an agent's action
// is to do.
func titled(a aggregate.Aggregate, gate string) (title string, later int) {
	switch of := a.(type) {
	case *task.Aggregate:
		if of.Task != nil {
			return legible.First(of.Task.Title, maxTitle), of.CalledAt(gate)
		}
	case *conversation.Aggregate:
		if action := of.Action(gate); action != nil {
			return legible.First(action.Summary, maxTitle), 0
		}
	case *call.Aggregate:
		return legible.First(of.Call.Tool, maxTitle), 0
	}
	return "", 0
}
