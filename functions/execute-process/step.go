package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/model"
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
	arguments, _, err := tool.Resolve(step.ToolInput, func(stepID string) (json.RawMessage, error) {
		return j.resultOf(ctx, a, e, stepID)
	})
	if err == nil {
		err = j.Catalog.Check(step.Tool, arguments)
	}
	if err != nil {
		slog.WarnContext(ctx, "arguments", "task_id", a.Head.TaskID, "step", step.StepID, "err_type", fmt.Sprintf("%T", err))
		return none, nil, task.StopError{Reason: task.ReasonBadArguments, Detail: step.StepID}
	}
	kept, err := j.Shelf.Keep(ctx, a.Ref(), arguments)
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

// summaryInput opens every result of the newest attempt; one that can't be opened is left out.
func (j job) summaryInput(ctx context.Context, a *task.Aggregate) model.SummaryInput {
	e := a.Execution()
	input := model.SummaryInput{Task: *a.Task, Request: a.Request.Text, Locale: j.settings.Locale, Now: j.Now(), Try: e.Attempt}
	for _, step := range a.ProcessOf(e).Steps {
		r := model.StepResult{StepID: step.StepID, Title: step.Name(), Tool: step.Tool}
		row := a.StepOf(e, step.Order)
		if row != nil && row.Result != nil && (row.Result.JSON != "" || row.Result.S3Key != "") {
			v, err := j.Shelf.Open(ctx, a.Ref(), *row.Result)
			if err != nil {
				slog.WarnContext(ctx, "a result is not in the summary", "task_id", j.in.Task, "step", step.StepID, "err", err)
			}
			r.Result = v
		}
		input.Steps = append(input.Steps, r)
	}
	return input
}

// timeout is the longest a tool's call may take; a minute where the tool names none.
func (j job) timeout(name string) time.Duration {
	if spec, ok := j.Catalog.Lookup(name); ok && spec.Timeout > 0 {
		return spec.Timeout
	}
	return time.Minute
}

// call makes the claimed call and records what became of it, whatever became of
// the task meanwhile.
func (j job) call(ctx context.Context, a *task.Aggregate, step task.Step, claim task.Claim, deadline time.Time, c tool.Call) error {
	e := a.Execution()
	key := task.StepKey(e.ProcessVersion, e.Attempt, step.Order)
	callCtx, stop := context.WithDeadline(ctx, deadline)
	if step.Effect == task.Read { // a write that is out is not called back: its outcome would be unknown
		go j.watch(callCtx, a.Ref(), stop)
	}
	began := time.Now()
	value, err := j.Tools.Run(callCtx, c)
	stop()
	o := j.outcome(ctx, a.Ref(), step, value, err)
	slog.InfoContext(ctx, "called", "task_id", a.Head.TaskID, "execution_id", e.ID, "step", step.StepID, "tool", step.Tool,
		"status", o.Status, "ms", time.Since(began).Milliseconds())
	_, err = j.Store.Decide(ctx, a.Ref(), func(a *task.Aggregate) (task.Change, error) {
		return a.FinishStep(key, claim.Invocation, o, j.Now())
	})
	if errors.Is(err, task.ErrSuperseded) { // the lease ran out, and another made the call again
		return nil
	}
	if err != nil {
		return fmt.Errorf("record the outcome of %s: %w", step.StepID, err)
	}
	return nil
}

func (j job) outcome(ctx context.Context, ref task.Ref, step task.Step, value json.RawMessage, err error) task.Outcome {
	if err == nil {
		kept, err := j.Shelf.Keep(ctx, ref, value)
		if err != nil {
			slog.ErrorContext(ctx, "result not kept", "task_id", ref.Task, "step", step.StepID, "err", err)
			if step.Effect == task.Read {
				return task.Outcome{Status: task.StepFailed, Reason: task.ReasonRunFailed, Detail: step.StepID}
			}
		}
		return task.Outcome{Status: task.StepCompleted, Result: &kept} // a write that was done is done, with or without its answer
	}
	o := task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: step.Tool}
	var te *tool.Error
	if errors.As(err, &te) {
		o.Detail = te.Detail
		if te.Outcome == tool.Unknown && step.Effect == task.Write {
			o.Status, o.Reason = task.StepUnknown, task.ReasonToolUnknown
		}
	} else if step.Effect == task.Write {
		o.Status, o.Reason = task.StepUnknown, task.ReasonToolUnknown
	}
	return o
}

// watch ends a call when its task is over.
func (j job) watch(ctx context.Context, ref task.Ref, stop context.CancelFunc) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if head, err := j.Store.Head(ctx, ref); err == nil && head.Ended != nil {
				stop()
				return
			}
		}
	}
}
