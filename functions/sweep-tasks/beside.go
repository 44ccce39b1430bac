package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

const (
	// mostItems is how much of what was done a message names, with at most maxTitle characters of a title.
	mostItems, maxTitle = 20, 80
	// stillSaved is how long what was decided within a delegation's days may take to be saved.
	stillSaved = 30 * time.Second
)

// Delegations are rows by which people stand in for others.
type Delegations interface {
	DueDelegations(ctx context.Context, at time.Time) iter.Seq2[tenancy.Delegation, error]
	Stood(ctx context.Context, d tenancy.Delegation) ([]tenancy.Stood, error)
	BeginDelegation(ctx context.Context, d tenancy.Delegation) error
	ListDelegation(ctx context.Context, d tenancy.Delegation, now time.Time, told *store.Notice) error
}

// standIns has the cards that wait drawn again for those who stand in from now on, and tells principals of delegations
// that are over what was done for them, in one direct message each; nobody is told that nothing was done. What has no
// time or fails is done by the next sweep, and delays no other.
func (h *Handler) standIns(ctx context.Context, n *count) (failed error) {
	var all errgroup.Group
	all.SetLimit(atOnce)
	defer func() { _ = all.Wait() }()
	for d, err := range h.Delegations.DueDelegations(ctx, h.Now().Add(-stillSaved)) {
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		case !enough(ctx):
			return failed
		}
		all.Go(func() error {
			err := h.standIn(ctx, d)
			if err != nil && !errors.Is(err, aggregate.ErrConflict) { // another sweep was faster, or it was set anew
				n.failed.Add(1)
				slog.ErrorContext(ctx, "a delegation is not begun, or its principal not told what was done", "tenant", d.TenantID, "err", err)
			}
			return nil
		})
	}
	return failed
}

func (h *Handler) standIn(ctx context.Context, d tenancy.Delegation) (err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, "tenant", d.TenantID)
	if d.Comes() {
		return h.Delegations.BeginDelegation(ctx, d)
	}
	done, err := h.Delegations.Stood(ctx, d)
	if err != nil {
		return err
	}
	if len(done) == 0 {
		return h.Delegations.ListDelegation(ctx, d, h.Now(), nil)
	}
	told := task.StoodTold{Hand: d.Hand.User, From: d.From.String(), Until: d.Until.String(), N: len(done)}
	for _, x := range done[:min(len(done), mostItems)] {
		item := task.StoodItem{Kind: x.Kind, ID: x.ID, Did: x.Did, At: x.DoneAt}
		if err := h.title(ctx, d.TenantID, x.Gate, &item); err != nil {
			return err
		}
		told.Items = append(told.Items, item)
	}
	change, ref := task.TellStood(d, told, h.Now())
	return h.Delegations.ListDelegation(ctx, d, h.Now(), &store.Notice{Ref: ref, Change: change})
}

// title says the title of a request and the version that the gate was about, or what an agent's action was to do;
// nothing if that is gone or can't be read.
func (h *Handler) title(ctx context.Context, tenant, gate string, x *task.StoodItem) error {
	ref := store.RefOf(tenant, x.ID)
	a, err := h.Store.Load(ctx, ref)
	switch {
	case unavailable(err):
		return fmt.Errorf("load what was done for somebody: %w", err)
	case err != nil:
		if !errors.Is(err, aggregate.ErrNotFound) {
			slog.ErrorContext(ctx, "what was done for somebody has no title", ref.Log(), "err", err)
		}
		return nil
	}
	x.Title, x.Later = titled(a, gate)
	return nil
}

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

// erasedAtOnce is how many aggregates are deleted concurrently: each of them makes many calls.
const erasedAtOnce = 4

// eraseAll deletes the aggregates that must be deleted, as far as time allows. The next sweep continues: what is not
// wholly deleted stays due.
func (h *Handler) eraseAll(ctx context.Context, list []*found, n *count) {
	var all errgroup.Group
	all.SetLimit(erasedAtOnce)
	for _, f := range list {
		if f.over || f.erased == nil || !enough(ctx) {
			continue
		}
		all.Go(func() error {
			h.count(ctx, f, h.erase, n)
			return nil
		})
	}
	_ = all.Wait()
}

// erase deletes one aggregate until nothing is left, and records that. It is no error if the time does not suffice, as
// long as something was deleted.
func (h *Handler) erase(ctx context.Context, f *found) (_ int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer boot.Recover(ctx, &err, f.ref.Log())
	total := 0
	for {
		deleted, err := h.Erase(ctx, f.ref)
		total += deleted
		if err != nil {
			if total > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				slog.InfoContext(ctx, "deleted in part", f.ref.Log(), "deleted", total)
				return 0, nil
			}
			return 0, fmt.Errorf("delete it: %w", err)
		}
		if deleted == 0 {
			break
		}
	}
	// Of a call not even the head is left.
	_, err = h.Store.Decide(ctx, f.ref, f.erased)
	if err != nil && !notDue(err) && !errors.Is(err, aggregate.ErrNotFound) {
		return 0, fmt.Errorf("note that it is deleted: %w", err)
	}
	slog.InfoContext(ctx, "deleted", f.ref.Log(), "deleted", total)
	return 0, nil
}
