package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/pipeline"
	"ringi/shared/result"
	"ringi/shared/task"
	"ringi/shared/tool"
)

// prepare checks that the step may run now and resolves its arguments. What was
// approved is what runs: only references are filled in, from earlier results.
func (j job) prepare(ctx context.Context, a *task.Aggregate, e *task.Execution, step task.Step) (task.Call, json.RawMessage, error) {
	none := task.Call{}
	spec, ok := j.Catalog.Lookup(step.Tool)
	if !ok || spec.Version() != step.ToolVersion || spec.Effect != step.Effect {
		return none, nil, task.StopError{Reason: task.ReasonToolChanged, Detail: step.Tool}
	}
	permission, listed, err := j.Store.ToolPermission(ctx, a.Head.TenantID, step.Tool)
	if err != nil {
		return none, nil, fmt.Errorf("read the permission of %s: %w", step.Tool, err)
	}
	if listed && !permission.Allowed {
		return none, nil, task.StopError{Reason: task.ReasonToolNotAllowed, Detail: step.Tool}
	}
	var down error // a result that is there, but can't be opened now
	arguments, _, err := tool.Resolve(step.ToolInput, func(stepID string) (json.RawMessage, error) {
		v, err := j.resultOf(ctx, a, e, stepID)
		if err != nil && pipeline.Name(err) == pipeline.Unavailable {
			down = err
		}
		return v, err
	})
	if down != nil {
		return none, nil, fmt.Errorf("resolve the arguments of %s: %w", step.StepID, down)
	}
	if err == nil {
		err = j.Catalog.Check(step.Tool, arguments)
	}
	if err != nil {
		slog.WarnContext(ctx, "arguments", "task_id", a.Head.TaskID, "step", step.StepID, "err_type", fmt.Sprintf("%T", err))
		return none, nil, task.StopError{Reason: task.ReasonBadArguments, Detail: step.StepID}
	}
	kept, err := j.Shelf.Keep(ctx, a.Ref(), arguments)
	if errors.Is(err, result.ErrTooLarge) {
		return none, nil, task.StopError{Reason: task.ReasonBadArguments, Detail: step.StepID}
	}
	if err != nil {
		return none, nil, fmt.Errorf("keep the arguments of %s: %w", step.StepID, err)
	}
	return task.Call{
		Order: step.Order, Arguments: kept, ArgumentsHash: task.HashOf(string(arguments)),
		NeedsGate: task.NeedsGate(step, e.Terms, tool.Dynamic(spec, step.ToolInput)),
		Tool:      task.ToolRef{Name: step.Tool, Rev: permission.Rev},
	}, arguments, nil
}

func (j job) resultOf(ctx context.Context, a *task.Aggregate, e *task.Execution, stepID string) (json.RawMessage, error) {
	for _, s := range a.StepsOf(e) {
		if s.StepID == stepID && s.Status == task.StepCompleted && s.Result != nil {
			return j.Shelf.Open(ctx, a.Ref(), *s.Result)
		}
	}
	return nil, fmt.Errorf("%s has no result", stepID)
}

// timeout is the longest a tool's call may take; a minute where the tool names none.
func (j job) timeout(name string) time.Duration {
	if spec, ok := j.Catalog.Lookup(name); ok && spec.Timeout > 0 {
		return spec.Timeout
	}
	return time.Minute
}
