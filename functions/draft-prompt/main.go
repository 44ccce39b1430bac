// Command draft-prompt is the second layer: it drafts a task's policy.
package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/teamconfig"
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
	Workspace string `env:"MIXSEEK_WORKSPACE,optional" doc:"files of contests: s3://bucket/prefix or a folder"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, large := store.OpenTasks(cfg, env.Table), large.Open(cfg, env.Results)
	models := provider.New(cfg, env.Models)
	return &Handler{
		Tools:    sync.OnceValues(tool.Builtin), // not needed at start
		Store:    rows,
		Open:     models.Open,
		Model:    env.Model,
		Results:  large,
		Now:      time.Now,
		Contests: store.ContestsOf(store.OpenAll(cfg, env.Table), large),
		Workspace: func() (teamconfig.Workspace, error) {
			return teamconfig.Open(env.Workspace, teamconfig.Bucket(cfg))
		},
		Models: teamconfig.Models{Keys: models.Secret, Instead: env.Model},
	}, nil
}

type Handler struct {
	Store     *store.TaskStore
	Tools     func() (*tool.Catalog, error)
	Open      func(name string) (model.Wire, error)
	Model     string // overrides the tenant's model unless empty
	Results   large.Store
	Now       func() time.Time
	Contests  *store.ContestStore
	Workspace func() (teamconfig.Workspace, error)
	Models    teamconfig.Models // of contests
}

// Handle asks the model for a policy, given the rejected versions and the reasons.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := pipeline.BeginVersion(ctx, h.Store, in, task.StateDraftPrompt, (*task.Aggregate).BeginPrompt, h.Now)
	if err != nil {
		return aggregate.Next{}, err
	}
	if a.Matter() == nil {
		var next aggregate.Next
		var done bool
		if a, next, done, err = h.contest(ctx, in, a); done || err != nil {
			return next, err
		}
	}
	var bounds model.Bounds
	return pipeline.Version[task.Drafted]{
		State: task.StateDraftPrompt, Failed: model.FailedAtCost,
		Finish: (*task.Aggregate).FinishPrompt,
		Read: func(ctx context.Context, _ tenancy.Settings) (err error) {
			bounds, err = h.bounds(ctx, in.Tenant)
			return err
		},
		Make: func(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (task.Drafted, model.Usage, error) {
			return h.draft(ctx, s, a, bounds)
		},
	}.Run(ctx, h.Store, in, a, h.Now)
}

func (h *Handler) bounds(ctx context.Context, tenant string) (model.Bounds, error) {
	permissions, err := h.Store.ToolPermissions(ctx, tenant)
	if err != nil {
		return model.Bounds{}, fmt.Errorf("read the tool permissions: %w", err)
	}
	tools, err := h.Tools()
	if err != nil {
		return model.Bounds{}, err
	}
	return model.BoundsOf(permissions, tools.Knows), nil
}

func (h *Handler) draft(ctx context.Context, s tenancy.Settings, a *task.Aggregate,
	bounds model.Bounds) (none task.Drafted, _ model.Usage, _ error) {
	if p := a.Refilled(); p != nil {
		return task.Drafted{Content: p.Content}, model.Usage{}, nil
	}
	if a.Matter() != nil {
		return task.Drafted{Content: a.Request.Text}, model.Usage{}, nil
	}
	g, err := model.Within(s, h.Open, pipeline.ModelName(h.Model, s), h.Results.Prompts(a.Ref()))
	if err != nil {
		return none, model.Usage{}, err
	}
	input, err := h.input(ctx, s, a, bounds)
	if err != nil {
		return none, model.Usage{}, err
	}
	return model.Draft(ctx, g, input)
}

// input is inputOf with what the request forwards and attaches.
func (h *Handler) input(ctx context.Context, s tenancy.Settings, a *task.Aggregate, bounds model.Bounds) (
	in model.DraftInput, err error) {
	in = inputOf(s, a, bounds)
	in.Enclosed, err = model.Enclose(ctx, h.Results, a)
	return in, err
}

func inputOf(s tenancy.Settings, a *task.Aggregate, bounds model.Bounds) model.DraftInput {
	input := model.DraftInput{Task: *a.Task, Request: a.Request.Text, Bounds: bounds,
		Locale: a.Language(s.Locale), Now: a.Request.Written(), Try: a.Head.Run, Fits: card.PromptFits}
	for i, p := range a.Prompts {
		// If a person picked another draft instead, the reason is Ringi's own text and asks for no change.
		picked := i+1 < len(a.Prompts) && a.Prompts[i+1].Author != ""
		if p.Status == aggregate.Rejected && !picked {
			input.Earlier = append(input.Earlier, model.Version{Content: p.Content, Reason: p.RejectionReason})
		}
	}
	return input
}
