package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/failure"
	"ringi/shared/pipeline"
	"ringi/shared/result"
	"ringi/shared/task"
	"ringi/shared/tenancy"
	"ringi/shared/tool"
)

// found is the tool of a step, as the tenant allows it now.
type found struct {
	spec       tool.Spec
	catalog    *tool.Catalog // knows it
	permission tenancy.ToolPermission
}

// find looks up the step's tool, one of Ringi's own or of an MCP server as an administrator
// allowed it. It returns a StopError when the tool is not allowed, or is not the version that was approved.
func (j *job) find(ctx context.Context, tenant string, step task.Step) (found, error) {
	permission, _, err := j.Store.ToolPermission(ctx, tenant, step.Tool)
	if err != nil {
		return found{}, fmt.Errorf("read the permission of %s: %w", step.Tool, err)
	}
	if !permission.Allowed {
		return found{}, task.StopError{Reason: task.ReasonToolNotAllowed, Detail: step.Tool}
	}
	changed := task.StopError{Reason: task.ReasonToolChanged, Detail: step.Tool}
	f := found{catalog: j.Catalog, permission: permission}
	if pinned, ok := tool.Pinned(permission, j.settings.MCPServers); ok {
		if f.catalog, err = j.Catalog.With(pinned); err != nil {
			return found{}, changed
		}
	}
	var known bool
	f.spec, known = f.catalog.Lookup(step.Tool)
	if !known || !f.spec.Approved(step.ToolVersion) || f.spec.Effect != step.Effect {
		return found{}, changed
	}
	bounds, err := permission.Bounds()
	if err != nil { // a later release saved constraints that this one doesn't know
		return found{}, j.constraint(failure.ProblemUnbound, step.Tool, err.Error())
	}
	f.spec.Bounds = bounds
	if f.spec.Timeout == 0 {
		f.spec.Timeout = time.Minute
	}
	return f, nil
}

// constraint is the StopError for a step that breaks a constraint; it names the constraint.
func (j *job) constraint(p failure.Problem, args ...any) task.StopError {
	return task.StopError{Reason: task.ReasonToolConstraint, Detail: failure.Sentence(j.settings.Locale, p, args...)}
}

// prepare resolves a step's arguments and checks them against the tool's schema and the tenant's
// constraints; the claim's commit fails if the permission changes meanwhile. The approved arguments
// are used as they stand, with references replaced by values from earlier results.
func (j *job) prepare(ctx context.Context, a *task.Aggregate, e *task.Execution, step task.Step, t found) (task.Call, json.RawMessage, error) {
	none := task.Call{}
	var down, expired error // a result that can't be read at the moment; one that was deleted
	arguments, _, err := tool.Resolve(step.ToolInput, func(stepID string) (json.RawMessage, error) {
		v, err := j.resultOf(ctx, a, e, stepID)
		if err != nil && pipeline.Name(err) == pipeline.Unavailable {
			down = err
		}
		if errors.Is(err, result.ErrExpired) {
			expired = err
		}
		return v, err
	})
	if expired != nil {
		return none, nil, task.StopError{Reason: task.ReasonResultExpired, Detail: step.StepID}
	}
	if down != nil {
		return none, nil, fmt.Errorf("resolve the arguments of %s: %w", step.StepID, down)
	}
	if err == nil {
		err = t.catalog.Check(step.Tool, arguments)
	}
	if err != nil {
		slog.WarnContext(ctx, "arguments", "task_id", a.Head.TaskID, "step", step.StepID, "err_type", fmt.Sprintf("%T", err))
		return none, nil, task.StopError{Reason: task.ReasonBadArguments, Detail: step.StepID}
	}
	if broken := (*failure.Error)(nil); errors.As(t.spec.Hold(arguments), &broken) {
		return none, nil, j.constraint(broken.Problem, broken.Args...)
	}
	kept, err := j.Results.KeepArguments(ctx, a.Ref(), arguments)
	if errors.Is(err, result.ErrTooLarge) {
		return none, nil, task.StopError{Reason: task.ReasonBadArguments, Detail: step.StepID}
	}
	if err != nil {
		return none, nil, fmt.Errorf("keep the arguments of %s: %w", step.StepID, err)
	}
	if kept.Preview != "" {
		kept.Preview = result.Arguments(arguments)
	}
	return task.Call{
		Order: step.Order, Arguments: kept, ArgumentsHash: aggregate.HashOf(string(arguments)),
		NeedsGate: task.NeedsGate(step, e.Terms, tool.Dynamic(t.spec, step.ToolInput) || tellsUnstamped(a, e, t.spec, step)),
		Tool:      task.ToolRef{Name: step.Tool, Rev: t.permission.Rev},
	}, arguments, nil
}

// tellsUnstamped reports whether a step would send people a text that nobody has approved: one that is
// not in the approved policy, while the settings let the steps run without an approval of their own.
func tellsUnstamped(a *task.Aggregate, e *task.Execution, s tool.Spec, step task.Step) bool {
	policy := a.Prompt()
	return !a.ProcessOf(e).Terms.ApprovalRequired && policy.Terms.ApprovalRequired && tool.Untold(s, step.ToolInput, policy.Content)
}

func (j *job) resultOf(ctx context.Context, a *task.Aggregate, e *task.Execution, stepID string) (json.RawMessage, error) {
	for _, s := range a.StepsOf(e) {
		if s.StepID == stepID && s.Status == task.StepCompleted && s.Result != nil {
			return j.Results.Open(ctx, a.Ref(), *s.Result)
		}
	}
	return nil, fmt.Errorf("%s has no result", stepID)
}
