package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/model"
	"ringi/shared/pipeline"
	"ringi/shared/task"
	"ringi/shared/tenancy"
	"ringi/shared/tool"
)

// Store is what plan-process reads and commits.
type Store interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
	DecideOn(ctx context.Context, a *task.Aggregate, decide task.Decision) (*task.Aggregate, error)
}

// Handler plans steps, the third layer.
type Handler struct {
	Store Store
	Tools func() (*tool.Catalog, error)
	Open  func(name string) (model.Generator, error)
	Model string // overrides the tenant's, when not empty
	Now   func() time.Time
}

// Handle records that steps are being planned, has the model plan them with the tools that the
// tenant allows, and opens their gate. When the gate is open already, it calls no model.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (task.Change, error) {
		return a.BeginProcess(in.Run, h.Now())
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("begin a process: %w", err)
	}
	if next := a.Next(h.Now()); next.State != task.StatePlanProcess {
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
	allowed, forbidden, err := h.allowed(ctx, in.Tenant, s.MCPServers)
	if err != nil {
		return aggregate.Next{}, err
	}
	steps, remarks, usage, err := h.plan(ctx, s, a, allowed, forbidden)
	if err != nil {
		return pipeline.Failed(ctx, h.Store, in, made, model.FailedAtCost(err, usage), s.MaxCost(), h.Now())
	}
	return pipeline.Opened(ctx, h.Store, in, a, usage, s, h.Now(), func(a *task.Aggregate, s tenancy.Settings) (task.Change, error) {
		if a.Generating() != made { // another invocation finished this version first, and it has been decided
			return task.Change{}, nil
		}
		return a.FinishProcess(in.Run, steps, remarks, s, h.Now())
	})
}

func (h *Handler) plan(ctx context.Context, s tenancy.Settings, a *task.Aggregate, tools *tool.Catalog, forbidden []string) ([]task.Step, string, model.Usage, error) {
	g, err := model.Within(s, h.Open, pipeline.ModelName(h.Model, s))
	if err != nil {
		return nil, "", model.Usage{}, err
	}
	policy := a.Prompt()
	input := model.PlanInput{
		Task: *a.Task, Request: a.Request.Text, Policy: policy.Content, Unstamped: !policy.Terms.ApprovalRequired, Tools: tools, Forbidden: forbidden,
		Requester: a.Head.Requester, Locale: s.Locale, Now: a.Request.CreatedAt, Try: a.Head.Run, Fits: card.StepsFit,
	}
	for _, p := range a.Processes {
		if p.Status == aggregate.Rejected {
			input.Earlier = append(input.Earlier, model.PlanVersion{Steps: p.Steps, Reason: p.RejectionReason})
		}
	}
	return model.Plan(ctx, g, input)
}

// allowed is the catalog without the tools that the tenant forbids, and with the tools of MCP
// servers as an administrator allowed them; forbidden names the tools that are left out. It reads
// rows only and calls no server.
func (h *Handler) allowed(ctx context.Context, tenant string, servers []tenancy.MCPServer) (allowed *tool.Catalog, forbidden []string, err error) {
	tools, err := h.Tools()
	if err != nil {
		return nil, nil, err
	}
	permissions, err := h.Store.ToolPermissions(ctx, tenant)
	if err != nil {
		return nil, nil, fmt.Errorf("read the tool permissions: %w", err)
	}
	allowed, err = tools.Under(permissions)
	if err != nil {
		slog.WarnContext(ctx, "tools are not offered", "err", err)
	}
	for _, p := range permissions {
		s, ok := tool.Pinned(p, servers)
		if !ok {
			continue
		}
		with, err := allowed.With(s)
		if err != nil { // an earlier release accepted its schema, this one can't compile it
			slog.WarnContext(ctx, "a tool is not offered", "tool", s.Name, "err", err)
			continue
		}
		allowed = with
	}
	known := make([]string, 0, len(permissions))
	for _, s := range tools.All() {
		known = append(known, s.Name)
	}
	for _, p := range permissions {
		known = append(known, p.ToolName)
	}
	slices.Sort(known)
	return allowed, slices.DeleteFunc(slices.Compact(known), func(name string) bool { _, offered := allowed.Lookup(name); return offered }), nil
}
