package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
	"ringi/shared/store/kinds"
	"ringi/shared/words/legible"
)

const (
	// mostOver is how many delegations one sweep lists, and mostItems how much of what was done a message names.
	mostOver, mostItems = 25, 20
	// maxTitle is how many characters it has of a title.
	maxTitle = 80
)

// Delegations are rows by which people stand in for others.
type Delegations interface {
	OverDelegations(ctx context.Context, now time.Time, limit int) ([]tenancy.Delegation, error)
	Stood(ctx context.Context, d tenancy.Delegation) ([]tenancy.Stood, error)
	ListDelegation(ctx context.Context, d tenancy.Delegation, now time.Time, told *store.Notice) error
}

// listOver tells principals of delegations that are over what was done for them, in one direct message each; nobody is
// told that nothing was done. What has no time or fails is done by the next sweep.
func (h *Handler) listOver(ctx context.Context) error {
	all, err := h.Delegations.OverDelegations(ctx, h.Now(), mostOver)
	for _, d := range all {
		if !enough(ctx) {
			break
		}
		failed := h.listOne(ctx, d)
		if failed == nil || errors.Is(failed, aggregate.ErrConflict) { // another sweep was faster, or it was set anew
			continue
		}
		slog.ErrorContext(ctx, "a principal is not told what was done", "tenant", d.TenantID, "err", failed)
		err = errors.Join(err, failed)
	}
	return err
}

func (h *Handler) listOne(ctx context.Context, d tenancy.Delegation) error {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	done, err := h.Delegations.Stood(ctx, d)
	if err != nil {
		return err
	}
	if len(done) == 0 {
		return h.Delegations.ListDelegation(ctx, d, h.Now(), nil)
	}
	told := task.StoodTold{Hand: d.Hand.User, From: d.From.String(), Until: d.Until.String(), N: len(done)}
	for _, x := range done[:min(len(done), mostItems)] {
		title, err := h.titleOf(ctx, d.TenantID, x)
		if err != nil {
			return err
		}
		told.Items = append(told.Items, task.StoodItem{Kind: x.Kind, ID: x.ID, Title: title, Did: x.Did, At: x.DoneAt})
	}
	change, ref := task.TellStood(d, told, h.Now())
	return h.Delegations.ListDelegation(ctx, d, h.Now(), &store.Notice{Ref: ref, Change: change})
}

// titleOf returns the title of a request, or what an agent's action was to do; "" if that is gone.
func (h *Handler) titleOf(ctx context.Context, tenant string, x tenancy.Stood) (title string, err error) {
	ref := kinds.RefOf(tenant, x.ID)
	a, err := h.Store.Load(ctx, ref)
	if errors.Is(err, aggregate.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("load what was done for somebody: %w", err)
	}
	switch of := a.(type) {
	case *task.Aggregate:
		if of.Task != nil {
			title = of.Task.Title
		}
	case *conversation.Aggregate:
		if action := of.Action(x.Gate); action != nil {
			title = action.Summary
		}
	}
	return legible.First(title, maxTitle), nil
}
