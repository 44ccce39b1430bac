package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
)

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
