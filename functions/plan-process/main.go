// Command plan-process is the third layer: it plans the steps of an approved policy.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

func main() {
	boot.BoundMemory()
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Models
	boot.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{
		Tools:   sync.OnceValues(tool.Builtin), // read at the first plan, not at start
		Store:   store.OpenTasks(cfg, env.Table),
		Open:    provider.New(cfg, env.Models).Open,
		Model:   env.Model,
		Results: large.Open(cfg, env.Results),
		Now:     time.Now,
	}, nil
}

type Handler struct {
	Store   *store.TaskStore
	Tools   func() (*tool.Catalog, error)
	Open    func(name string) (model.Wire, error)
	Model   string // overrides the tenant's model unless empty
	Results large.Store
	Now     func() time.Time
}

type plan struct {
	steps   []task.Step
	remarks string
}

// Handle asks the model to plan steps with the tools that the tenant allows.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := pipeline.BeginVersion(ctx, h.Store, in, task.StatePlanProcess, (*task.Aggregate).BeginProcess, h.Now)
	if err != nil {
		return aggregate.Next{}, err
	}
	var allowed *tool.Catalog
	var forbidden []string
	var permissions []tenancy.ToolPermission
	return pipeline.Version[plan]{
		State: task.StatePlanProcess, Failed: model.FailedAtCost,
		Read: func(ctx context.Context, s tenancy.Settings) (err error) {
			if permissions, err = h.Store.ToolPermissions(ctx, in.Tenant); err != nil {
				return fmt.Errorf("read the tool permissions: %w", err)
			}
			allowed, forbidden, err = h.allowed(ctx, permissions, s.MCPServers)
			return err
		},
		Make: func(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (plan, model.Usage, error) {
			if m := a.Matter(); m != nil {
				return h.decision(m, a.Language(s.Locale))
			}
			return h.make(ctx, s, a, allowed, forbidden, permissions)
		},
		Finish: func(a *task.Aggregate, run int, made plan, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
			return a.FinishProcess(run, made.steps, made.remarks, s, now)
		},
	}.Run(ctx, h.Store, in, a, h.Now)
}

// decision returns the plan of a form. Whether its tool is allowed is asked where the decision is recorded.
func (h *Handler) decision(m *task.Matter, locale string) (plan, model.Usage, error) {
	tools, err := h.Tools()
	if err != nil {
		return plan{}, model.Usage{}, err
	}
	tool, _ := tools.Lookup(tenancy.DecideTool)
	return plan{steps: m.Steps(locale, tool.Version())}, model.Usage{}, nil
}

func (h *Handler) make(
	ctx context.Context, s tenancy.Settings, a *task.Aggregate, tools *tool.Catalog, forbidden []string,
	permissions []tenancy.ToolPermission,
) (plan, model.Usage, error) {
	g, err := model.Within(s, h.Open, pipeline.ModelName(h.Model, s), h.Results.Prompts(a.Ref()))
	if err != nil {
		return plan{}, model.Usage{}, err
	}
	enclosed, err := model.Enclose(ctx, h.Results, a)
	if err != nil {
		return plan{}, model.Usage{}, err
	}
	policy := a.Prompt()
	input := model.PlanInput{
		Task: *a.Task, Request: a.Request.Text, Enclosed: enclosed, Policy: policy.Content,
		Tools: tools, Forbidden: forbidden,
		Requester: a.Head.Requester, Locale: a.Language(s.Locale), Now: a.Request.Written(), Try: a.Head.Run,
		Fits: func(steps []task.Step, remarks string) bool {
			return card.StepsFit(tool.Marked(steps, permissions), remarks)
		},
	}
	for _, p := range a.Processes {
		if p.Status == aggregate.Rejected {
			input.Earlier = append(input.Earlier, model.PlanVersion{Steps: p.Steps, Reason: p.RejectionReason})
		}
	}
	steps, remarks, usage, err := model.Plan(ctx, g, input)
	return plan{steps: tool.Marked(steps, permissions), remarks: remarks}, usage, err
}

// allowed returns the catalog without the tools that the tenant forbids, and with the MCP tools that an administrator
// allowed. forbidden names the omitted tools. It calls no server.
func (h *Handler) allowed(
	ctx context.Context, permissions []tenancy.ToolPermission, servers []tenancy.MCPServer,
) (allowed *tool.Catalog, forbidden []string, err error) {
	tools, err := h.Tools()
	if err != nil {
		return nil, nil, err
	}
	tools = tools.Planned().Modelled()
	allowed, err = tools.Allowed(permissions, servers)
	if err != nil {
		slog.WarnContext(ctx, "tools are not offered", "err", err)
	}
	known := make([]string, 0, len(permissions))
	for _, s := range tools.All() {
		known = append(known, s.Name)
	}
	for _, p := range permissions {
		known = append(known, p.ToolName)
	}
	slices.Sort(known)
	return allowed, slices.DeleteFunc(slices.Compact(known),
		func(name string) bool { _, offered := allowed.Lookup(name); return offered }), nil
}
