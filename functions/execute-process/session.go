package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/tool"
)

// open creates the execution's session, or finds the one that an earlier invocation created before it crashed. It saves
// the session's id in the execution's row before anything is sent to the session.
func (j *sessionJob) open(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	name := pipeline.ModelName(j.Model, j.settings)
	n, err := aggregate.ParseModelName(name)
	limit := j.settings.MaxCost()
	switch {
	case err != nil || n.Provider != aggregate.Anthropic:
		return nil, task.StopError{Reason: task.ReasonSessionModel, Detail: name}
	case j.settings.CostsLimited() && !tenancy.PriceKnown(name, j.settings.Prices):
		return nil, task.StopError{Reason: task.ReasonModelUnpriced, Detail: name}
	case a.CostReached(limit):
		return nil, a.CostStop(limit)
	}
	left, err := pipeline.WithinBudgets(ctx, j.Store, j.in.Tenant, j.settings, j.Now())
	if err != nil {
		return nil, err
	}
	plan, err := j.plan(ctx, a, n.Model)
	if err != nil {
		return nil, err
	}
	plan.MaxCost = left
	if limit > 0 && (left == 0 || limit-a.Spent() < left) {
		plan.MaxCost = limit - a.Spent()
	}
	t, err := j.Store.Tenant(ctx, j.in.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read the tenant: %w", err)
	}
	if t.AgentID == "" {
		return j.createAgent(ctx, a, t, n.Model)
	}
	at := provider.Place{Agent: t.AgentID, Environment: t.EnvironmentID}
	within, cancel := j.inLease(ctx)
	defer cancel()
	id, err := j.Sessions.Find(within, at, plan.Tags, a.Execution().CreatedAt.Add(-time.Minute))
	if err == nil {
		j.failing = time.Time{}
	}
	if err == nil && id == "" {
		id, err = j.Sessions.Start(within, at, plan)
	}
	if e := (*model.Error)(nil); errors.As(err, &e) && e.Kind == model.UnknownModel && !j.agentCreated {
		return j.createAgent(ctx, a, t, n.Model) // the key belongs to another account, or somebody deleted the agent
	}
	if err != nil {
		return j.later(ctx, a, err)
	}
	a, err = j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.BindSession(j.in.Run, id, plan.MaxCost, j.Now())
	})
	if err == nil && a.Execution().SessionID != id {
		j.logLeftover(ctx, "session", j.Sessions.Discard(ctx, id))
	}
	return a, err
}

// createAgent creates an agent for the tenant. If another invocation saved one first, it uses that one and archives its
// own.
func (j *sessionJob) createAgent(ctx context.Context, a *task.Aggregate, t tenancy.Tenant,
	model string) (*task.Aggregate, error) {
	within, cancel := j.inLease(ctx)
	at, err := j.Sessions.CreateAgent(within, t.ID, model)
	cancel()
	if err != nil {
		return j.later(ctx, a, err)
	}
	j.agentCreated = true
	is, err := j.Store.SaveAgent(ctx, t, at.Agent, at.Environment, j.Now())
	if err != nil {
		return nil, fmt.Errorf("keep the agent: %w", err)
	}
	if is.AgentID != at.Agent {
		j.logLeftover(ctx, "agent", j.Sessions.ArchiveAgent(ctx, at))
	}
	return a, nil
}

// logLeftover logs that an unneeded session or agent could not be archived at the vendor.
func (j *sessionJob) logLeftover(ctx context.Context, what string, err error) {
	if err != nil {
		slog.WarnContext(ctx, "left behind", "task_id", j.in.Task, "what", what, "err", err)
	}
}

// plan describes a session whose only tools are those of the approved steps.
func (j *sessionJob) plan(ctx context.Context, a *task.Aggregate, name string) (provider.SessionPlan, error) {
	e := a.Execution()
	words, err := model.Instruct(model.SessionInput{Locale: j.settings.Locale})
	if err != nil {
		return provider.SessionPlan{}, fmt.Errorf("instruct the session: %w", err)
	}
	p := provider.SessionPlan{
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
		t, err := j.find(ctx, j.in.Tenant, s)
		if err != nil {
			return p, err
		}
		input, err := referring(t.spec.InputSchema, s.Tool, steps)
		if err != nil {
			return p, fmt.Errorf("describe %s: %w", s.Tool, err)
		}
		p.Tools = append(p.Tools, provider.SessionTool{Name: name, Description: t.spec.Description, Input: input})
	}
	return p, nil
}

// namesOf gives each of the steps' tools a unique name that the vendor accepts.
func namesOf(steps []task.Step) map[string]string {
	names, taken := map[string]string{}, map[string]bool{}
	for _, s := range steps {
		if _, known := names[s.Tool]; known {
			continue
		}
		name := provider.ToolName(s.Tool)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%.120s_%d", provider.ToolName(s.Tool), n)
		}
		names[s.Tool], taken[name] = name, true
	}
	return names
}

// referring returns a tool's input schema, extended to accept a $ref for each argument that is a reference in an
// approved step.
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
			continue // such a step is refused before its call
		}
		for _, r := range arguments.Refs() {
			if properties != nil {
				properties[r.At[0]] = map[string]any{"description": "As in the approved step."}
			}
		}
	}
	return json.Marshal(s)
}

// sendSteps sends the session the approved steps as data, which are no instructions.
func (j *sessionJob) sendSteps(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	e := a.Execution()
	in := model.SessionInput{Task: *a.Task, Request: a.Request.Text, Locale: j.settings.Locale}
	steps := a.ProcessOf(e).Steps
	names := namesOf(steps)
	for _, s := range steps {
		t := model.SessionStep{StepID: s.StepID, Order: s.Order, Title: s.Name(), Tool: names[s.Tool],
			Arguments: json.RawMessage(s.ToolInput)}
		if row := a.StepOf(e, s.Order); row != nil && row.Status == task.StepCompleted {
			t.Done, t.Facts = true, j.facts(ctx, a, row)
		}
		in.Steps = append(in.Steps, t)
	}
	words, err := model.Instruct(in)
	if err != nil {
		return nil, fmt.Errorf("write the steps: %w", err)
	}
	within, cancel := j.inLease(ctx)
	err = j.Sessions.Say(within, e.SessionID, words.Message)
	cancel()
	if err != nil {
		return j.later(ctx, a, err)
	}
	return j.wait(ctx, a, j.PollEvery)
}

// facts returns the part of a result that the session may see. If the result can't be read, it logs a warning and
// returns nil.
func (j *sessionJob) facts(ctx context.Context, a *task.Aggregate, row *task.StepResult) map[string]any {
	if row.Result == nil {
		return nil
	}
	v, err := j.results.Open(ctx, a.Ref(), *row.Result)
	if err != nil {
		slog.WarnContext(ctx, "a result is not told", "task_id", j.in.Task, "step", row.StepID, "err", err)
		return nil
	}
	return model.Facts(v)
}

// consider handles one of the session's tool requests. It answers a request whose call was already made; else it makes
// the call of one that is approved and next; else it denies the first.
func (j *sessionJob) consider(ctx context.Context, a *task.Aggregate,
	requests []provider.ToolRequest) (*task.Aggregate, error) {
	e := a.Execution()
	for _, w := range requests {
		if row := a.Granted(e, w.ID); row != nil && row.Status == task.StepCompleted {
			return j.answer(ctx, a, w, reply{Status: "done", Step: row.StepID, Facts: j.facts(ctx, a, row)})
		}
	}
	var denied reply
	for i, w := range requests {
		f, denial, err := j.admit(ctx, a, w)
		if err != nil {
			return nil, err
		}
		if denial == "" {
			return j.grant(ctx, a, w, f)
		}
		if i == 0 {
			denied = reply{Status: "denied", Reason: denial, Why: denials[denial]}
		}
	}
	return j.answer(ctx, a, requests[0], denied)
}

// admit finds the approved step for a request. The request's arguments, even for a read, must equal the step's approved
// arguments, or those with their references resolved. Any other request is denied.
func (j *sessionJob) admit(ctx context.Context, a *task.Aggregate,
	w provider.ToolRequest) (filled, task.Denial, error) {
	e := a.Execution()
	steps, input := a.ProcessOf(e).Steps, tool.Canonical(w.Input)
	var next filled
	fits := func(s task.Step) bool {
		switch n := a.NextStep(e); {
		case input == tool.Canonical(json.RawMessage(s.ToolInput)):
			return true
		case n == nil || s.Order != n.Order:
			return false
		}
		next = j.fill(ctx, a, s)
		return next.err == nil && input == string(next.resolved.JSON())
	}
	asked := ""
	for name, called := range namesOf(steps) {
		if called == w.Name {
			asked = name
		}
	}
	step, denial := a.Admit(e, asked, fits)
	switch {
	case denial == task.DeniedArguments && next.down != nil: // a result was unavailable, so the arguments may be right
		return next, denial, next.down
	case denial == "" && next.step.Order != step.Order: // the arguments are as planned
		next = j.fill(ctx, a, step)
	}
	return next, denial, nil
}

// grant makes the call, or leaves it to the next invocation if too little time is left.
func (j *sessionJob) grant(ctx context.Context, a *task.Aggregate, w provider.ToolRequest,
	f filled) (*task.Aggregate, error) {
	after, err := j.take(ctx, a, f, w.ID)
	if errors.Is(err, errNoTime) {
		return j.leaveForLater(ctx, a, 0)
	}
	return after, err
}

// reply answers a session's tool request. It contains only the result's Facts; the complete result stays in the row or
// the bucket.
type reply struct {
	Status string         `json:"status"` // done or denied
	Step   string         `json:"stepId,omitempty"`
	Facts  map[string]any `json:"facts,omitempty"`
	Reason task.Denial    `json:"reason,omitempty"`
	Why    string         `json:"why,omitempty"`
}

var denials = map[task.Denial]string{
	task.DeniedTool: "Nobody approved a call of this tool. Only the steps may be carried out.",
	task.DeniedArguments: "These are not the arguments that were approved. " +
		"Pass the step's arguments on exactly as they stand, with their $ref.",
	task.DeniedDone:  "This step has been done. It is not done again; go on with the next one.",
	task.DeniedOrder: "Another step is next. Call the steps in their order.",
}

// answer sends a reply. The session's events tell the next turn whether it arrived.
func (j *sessionJob) answer(ctx context.Context, a *task.Aggregate, w provider.ToolRequest,
	r reply) (*task.Aggregate, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if r.Reason != "" {
		slog.WarnContext(ctx, "denied", "task_id", j.in.Task, "reason", r.Reason)
	}
	within, cancel := j.inLease(ctx)
	err = j.Sessions.Answer(within, a.Execution().SessionID, w.ID, string(text), r.Reason != "")
	cancel()
	// the request was already answered, or the session has ended
	if e := (*model.Error)(nil); errors.As(err, &e) && e.Kind == model.BadRequest {
		return j.wait(ctx, a, j.PollEvery)
	}
	if err != nil {
		return j.later(ctx, a, err)
	}
	return j.wait(ctx, a, 0)
}
