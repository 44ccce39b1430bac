package main

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

const (
	// mostReminded is how many people a sweep reminds; the next one goes on.
	mostReminded = 50
	// justAsked is for how long people aren't reminded of what they were asked: they have a message about it.
	justAsked = 4 * time.Hour
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
	left := mostReminded
	for was, err := range h.Reminders.DueReminders(ctx, h.Now()) {
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		case left <= 0 || !enough(ctx):
			return failed
		}
		told, err := h.remindTenant(ctx, was, left)
		left -= told
		if err != nil && !errors.Is(err, aggregate.ErrConflict) { // another sweep was faster
			n.failed.Add(1)
			slog.ErrorContext(ctx, "people are not reminded", "tenant", was.TenantID, "err", err)
		}
	}
	return failed
}

// remindTenant reminds at most so many of a tenant's people, in the order of their accounts, and notes how far that has
// come. A reminder is an aggregate whose id follows from its person and day, so sweeps that do the same at once, or
// once more after a crash, remind nobody twice. If it fails for another reason than the table's, it is put off.
func (h *Handler) remindTenant(ctx context.Context, was tenancy.Reminding, most int) (told int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	next, now := was, h.Now()
	defer func() {
		if err != nil && !unavailable(err) && !errors.Is(err, aggregate.ErrConflict) {
			later := was
			later.DueAt = now.Add(failedWait)
			if failed := h.Reminders.SaveReminding(ctx, later, was); !errors.Is(failed, aggregate.ErrConflict) {
				err = errors.Join(err, failed)
			}
		}
	}()
	defer boot.Recover(ctx, &err, "tenant", was.TenantID)
	settings, err := h.Reminders.Settings(ctx, was.TenantID)
	if err != nil {
		return 0, err
	}
	if next.Day, next.DueAt = settings.NextReminder(was.Day, now); next.Day != was.Day {
		next.After = ""
	}
	if next.DueAt.After(now) {
		return 0, h.Reminders.SaveReminding(ctx, next, was)
	}
	r := &reminding{Handler: h, tenant: was.TenantID, day: next.Day, settings: settings, now: now}
	some, err := r.find(ctx)
	if err != nil {
		return 0, err
	}
	if !some {
		return 0, h.Reminders.SaveReminding(ctx, tenancy.Reminding{TenantID: was.TenantID}, was)
	}
	users := slices.Sorted(maps.Keys(r.owed))
	users = slices.DeleteFunc(users, func(user string) bool { return user <= next.After })
	for some := range slices.Chunk(users[:min(len(users), most)], atOnce) {
		if deadline, _ := ctx.Deadline(); time.Until(deadline) < perTask/2 {
			break
		}
		if err := r.tell(ctx, some); err != nil {
			return told, err
		}
		told += len(some)
		next.After = some[len(some)-1]
	}
	if told == len(users) {
		next.After = ""
		next.Day, next.DueAt = settings.NextReminder(next.Day+1, now)
	}
	return told, h.Reminders.SaveReminding(ctx, next, was)
}
