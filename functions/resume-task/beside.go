package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// Of a thread's requests so many are looked at, the newest first: of the newest whether they
// are over, which is one short read each, and of those that are open what waits.
const (
	maxReplies = 100
	maxBeside  = 10
)

// ask opens the choice of what a message is meant to be that was written in a thread
// where people have something to decide. It refuses the message of a person about whose message
// before they are asked already. Anything else it returns as it is.
func (h *Handler) ask(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	if !a.Request.Threaded() || a.Choice != nil || a.Head.Ended != nil {
		return a, nil
	}
	beside, ok, err := h.beside(ctx, a)
	if err != nil || !ok {
		return a, err
	}
	s, err := h.Store.Settings(ctx, a.Head.TenantID)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	run := a.Head.Run
	asked, err := h.decide(ctx, a, func(a *task.Aggregate) (task.Change, error) { return a.Ask(run, beside, s, h.Now()) })
	if err != nil {
		return nil, fmt.Errorf("ask what the message is meant to be: %w", err)
	}
	return asked, nil
}

// beside finds what waits for a decision in the message's thread: of the task whose
// request the thread's first message is, or of one that was asked for in the thread.
// The index only finds them; each is read as it is.
func (h *Handler) beside(ctx context.Context, a *task.Aggregate) (task.Beside, bool, error) {
	r := a.Request
	refs, err := h.Store.Thread(ctx, a.Head.TenantID, r.Channel, r.ThreadTS, maxReplies)
	if err != nil {
		return task.Beside{}, false, fmt.Errorf("look around in the thread: %w", err)
	}
	looked := 0
	for _, ref := range refs {
		if ref == a.Ref() || looked == maxBeside {
			continue
		}
		b, open, err := h.waits(ctx, ref)
		if err != nil || b.ID != "" {
			return b, err == nil, err
		}
		if open {
			looked++
		}
	}
	root, err := task.ID(r.TeamID, r.Channel, r.ThreadTS)
	if err != nil {
		return task.Beside{}, false, nil // no message of Slack's
	}
	b, _, err := h.waits(ctx, aggregate.Ref{Tenant: a.Head.TenantID, Task: root})
	return b, err == nil && b.ID != "", err
}

// waits is what waits in a task for people to decide, without an id if nothing does, and
// whether the task is open. A message that asked for nothing is no task.
func (h *Handler) waits(ctx context.Context, ref aggregate.Ref) (b task.Beside, open bool, err error) {
	head, err := h.Store.Head(ctx, ref)
	if errors.Is(err, aggregate.ErrNotFound) {
		return b, false, nil
	}
	if err != nil {
		return b, false, fmt.Errorf("look at a task of the thread: %w", err)
	}
	if head.Ended != nil {
		return b, false, nil
	}
	other, err := h.Store.Load(ctx, ref)
	if err != nil {
		return b, false, fmt.Errorf("load a task of the thread: %w", err)
	}
	b, _ = other.BesideOf()
	return b, true, nil
}
