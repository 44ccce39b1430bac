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

// ask opens a choice between a request and a reason, if the message is in a thread with a waiting gate. It returns the
// task unchanged for any other message. If people are being asked about another message of its author in the thread,
// only the newer of both is asked about. Messages that come together may not know of each other, so the second looks
// again.
func (h *Handler) ask(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (*task.Aggregate, error) {
	if !a.Request.Threaded() || a.Choice != nil || a.Head.Ended != nil {
		return a, nil
	}
	after, err := h.askNewest(ctx, a, s, h.commit)
	if _, full := errors.AsType[aggregate.ErrFull](err); full {
		return h.askNewest(ctx, a, s, h.within)
	}
	return after, err
}

// askNewest is ask with the way to commit.
func (h *Handler) askNewest(ctx context.Context, a *task.Aggregate, s tenancy.Settings, commit committing) (
	*task.Aggregate, error) {
	beside, asked, err := h.beside(ctx, a)
	if err != nil || beside.ID == "" {
		return a, err
	}
	for _, other := range asked {
		switch {
		case a.Request.Courtesy(): // it asks nothing
		case other.Request.MessageTS > a.Request.MessageTS:
			return h.commit(ctx, a, "give way to a newer message",
				func(a *task.Aggregate, _ int, now time.Time) (aggregate.Change, error) { return a.GiveWay(now) })
		default:
			_, err := h.Store.Decide(ctx, other.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
				return a.GiveWay(h.Now())
			})
			if err != nil {
				return nil, fmt.Errorf("end an older message: %w", err)
			}
		}
	}
	return commit(ctx, a, "ask what the message is meant to be",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.Ask(run, beside, s, now)
		})
}

// beside finds the waiting gate in the message's thread: of a task that was requested in the thread, or of the task
// whose request began it. Its ID is empty if there is none. asked are the messages since then about which the same
// person is asked. The index, which may lag, only lists the tasks; their rows are read from the table.
func (h *Handler) beside(ctx context.Context, a *task.Aggregate) (b task.Beside, asked []*task.Aggregate, err error) {
	r := a.Request
	refs, err := h.Store.Thread(ctx, a.Head.TenantID, r.Channel, r.ThreadTS, maxReplies)
	if err != nil {
		return b, nil, fmt.Errorf("list the thread's tasks: %w", err)
	}
	if root, err := task.ID(r.TeamID, r.Channel, r.ThreadTS); err == nil { // else it is no valid Slack timestamp
		refs = append(refs, task.RefOf(a.Head.TenantID, root))
	}
	looked := 0
	for i, ref := range refs {
		if ref == a.Ref() || looked == maxBeside && i < len(refs)-1 {
			continue
		}
		other, err := h.stillOpen(ctx, ref)
		if err != nil {
			return b, nil, err
		}
		if other == nil {
			continue
		}
		looked++
		if b, waits := other.OpenGateBeside(); waits {
			return b, asked, nil
		}
		if other.Choosing() != nil && other.Request != nil && other.Head.Requester == a.Head.Requester {
			asked = append(asked, other)
		}
	}
	return b, nil, nil
}

// stillOpen loads a task, or returns nil if it has ended. A task without rows counts as ended.
func (h *Handler) stillOpen(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error) {
	head, err := h.Store.Head(ctx, ref)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at a task of the thread: %w", err)
	case head.Ended != nil:
		return nil, nil
	}
	other, err := h.Store.Load(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("load a task of the thread: %w", err)
	}
	return other, nil
}
