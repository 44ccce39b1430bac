package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// found is a step's tool under the tenant's present permissions.
type found struct {
	spec       tool.Spec
	catalog    *tool.Catalog // knows it
	permission tenancy.ToolPermission
}

// find looks up the step's tool: one of Ringi's own, or an MCP server's that an administrator allowed. It returns a
// StopError if the tool is not allowed, or is not the version that was approved.
func (j *job) find(ctx context.Context, tenant string, step task.Step) (found, error) {
	permission, _, err := j.Store.ToolPermission(ctx, tenant, step.Tool)
	if err != nil {
		return found{}, fmt.Errorf("read the permission of %s: %w", step.Tool, err)
	}
	j.permissions[step.Tool] = permission
	return j.permit(step, permission)
}

// permit is find for a permission that was read.
func (j *job) permit(step task.Step, permission tenancy.ToolPermission) (found, error) {
	t, err := j.Catalog.Permit(step.Tool, step.ToolVersion, step.Access, permission, j.settings.MCPServers)
	unbound, isUnbound := errors.AsType[*explain.CallError](err)
	switch {
	case errors.Is(err, tool.ErrForbidden):
		return found{}, task.StopError{Reason: task.ReasonToolNotAllowed, Detail: step.Tool}
	case errors.Is(err, tool.ErrOther):
		return found{}, task.StopError{Reason: task.ReasonToolChanged, Detail: step.Tool}
	case isUnbound: // constraints that can't be read are never left out
		return found{}, j.constraint(unbound.Problem, unbound.Args...)
	}
	return found{spec: t.Spec, catalog: t.Catalog, permission: permission}, nil
}

// constraint returns the StopError for a step that breaks the named constraint.
func (j *job) constraint(p explain.Problem, args ...any) task.StopError {
	return task.StopError{Reason: task.ReasonToolConstraint, Detail: explain.FailedCall(j.settings.Locale, p, args...)}
}

// undecidable returns a StopError if a step must wait for a person, but nobody may approve it since the settings
// changed. If Slack doesn't answer, the step goes on, and the gate's card names the people who may decide.
func (j *job) undecidable(ctx context.Context, a *task.Aggregate) error {
	settings, err := j.Store.Settings(ctx, j.in.Tenant)
	if err != nil {
		return fmt.Errorf("read who may approve: %w", err)
	}
	err = j.Approvable(ctx, a.Ref(), a.Request.Origin(), settings, a.Head.Requester)
	if errors.As(err, new(aggregate.ErrNotAllowed)) {
		return task.StopError{Reason: task.ReasonNobodyApproves}
	}
	if err != nil {
		slog.WarnContext(ctx, "a gate opens without knowing who may approve", "task_id", a.Head.TaskID, "err", err)
	}
	return nil
}

// filled is a step whose references are replaced by values from earlier results. Its other arguments are unchanged.
type filled struct {
	step     task.Step
	planned  tool.Arguments
	resolved tool.Resolved
	err      error // why the arguments could not be resolved
	down     error // the cause if a result is temporarily unreadable
}

// fill resolves a step's arguments once for all uses.
func (j *job) fill(ctx context.Context, a *task.Aggregate, step task.Step) filled {
	f := filled{step: step}
	if f.planned, f.err = tool.Parse(step.ToolInput); f.err != nil {
		return f
	}
	f.resolved, f.err = f.planned.Resolve(func(stepID string) (json.RawMessage, error) {
		v, err := j.resultOf(ctx, a, a.Execution(), stepID)
		if err != nil && pipeline.Name(err) == pipeline.Unavailable {
			f.down = err
		}
		return v, err
	})
	return f
}

// prepare checks a step's resolved arguments against the tool's schema and the tenant's constraints, and stores them.
// It returns the arguments as checked. The claim's commit fails if the permission changes meanwhile.
func (j *job) prepare(ctx context.Context, a *task.Aggregate, f filled, t found) (task.Call, tool.Resolved, error) {
	none, e, step := task.Call{}, a.Execution(), f.step
	switch {
	case errors.Is(f.err, large.ErrExpired):
		return none, f.resolved, task.StopError{Reason: task.ReasonResultExpired, Detail: step.StepID}
	case f.down != nil:
		return none, f.resolved, fmt.Errorf("resolve the arguments of %s: %w", step.StepID, f.down)
	}
	arguments, err := f.resolved, f.err
	if err == nil {
		arguments, err = t.catalog.Check(step.Tool, arguments)
	}
	if err != nil {
		slog.WarnContext(ctx, "arguments", "task_id", a.Head.TaskID, "step", step.StepID, "err_type", fmt.Sprintf("%T", err))
		return none, arguments, task.StopError{Reason: task.ReasonBadArguments, Detail: step.StepID}
	}
	if broken := t.spec.Hold(arguments); broken != nil {
		stop := j.constraint(broken.Problem, broken.Args...)
		if broken.Problem == explain.ProblemNoValue || broken.Problem == explain.ProblemTooLong {
			stop.Reason = task.ReasonBadArguments
		}
		return none, arguments, stop
	}
	kept, err := j.Results.KeepArguments(ctx, a.Ref(), arguments.JSON())
	if errors.Is(err, large.ErrTooLarge) {
		return none, arguments, task.StopError{Reason: task.ReasonBadArguments, Detail: step.StepID}
	}
	if err != nil {
		return none, arguments, fmt.Errorf("keep the arguments of %s: %w", step.StepID, err)
	}
	return task.Call{
		Order: step.Order, Arguments: kept, ArgumentsHash: aggregate.HashOf(string(arguments.JSON())),
		NeedsGate: task.NeedsGate(step, e.Terms, tool.Dynamic(t.spec, f.planned) ||
			e.Terms.Rule != nil && refersToMarked(step, t.permission, f.planned)),
		Tool: task.ToolRef{Name: step.Tool, Rev: t.permission.Rev},
	}, arguments, nil
}

// refersToMarked reports whether what rules read of a call comes from an earlier result. Then they could
// not know it when people stamped the steps.
func refersToMarked(step task.Step, permission tenancy.ToolPermission, planned tool.Arguments) bool {
	carried := tenancy.MarkOf(step.Tool, step.ToolVersion, step.Mark)
	return slices.ContainsFunc(planned.Refs(), func(r tool.Ref) bool {
		return permission.Marked(step.ToolVersion).Covers(step.ToolVersion, r.At) || carried.Covers(step.ToolVersion, r.At)
	})
}

func (j *job) resultOf(ctx context.Context, a *task.Aggregate, e *task.Execution,
	stepID string) (json.RawMessage, error) {
	for _, s := range a.StepsOf(e) {
		if s.StepID == stepID && s.Status == task.StepCompleted && s.Result != nil {
			return j.results.Open(ctx, a.Ref(), *s.Result)
		}
	}
	return nil, fmt.Errorf("%s has no result", stepID)
}

// ask opens a step's gate. If the steps were settled under a rule, the tenant's rules decide again, now that the step's
// arguments are known: resume-task asks them.
func (j *job) ask(ctx context.Context, a *task.Aggregate, step task.Step, call task.Call,
	arguments tool.Resolved) (*task.Aggregate, error) {
	if a.Execution().Terms.Rule == nil {
		if err := j.undecidable(ctx, a); err != nil { // else nobody who may decide by the settings is asked
			return nil, err
		}
		return j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
			return a.OpenStepGate(j.in.Run, step.Order, call.Arguments, call.ArgumentsHash, nil, j.Now())
		})
	}
	steps, err := j.called(ctx, a, step, arguments)
	if err != nil {
		return nil, err
	}
	return pipeline.Anew(func() (*task.Aggregate, error) { // a mark may change meanwhile
		permissions, err := j.Store.ToolPermissions(ctx, j.in.Tenant)
		if err != nil {
			return nil, fmt.Errorf("read the tool permissions: %w", err)
		}
		calls, on := decide.CallsOf(j.in.Tenant, steps, permissions)
		return j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
			return a.OpenStepGate(j.in.Run, step.Order, call.Arguments, call.ArgumentsHash, calls, j.Now(), on...)
		})
	})
}

// called returns all steps with what is known of their arguments before this step's call: those of calls that were made
// as they were, this step's as resolved, later ones as they were planned. Rules ask about the request as a whole, so
// that an amount in several steps counts together, and what the steps' stamps were for is asked about as it was.
func (j *job) called(ctx context.Context, a *task.Aggregate, step task.Step,
	arguments tool.Resolved) ([]task.Step, error) {
	e := a.Execution()
	steps := append([]task.Step{}, a.ProcessOf(e).Steps...)
	for i := range steps {
		s := &steps[i]
		row := a.StepOf(e, s.Order)
		switch {
		case s.Order == step.Order:
			s.ToolInput = aggregate.JSON(arguments.JSON())
		case row != nil && row.Status == task.StepCompleted && s.Access != aggregate.Read:
			made, err := j.arguments(ctx, a, row)
			if err != nil {
				return nil, fmt.Errorf("read the arguments of %s: %w", s.StepID, err)
			}
			s.ToolInput = aggregate.JSON(made)
		}
	}
	return steps, nil
}

// arguments returns those of a call that was made; none if they are no longer kept, so that rules can't
// read them.
func (j *job) arguments(ctx context.Context, a *task.Aggregate, row *task.StepResult) (json.RawMessage, error) {
	made, err := j.Results.Open(ctx, a.Ref(), row.Arguments)
	if errors.Is(err, large.ErrExpired) {
		return nil, nil
	}
	return made, err
}
