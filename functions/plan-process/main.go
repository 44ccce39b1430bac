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

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/rules"
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
	rows := store.OpenTasks(cfg, env.Table)
	large := large.Open(cfg, env.Results)
	return &Handler{
		Tools:   sync.OnceValues(tool.Builtin), // read at the first plan, not at start
		Store:   rows,
		Open:    provider.New(cfg, env.Models).Open,
		Model:   env.Model,
		Prompts: large.Prompts,
		Files:   large,
		Now:     time.Now,
	}, nil
}

type Store interface {
	pipeline.VersionStore
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	Rules(ctx context.Context, tenant string) (x *rules.Rules, rev int, err error)
	OrganisationRow(ctx context.Context, tenant string) (tenancy.OrganisationRow, error)
}

type Handler struct {
	Store   Store
	Tools   func() (*tool.Catalog, error)
	Open    func(name string) (model.Wire, error)
	Model   string // overrides the tenant's model unless empty
	Prompts func(ref aggregate.Ref) model.Keep
	Files   model.Opener
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
	var under *underRules
	return pipeline.Version[plan]{
		State: task.StatePlanProcess, Failed: model.FailedAtCost,
		Read: func(ctx context.Context, s tenancy.Settings) (err error) {
			if permissions, err = h.Store.ToolPermissions(ctx, in.Tenant); err != nil {
				return fmt.Errorf("read the tool permissions: %w", err)
			}
			if under, err = h.rules(ctx, a, s); err != nil {
				return err
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
			if under == nil {
				return a.FinishProcess(run, made.steps, made.remarks, s, now)
			}
			return under.finish(a, run, made, permissions, s, now)
		},
	}.Run(ctx, h.Store, in, a, h.Now)
}

// underRules is by what a task's steps are asked about: a tenant's rules, and whether an organisation stands, by a row.
type underRules struct {
	*rules.Rules
	organised bool
	on        aggregate.Owned
}

// rules returns by what the task's steps are asked about, or nil if no rules are.
func (h *Handler) rules(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (*underRules, error) {
	if !a.UnderRules(s) {
		return nil, nil
	}
	x, err := decide.Rules(ctx, h.Store, a.Head.TenantID, s)
	if err != nil {
		return nil, err
	}
	organised, on, err := decide.Organised(ctx, h.Store, a.Head.TenantID)
	return &underRules{x, organised, on}, err
}

// finish saves steps as the rules say: their gate opens, or waits until their people are looked up, or the task ends
// because the rules refuse it.
func (u *underRules) finish(a *task.Aggregate, run int, made plan, permissions []tenancy.ToolPermission,
	s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	calls, on := decide.CallsOf(a.Head.TenantID, made.steps, permissions)
	asked := decide.Steps{Task: a, Calls: calls, Settings: s, Organised: u.organised}
	found, err := asked.ByIDs(u.Rules)
	on = append(on, u.on)
	switch {
	case err != nil:
		return aggregate.Change{}, err
	case found.Refused != nil:
		return a.RefuseByRule(run, *found.Refused, s, now, on...)
	case found.LookUp != nil:
		return a.FinishProcessUnder(run, made.steps, made.remarks, *found.LookUp, s, now)
	}
	return a.FinishProcessOnRoute(run, made.steps, made.remarks, *found.Opening, s, now, on...)
}

// decision returns the plan of a form. Whether its tool is allowed is asked where the decision is recorded.
func (h *Handler) decision(m *task.Matter, locale string) (plan, model.Usage, error) {
	tools, err := h.Tools()
	if err != nil {
		return plan{}, model.Usage{}, err
	}
	tool, _ := tools.Lookup(catalog.Decide)
	return plan{steps: m.Steps(locale, tool.Version())}, model.Usage{}, nil
}

func (h *Handler) make(
	ctx context.Context, s tenancy.Settings, a *task.Aggregate, tools *tool.Catalog, forbidden []string,
	permissions []tenancy.ToolPermission,
) (plan, model.Usage, error) {
	g, err := model.Within(s, h.Open, pipeline.ModelName(h.Model, s), h.Prompts(a.Ref()))
	if err != nil {
		return plan{}, model.Usage{}, err
	}
	enclosed, err := model.Enclose(ctx, h.Files, a)
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
