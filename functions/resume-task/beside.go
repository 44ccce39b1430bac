package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/task"
)

// maxBeside is how many of a thread's requests are looked at, the newest first.
const maxBeside = 10

// ask opens the choice of what a message is meant to be that was written in a thread
// where people have something to decide. Anything else it returns as it is.
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
	asked, err := h.Store.Decide(ctx, a.Ref(), func(a *task.Aggregate) (task.Change, error) { return a.Ask(run, beside, s, h.Now()) })
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
	refs, err := h.Store.Thread(ctx, a.Head.TenantID, r.Channel, r.ThreadTS, maxBeside)
	if err != nil {
		return task.Beside{}, false, fmt.Errorf("look around in the thread: %w", err)
	}
	if root, err := task.ID(r.TeamID, r.Channel, r.ThreadTS); err == nil {
		refs = append(refs, task.Ref{Tenant: a.Head.TenantID, Task: root})
	}
	for _, ref := range refs {
		if ref == a.Ref() {
			continue
		}
		other, err := h.Store.Load(ctx, ref)
		switch {
		case errors.Is(err, task.ErrNotFound): // the thread's first message asked for nothing
			continue
		case err != nil:
			return task.Beside{}, false, fmt.Errorf("load a task of the thread: %w", err)
		}
		if b, ok := other.BesideOf(); ok {
			return b, true, nil
		}
	}
	return task.Beside{}, false, nil
}
