package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const (
	// justAsked is for how long people aren't reminded of what they were asked: they have a message about it.
	justAsked = 4 * time.Hour
	// mostItems is how much of what waits a message names, with at most maxTitle characters of a title.
	mostItems, maxTitle = 20, 80
)

// Reminders are the rows by which people are reminded of what waits for them, and what these depend on.
type Reminders interface {
	DueReminders(ctx context.Context, at time.Time) iter.Seq2[tenancy.Reminding, error]
	SaveReminding(ctx context.Context, next, was tenancy.Reminding) error
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Waiting(ctx context.Context, tenant, cursor string, limit int) (store.Page[store.WaitingItem], error)
	Delegations(ctx context.Context, tenant string) ([]tenancy.Delegation, error)
	Create(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error
}

// asking is a subject that may wait for people.
type asking interface {
	aggregate.Placed
	Asks() (q aggregate.Question, waits bool)
	GateAt(key string) *aggregate.Gate
}

// beginReminding sees to it that a tenant has a row by which people are reminded, since a waits for people. A sweep
// tries that once for each tenant; if it fails, it is due again with a.
func (h *Handler) beginReminding(ctx context.Context, a aggregate.Aggregate) error {
	x, is := a.(asking)
	if !is {
		return nil
	}
	tenant := a.Ref().Tenant
	if _, waits := x.Asks(); !waits {
		return nil
	}
	if _, begun := h.begun.LoadOrStore(tenant, true); begun {
		return nil
	}
	err := h.Reminders.SaveReminding(ctx, tenancy.Reminding{TenantID: tenant, DueAt: h.Now()}, tenancy.Reminding{})
	if errors.Is(err, aggregate.ErrConflict) { // there is one
		return nil
	}
	return err
}

// remindAll reminds people of what waits for them, in each tenant whose time has come. What has no time or fails is
// done by the next sweep, and delays no other tenant for long.
func (h *Handler) remindAll(ctx context.Context, n *count) (failed error) {
	for was, err := range h.Reminders.DueReminders(ctx, h.Now()) {
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		case !enough(ctx):
			return failed
		}
		next, err := h.remindTenant(ctx, was)
		if err == nil || !unavailable(err) { // else the next sweep tries again
			if err != nil {
				next = was
				next.DueAt = h.Now().Add(failedWait)
			}
			err = errors.Join(err, h.Reminders.SaveReminding(ctx, next, was))
		}
		if err != nil && !errors.Is(err, aggregate.ErrConflict) { // another sweep was faster
			n.failed.Add(1)
			slog.ErrorContext(ctx, "people are not reminded", "tenant", was.TenantID, "err", err)
		}
	}
	return failed
}

// remindTenant reminds a tenant's people, unless only somebody has left, has people looked up again for what waits, and
// returns when that is to be done next. A reminder is an aggregate whose id follows from its person and day, so sweeps
// that do the same at once, or once more after a crash, remind nobody twice.
func (h *Handler) remindTenant(ctx context.Context, was tenancy.Reminding) (next tenancy.Reminding, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, "tenant", was.TenantID)
	next = was
	next.LookAgain = false
	settings, err := h.Reminders.Settings(ctx, was.TenantID)
	if err != nil {
		return next, err
	}
	now := h.Now()
	next.Day, next.DueAt = settings.NextReminder(was.Day, now)
	reminds := !next.DueAt.After(now)
	if !reminds && !was.LookAgain && (next.Day != 0 || was.Rev == 1) {
		return next, nil
	}
	r := &reminding{Handler: h, tenant: was.TenantID, settings: settings, now: now,
		standIns: map[string][]circulation.StandIn{}, owed: map[string][]owing{}}
	some, err := r.find(ctx)
	if err != nil {
		return next, err
	}
	if was.LookAgain || reminds {
		for _, status := range []task.Status{task.StatusDrafting, task.StatusReturned} {
			found, failed := r.unasked(ctx, status)
			some, err = some || found, errors.Join(err, failed)
		}
	}
	switch {
	case err != nil && !reminds:
		return next, err
	case !some && err == nil:
		return tenancy.Reminding{TenantID: was.TenantID}, nil
	case !reminds:
		return next, nil
	}
	var all errgroup.Group
	all.SetLimit(atOnce)
	for user, owed := range r.owed {
		all.Go(func() error { return r.passed(ctx, r.tell(ctx, user, next.Day, owed)) })
	}
	if err := errors.Join(err, all.Wait()); err != nil {
		return next, err
	}
	next.Day, next.DueAt = settings.NextReminder(next.Day+1, now)
	return next, nil
}

// reminding is one round of reminders in a tenant.
type reminding struct {
	*Handler
	tenant   string
	settings tenancy.Settings
	now      time.Time
	standIns map[string][]circulation.StandIn // by the hand's account

	mu   sync.Mutex
	owed map[string][]owing // by account, or by channel
}

// owing is a gate that waits for somebody.
type owing struct {
	task.RemindedItem
	team  string
	since time.Time
	all   bool // it waits for anybody of a channel
}

// find collects what waits for whom. It reports whether anything waits in the tenant.
func (r *reminding) find(ctx context.Context) (some bool, err error) {
	given, err := r.Reminders.Delegations(ctx, r.tenant)
	if err != nil {
		return false, fmt.Errorf("who stands in for whom: %w", err)
	}
	for _, d := range given {
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

// unasked has people looked up again for each request of a status that waits for no approver, if there is any.
func (r *reminding) unasked(ctx context.Context, status task.Status) (some bool, err error) {
	for cursor := ""; ; {
		page, err := r.Tasks.Search(ctx, r.tenant, task.Filter{Status: status}, cursor, store.MaxPage, 0, nil)
		if err != nil {
			return some, fmt.Errorf("list what is %s: %w", status, err)
		}
		var all errgroup.Group
		all.SetLimit(atOnce)
		for _, x := range page.Items {
			all.Go(func() error { return r.passed(ctx, r.lookAgain(ctx, task.RefOf(r.tenant, x.ID))) })
		}
		if err := all.Wait(); err != nil {
			return some, err
		}
		some = some || len(page.Items) > 0
		if cursor = page.Next; cursor == "" {
			return some, nil
		}
	}
}

func (r *reminding) lookAgain(ctx context.Context, of aggregate.Ref) (err error) {
	defer boot.Recover(ctx, &err, of.Log())
	_, err = r.Store.Decide(ctx, of, aggregate.At(r.now, (*task.Aggregate).LookAgain))
	if err != nil {
		return fmt.Errorf("have people looked up again: %w", err)
	}
	return nil
}

// add has a gate's people looked up again, and notes for whom it waits, by its rows: the people of its route's present
// stage and those who stand in for them, the listed approvers who were asked, or a channel's members, for the channel.
func (r *reminding) add(ctx context.Context, x store.WaitingItem) (err error) {
	defer boot.Recover(ctx, &err, x.Ref.Log())
	a, err := r.Store.Load(ctx, x.Ref)
	of, is := a.(asking)
	if err != nil || !is {
		if errors.Is(err, aggregate.ErrNotFound) {
			err = nil
		}
		return err
	}
	if t, is := a.(*task.Aggregate); is && t.WaitingTerms() != nil {
		if err := r.lookAgain(ctx, x.Ref); err != nil {
			return err
		}
	}
	g := of.GateAt(x.Key)
	if g == nil || g.Status != aggregate.PendingApproval || g.AskedAt == nil {
		return nil
	}
	c := g.Circulating()
	st := circulation.Walk(c)
	s := st.CurrentStage()
	if s == nil {
		return nil
	}
	item := owing{RemindedItem: task.RemindedItem{Kind: x.Ref.Kind, ID: x.Ref.ID, Asker: a.Root().Common().Requester,
		Until: cmp.Or(s.DecideBy, g.Terms.DecideBy)}, team: of.Origin().Team, since: *cmp.Or(s.OpenedAt, g.AskedAt)}
	item.Title, item.Later = titled(a, x.ID)
	if t, is := a.(*task.Aggregate); is {
		item.Amount = t.Head.Glance.Amount
	}
	if r.now.Sub(item.since) < justAsked {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	owe := func(user, standsFor string, stage int) {
		mine := item
		mine.For, mine.all = standsFor, user == of.Origin().Channel
		mine.Channel, mine.TS, mine.Thread = aggregate.MessageFor(of, x.Key, user, stage, true)
		r.owed[user] = append(r.owed[user], mine)
	}
	switch {
	case s.Mode == circulation.ModePeople:
		for _, p := range st.Owes() {
			owe(p.User, "", st.Present)
		}
		for hand, all := range r.standIns {
			if stood := st.StoodFor(&c, circulation.Beside(all, x.Askers...)); len(stood) > 0 {
				owe(hand, stood[0].Principal.User, st.Present)
			}
		}
	case s.Mode == circulation.ModeSettings && r.settings.Approvers.Mode == aggregate.ApproversList:
		for _, card := range a.Common().CopiesOf(x.Key) {
			if len(r.settings.Approvers.Usergroups) > 0 || slices.Contains(r.settings.Approvers.Users, card.User) {
				owe(card.User, "", 0)
			}
		}
	case of.Origin().ChannelType != "im":
		owe(of.Origin().Channel, "", 0)
	}
	return nil
}

// passed returns an error that is the table's fault. What else is wrong with a gate or a person stops no other.
func (r *reminding) passed(ctx context.Context, err error) error {
	if err == nil || unavailable(err) {
		return err
	}
	slog.ErrorContext(ctx, "passed over", "tenant", r.tenant, "err", err)
	return nil
}

// tell reminds somebody, what is due first at the top.
func (r *reminding) tell(ctx context.Context, user string, day tenancy.Date, owed []owing) (err error) {
	defer boot.Recover(ctx, &err, "tenant", r.tenant)
	slices.SortFunc(owed, func(a, b owing) int {
		return cmp.Or(a.end().Compare(b.end()), a.since.Compare(b.since), cmp.Compare(a.ID, b.ID))
	})
	told := task.Reminded{N: len(owed), Shared: owed[0].all}
	for i, x := range owed {
		if i < mostItems {
			told.Items = append(told.Items, x.RemindedItem)
		}
		if x.For != "" {
			told.As++
		}
	}
	change, ref := task.Remind(r.tenant, owed[0].team, user, day, told, r.now)
	if err := r.Reminders.Create(ctx, ref, change); err != nil && !errors.Is(err, aggregate.ErrExists) {
		return fmt.Errorf("remind somebody: %w", err)
	}
	return nil
}

// end returns when it is due; a long time from now, if it never is.
func (x owing) end() time.Time {
	if x.Until == nil {
		return x.since.AddDate(100, 0, 0)
	}
	return *x.Until
}

// titled returns the title of a request and the version that the gate with this id is about, or what an agent's action
// is to do.
func titled(a aggregate.Aggregate, gate string) (title string, later int) {
	switch of := a.(type) {
	case *task.Aggregate:
		if of.Task != nil {
			return language.First(of.Task.Title, maxTitle), of.CalledAt(gate)
		}
	case *conversation.Aggregate:
		if action := of.Action(gate); action != nil {
			return language.First(action.Summary, maxTitle), 0
		}
	case *call.Aggregate:
		return language.First(of.Call.Tool, maxTitle), 0
	}
	return "", 0
}
