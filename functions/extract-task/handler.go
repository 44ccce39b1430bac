package main

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/slackapi"
)

type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	pipeline.SpentReader
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
	DecideOn(ctx context.Context, a *task.Aggregate, decide task.Decision) (*task.Aggregate, error)
}

type Handler struct {
	Store   Store
	Open    func(name string) (model.Wire, error)
	Model   string // overrides the tenant's model unless empty
	Prompts func(ref aggregate.Ref) model.Keep
	Slack   Slack
	// Text has a file's text read, and keeps the file.
	Text  func(ctx context.Context, ref aggregate.Ref, name string, file []byte) (isolated.FileText, error)
	Texts Texts
	Files model.Opener
	Rest  time.Duration // between tries to get a file or a thread
	Now   func() time.Time
}

// Handle asks the model what the message requests. It commits the task, with task.created in the audit log, or a plain
// reply if the message requests nothing. If the task already exists, it calls no model.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Store.Load(ctx, in.Ref())
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("load the task: %w", err)
	}
	if a.Head.Run != in.Run {
		return aggregate.Next{}, aggregate.ErrSuperseded
	}
	if next := a.Next(h.Now()); next.State != task.StateExtractTask {
		return next, nil
	}
	if a.Request == nil {
		return aggregate.Next{}, fmt.Errorf("the request is not there yet: %w", aggregate.ErrConflict) // a torn read
	}
	s, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	if a.CostReached(s.MaxCost()) {
		return pipeline.StopForCost(ctx, h.Store, in, s.MaxCost(), h.Now())
	}
	if over, err := pipeline.OverBudget(ctx, h.Store, in.Tenant, s, h.Now()); err != nil || over.Reason != "" {
		return pipeline.NotNow(ctx, h.Store, in, task.Generation{Layer: task.L1}, over, s.MaxCost(), h.Now(), err)
	}
	permissions, err := h.Store.ToolPermissions(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the tool permissions: %w", err)
	}
	if a, err = h.readFiles(ctx, in, a); err != nil {
		return aggregate.Next{}, err
	}
	thread, read := h.thread(ctx, a)
	if shown := speakers(thread); a.UnderRules(s) && !a.Request.Knows(shown) {
		return h.ask(ctx, in, shown)
	}
	extract, usage, err := h.extract(ctx, s, a, thread, read, moreTools(permissions))
	if err != nil {
		return pipeline.Failed(ctx, h.Store, in, task.Generation{Layer: task.L1}, model.FailedAtCost(err, usage), s.MaxCost(),
			h.Now())
	}
	extract.Last = s.MaxCost() > 0 && a.Spent()+usage.Cost >= s.MaxCost()
	return pipeline.CommitUsage(ctx, h.Store, in, a, usage, s.MaxCost(), h.Now(),
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Extracted(in.Run, extract, h.Now())
		})
}

// moreTools describes the MCP tools that the tenant's tasks may call, one to a line.
func moreTools(permissions []tenancy.ToolPermission) (lines []string) {
	for _, p := range permissions {
		if p.Allowed && p.Pin != nil && p.ChangedAt == nil {
			lines = append(lines, fmt.Sprintf("%s: %s. %s", p.ToolName, p.Pin.Title, p.Pin.Description))
		}
	}
	return lines
}

// ask has ResumeTask ask the rules about those who are shown before a model is paid.
func (h *Handler) ask(ctx context.Context, in pipeline.Input, shown []string) (aggregate.Next, error) {
	a, err := h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Hears(in.Run, shown, h.Now())
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("note whose words the thread has: %w", err)
	}
	return a.Next(h.Now()), nil
}

func (h *Handler) extract(ctx context.Context, s tenancy.Settings, a *task.Aggregate, thread []model.Said,
	read *aggregate.Thread, tools []string) (task.Extract, model.Usage, error) {
	g, err := model.Within(s, h.Open, pipeline.ModelName(h.Model, s), h.Prompts(a.Ref()))
	if err != nil {
		return task.Extract{}, model.Usage{}, err
	}
	enclosed, err := model.Enclose(ctx, h.Files, a)
	if err != nil {
		return task.Extract{}, model.Usage{}, err
	}
	out, usage, err := model.Extract(ctx, g, model.ExtractInput{Text: a.Request.Text, Enclosed: enclosed, Thread: thread,
		ThreadNotShown: read.NotShown(), Tools: tools, Locale: a.Language(s.Locale), Now: a.Request.Written(),
		Try: a.Head.Run})
	out.Thread, out.Shown = read, speakers(thread)
	return out, usage, err
}

// speakers returns whose words and files messages have, apps among them.
func speakers(said []model.Said) (users []string) {
	for _, s := range said {
		users = append(append(users, s.User), s.Quoted...)
	}
	return users
}

// thread returns the thread's messages before a request, and what they are of it. What Slack fails to show for a while
// is asked for again before the request is extracted without it.
func (h *Handler) thread(ctx context.Context, a *task.Aggregate) ([]model.Said, *aggregate.Thread) {
	r := a.Request
	if r.ThreadTS == "" || r.ThreadTS == r.MessageTS {
		return nil, nil
	}
	ctx = slackapi.For(ctx, a.Ref().Tenant)
	return model.ReadThread(ctx, func(ctx context.Context, n int) (out []model.Said, err error) {
		said, err := h.Slack.Before(ctx, r.Channel, r.ThreadTS, r.MessageTS, n)
		for _, s := range said {
			out = append(out, model.Said(s))
		}
		return out, err
	}, func(try int, err error) bool { return slackapi.Again(ctx, try, h.Rest, err) })
}
