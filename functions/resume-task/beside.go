package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// The limits of reading a thread's tasks, the newest first: the heads of maxReplies tasks, and all rows of maxBeside
// open tasks.
const (
	maxReplies = 100
	maxBeside  = 10
)

// ask opens a choice between a request and a reason, if the message is in a thread with a waiting gate. It refuses the
// message if its author already has an open choice there. It returns the task unchanged for any other message.
func (h *Handler) ask(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (*task.Aggregate, error) {
	if !a.Request.Threaded() || a.Choice != nil || a.Head.Ended != nil {
		return a, nil
	}
	beside, ok, err := h.beside(ctx, a)
	if err != nil || !ok {
		return a, err
	}
	return h.within(ctx, a, "ask what the message is meant to be",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.Ask(run, beside, s, now)
		})
}

// beside finds the waiting gate in the message's thread: of a task that was requested in the thread, or of the task
// whose request began it. The index, which may lag, only lists the tasks; their rows are read from the table.
func (h *Handler) beside(ctx context.Context, a *task.Aggregate) (task.Beside, bool, error) {
	r := a.Request
	refs, err := h.Store.Thread(ctx, a.Head.TenantID, r.Channel, r.ThreadTS, maxReplies)
	if err != nil {
		return task.Beside{}, false, fmt.Errorf("list the thread's tasks: %w", err)
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
		return task.Beside{}, false, nil // no valid Slack timestamp
	}
	b, _, err := h.waits(ctx, task.RefOf(a.Head.TenantID, root))
	return b, err == nil && b.ID != "", err
}

// waits returns a task's waiting gate, with an empty ID if there is none, and whether the task is open. A task without
// rows counts as not open.
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
	b, _ = other.OpenGateBeside()
	return b, true, nil
}
