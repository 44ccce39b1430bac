package main

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/model"
	"ringi/shared/pipeline"
	"ringi/shared/task"
	"ringi/shared/tenancy"
	"ringi/shared/tool"
)

// Store is what draft-prompt reads and commits.
type Store interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
	DecideOn(ctx context.Context, a *task.Aggregate, decide task.Decision) (*task.Aggregate, error)
}

// Handler drafts policies, the second layer.
type Handler struct {
	Store Store
	Tools func() (*tool.Catalog, error)
	Open  func(name string) (model.Generator, error)
	Model string // overrides the tenant's, when not empty
	Now   func() time.Time
}

// Handle records that a policy is being drafted, has the model draft it, given the rejected versions
// and their reasons, and opens its gate. When the gate is open already, it calls no model.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (task.Change, error) {
		return a.BeginPrompt(in.Run, h.Now())
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("begin a prompt: %w", err)
	}
	if next := a.Next(h.Now()); next.State != task.StateDraftPrompt {
		return next, nil
	}
	made := a.Generating()
	s, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	if a.CostReached(s.MaxCost()) {
		return pipeline.StopForCost(ctx, h.Store, in, s.MaxCost(), h.Now())
	}
	permissions, err := h.Store.ToolPermissions(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the tool permissions: %w", err)
	}
	tools, err := h.Tools()
	if err != nil {
		return aggregate.Next{}, err
	}
	content, usage, err := h.draft(ctx, s, a, model.BoundsOf(permissions, tools.Knows))
	if err != nil {
		return pipeline.Failed(ctx, h.Store, in, made, model.FailedAtCost(err, usage), s.MaxCost(), h.Now())
	}
	return pipeline.Opened(ctx, h.Store, in, a, usage, s, h.Now(), func(a *task.Aggregate, s tenancy.Settings) (task.Change, error) {
		if a.Generating() != made { // another invocation finished this version first, and it has been decided
			return task.Change{}, nil
		}
		return a.FinishPrompt(in.Run, content, s, h.Now())
	})
}

func (h *Handler) draft(ctx context.Context, s tenancy.Settings, a *task.Aggregate, bounds model.Bounds) (string, model.Usage, error) {
	g, err := model.Within(s, h.Open, pipeline.ModelName(h.Model, s))
	if err != nil {
		return "", model.Usage{}, err
	}
	input := model.DraftInput{Task: *a.Task, Request: a.Request.Text, Bounds: bounds, Locale: s.Locale, Now: a.Request.CreatedAt, Try: a.Head.Run, Fits: card.PromptFits}
	for _, p := range a.Prompts {
		if p.Status == aggregate.Rejected {
			input.Earlier = append(input.Earlier, model.Version{Content: p.Content, Reason: p.RejectionReason})
		}
	}
	return model.Draft(ctx, g, input)
}
