package main

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/pipeline"
	"ringi/shared/task"
)

// Store is what resume-task reads, the tenant it makes at first contact, and how it accepts a request.
type Store interface {
	Load(ctx context.Context, ref task.Ref) (*task.Aggregate, error)
	Settings(ctx context.Context, tenant string) (task.Settings, error)
	Thread(ctx context.Context, tenant, channel, thread string, limit int) ([]task.Ref, error)
	Decide(ctx context.Context, ref task.Ref, decide func(*task.Aggregate) (task.Change, error)) (*task.Aggregate, error)
	Bootstrap(ctx context.Context, t task.Tenant, now time.Time) (task.Tenant, error)
	DecideOn(ctx context.Context, a *task.Aggregate, decide func(*task.Aggregate) (task.Change, error)) (*task.Aggregate, error)
}

// Handler says where a run goes.
type Handler struct {
	Store  Store
	People People
	Now    func() time.Time
	Admin  string // Slack user id of a new tenant's first administrator, may be empty
}

// Handle returns the run's next state, read off the rows. Before the first layer
// it makes the tenant and its settings, unless they are there, and accepts the request
// or refuses it: until then it has cost nothing.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (task.Next, error) {
	a, err := h.Store.Load(ctx, in.Ref())
	if err != nil {
		return task.Next{}, fmt.Errorf("load the task: %w", err)
	}
	if a.Head.Run != in.Run {
		return task.Next{}, task.ErrSuperseded
	}
	if a.Request == nil {
		return task.Next{}, fmt.Errorf("the request is not there yet: %w", task.ErrConflict) // a torn read
	}
	if a.Task == nil {
		if _, err := h.Store.Bootstrap(ctx, h.tenant(a), h.Now()); err != nil {
			return task.Next{}, fmt.Errorf("make the tenant: %w", err)
		}
		if a, err = h.ask(ctx, a); err != nil {
			return task.Next{}, err
		}
	}
	if _, choosing := a.Pending(); a.Waiting() && !choosing {
		if a, err = h.accept(ctx, a, in.Run); err != nil {
			return task.Next{}, err
		}
	}
	return a.Next(h.Now()), nil
}

func (h *Handler) tenant(a *task.Aggregate) task.Tenant {
	t := task.Tenant{ID: a.Head.TenantID, Name: a.Request.TeamID, Slug: task.DefaultSettings().Slug, TeamID: a.Request.TeamID, Admins: []string{}}
	if h.Admin != "" {
		t.Admins = append(t.Admins, h.Admin)
	}
	return t
}
