package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/model"
	"ringi/shared/model/managed"
	"ringi/shared/model/price"
	"ringi/shared/modelname"
	"ringi/shared/pipeline"
	"ringi/shared/task"
	"ringi/shared/tenancy"
	"ringi/shared/tool"
)

// open makes the execution's session, or finds the one that an invocation made before
// it died. The row names it before anything is said to it.
func (h *host) open(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	name := pipeline.ModelName(h.Model, h.settings)
	n, err := modelname.Parse(name)
	limit := h.settings.MaxCost()
	switch {
	case err != nil || n.Provider != modelname.Anthropic:
		return nil, task.StopError{Reason: task.ReasonSessionModel, Detail: name}
	case limit > 0 && !price.Known(name):
		return nil, task.StopError{Reason: task.ReasonModelUnpriced, Detail: name}
	case a.CostReached(limit):
		return nil, a.CostStop(limit)
	}
	plan, err := h.plan(ctx, a, n.Model)
	if err != nil {
		return nil, err
	}
	if limit > 0 {
		plan.MaxCost = limit - a.Spent()
	}
	t, err := h.Store.Tenant(ctx, h.in.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read the tenant: %w", err)
	}
	if t.AgentID == "" {
		return h.settle(ctx, a, t, n.Model)
	}
	at := managed.Place{Agent: t.AgentID, Environment: t.EnvironmentID}
	id, err := h.Sessions.Find(ctx, at, plan.Tags, a.Execution().CreatedAt.Add(-time.Minute))
	if err == nil && id == "" {
		id, err = h.Sessions.Start(ctx, at, plan)
	}
	if e := (*model.Error)(nil); errors.As(err, &e) && e.Kind == model.UnknownModel && !h.settled {
		return h.settle(ctx, a, t, n.Model) // the key is of another account, or somebody deleted the agent
	}
	if err != nil {
		return h.later(ctx, a, err)
	}
	a, err = h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) {
		return a.BindSession(h.in.Run, id, plan.MaxCost, h.Now())
	})
	if err == nil && a.Execution().SessionID != id {
		h.forget(ctx, "session", h.Sessions.Discard(ctx, id))
	}
	return a, err
}

// settle makes the tenant an agent; where another invocation was faster, its own is not kept.
func (h *host) settle(ctx context.Context, a *task.Aggregate, t tenancy.Tenant, model string) (*task.Aggregate, error) {
	at, err := h.Sessions.Settle(ctx, t.ID, model)
	if err != nil {
		return h.later(ctx, a, err)
	}
	h.settled = true
	is, err := h.Store.SaveAgent(ctx, t, at.Agent, at.Environment, h.Now())
	if err != nil {
		return nil, fmt.Errorf("keep the agent: %w", err)
	}
	if is.AgentID != at.Agent {
		h.forget(ctx, "agent", h.Sessions.Abandon(ctx, at))
	}
	return a, nil
}

// forget logs that something of ours which nobody needs stays behind.
func (h *host) forget(ctx context.Context, what string, err error) {
	if err != nil {
		slog.WarnContext(ctx, "left behind", "task_id", h.in.Task, "what", what, "err", err)
	}
}

// plan is a session of the approved steps' tools and no others.
func (h *host) plan(ctx context.Context, a *task.Aggregate, name string) (managed.Plan, error) {
	e := a.Execution()
	words, err := model.Instruct(model.SessionInput{Locale: h.settings.Locale})
	if err != nil {
		return managed.Plan{}, fmt.Errorf("instruct the session: %w", err)
	}
	p := managed.Plan{
		Title: "Ringi " + a.Head.TaskID, Model: name, System: words.System,
		Tags: map[string]string{"ringi_task": a.Head.TaskID, "ringi_execution": e.ID},
	}
	steps := a.ProcessOf(e).Steps
	names := namesOf(steps)
	for _, s := range steps {
		name, known := names[s.Tool]
		if !known {
			continue
		}
		delete(names, s.Tool)
		t, err := h.find(ctx, h.in.Tenant, s)
		if err != nil {
			return p, err
		}
		input, err := referring(t.spec.InputSchema, s.Tool, steps)
		if err != nil {
			return p, fmt.Errorf("describe %s: %w", s.Tool, err)
		}
		p.Tools = append(p.Tools, managed.Tool{Name: name, Description: t.spec.Description, Input: input})
	}
	return p, nil
}

// namesOf are what a session calls the steps' tools, each another.
func namesOf(steps []task.Step) map[string]string {
	names, taken := map[string]string{}, map[string]bool{}
	for _, s := range steps {
		if _, known := names[s.Tool]; known {
			continue
		}
		name := managed.Name(s.Tool)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%.120s_%d", managed.Name(s.Tool), n)
		}
		names[s.Tool], taken[name] = name, true
	}
	return names
}

// referring is a tool's input schema that takes a reference, too, where an approved step has one.
func referring(schema, name string, steps []task.Step) (json.RawMessage, error) {
	var s map[string]any
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return nil, err
	}
	properties, _ := s["properties"].(map[string]any)
	for _, step := range steps {
		if step.Tool != name {
			continue
		}
		arguments, err := tool.Parse(step.ToolInput)
		if err != nil {
			continue // it will not be called
		}
		for _, r := range arguments.Refs() {
			if properties != nil {
				properties[r.At[0]] = map[string]any{"description": "As in the approved step."}
			}
		}
	}
	return json.Marshal(s)
}

// tell sends the approved steps, as data.
func (h *host) tell(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	e := a.Execution()
	in := model.SessionInput{Task: *a.Task, Request: a.Request.Text, Locale: h.settings.Locale}
	steps := a.ProcessOf(e).Steps
	names := namesOf(steps)
	for _, s := range steps {
		t := model.SessionStep{StepID: s.StepID, Order: s.Order, Title: s.Name(), Tool: names[s.Tool], Arguments: json.RawMessage(s.ToolInput)}
		if row := a.StepOf(e, s.Order); row != nil && row.Status == task.StepCompleted {
			t.Done, t.Facts = true, h.facts(ctx, a, row)
		}
		in.Steps = append(in.Steps, t)
	}
	words, err := model.Instruct(in)
	if err != nil {
		return nil, fmt.Errorf("write the steps: %w", err)
	}
	if err := h.Sessions.Say(ctx, e.SessionID, words.Message); err != nil {
		return h.later(ctx, a, err)
	}
	return h.wait(ctx, a, h.PollEvery)
}

// facts is what the session sees of a result; one that can't be opened has none.
func (h *host) facts(ctx context.Context, a *task.Aggregate, row *task.StepResult) map[string]any {
	if row.Result == nil {
		return nil
	}
	v, err := h.Shelf.Open(ctx, a.Ref(), *row.Result)
	if err != nil {
		slog.WarnContext(ctx, "a result is not told", "task_id", h.in.Task, "step", row.StepID, "err", err)
		return nil
	}
	return model.Facts(v)
}
