package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// ask opens a step's gate. If the steps were settled under a rule, the tenant's rules decide again, now that the step's
// arguments are known: whom they ask, whether people must be looked up for that, or that they refuse it.
func (j *job) ask(ctx context.Context, a *task.Aggregate, step task.Step, call task.Call,
	arguments tool.Resolved) (*task.Aggregate, error) {
	e := a.Execution()
	if e.Terms.Rule == nil {
		if err := j.undecidable(ctx, a); err != nil { // else nobody who may decide by the settings is asked
			return nil, err
		}
	}
	settings, err := j.Store.Settings(ctx, j.in.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read whether rules say who is asked: %w", err)
	}
	return pipeline.Under(ctx, j.Store, j.in.Tenant, settings, func(s tenancy.Settings) (*task.Aggregate, error) {
		if e.Terms.Rule == nil || !a.UnderRules(s) {
			return j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
				return a.OpenStepGate(j.in.Run, step.Order, call.Arguments, call.ArgumentsHash, j.Now())
			})
		}
		return j.askByRules(ctx, a, step, call, arguments, s)
	})
}

// askByRules opens a step's gate as the rules say. It returns aggregate.ErrSettings if the settings, the rules, the tools'
// marks or the organisation have changed since s was read.
func (j *job) askByRules(ctx context.Context, a *task.Aggregate, step task.Step, call task.Call,
	arguments tool.Resolved, s tenancy.Settings) (*task.Aggregate, error) {
	r, err := decide.Rules(ctx, j.Store, j.in.Tenant, s)
	if err != nil {
		return nil, err
	}
	organised, org, err := decide.Organised(ctx, j.Store, j.in.Tenant)
	if err != nil {
		return nil, err
	}
	permissions, err := j.Store.ToolPermissions(ctx, j.in.Tenant)
	if err != nil {
		return nil, fmt.Errorf("read the tool permissions: %w", err)
	}
	steps, err := j.called(ctx, a, step, arguments)
	if err != nil {
		return nil, err
	}
	calls, on := decide.CallsOf(j.in.Tenant, steps, permissions)
	x := decide.Steps{
		Task: a, Calls: calls, Settled: a.Settled(a.Execution()),
		Settings: s, Now: j.Now(), Organised: organised,
	}
	found, err := x.ByIDs(r)
	if err != nil {
		return nil, err
	}
	on = append(on, org)
	return j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGateBy(j.in.Run, step.Order, call.Arguments, call.ArgumentsHash, found, decide.Kept(x.Calls), s,
			j.Now(), on...)
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

// arguments returns those of a call that was made; none if they are no longer kept, so that amount and destination are
// unknown.
func (j *job) arguments(ctx context.Context, a *task.Aggregate, row *task.StepResult) (json.RawMessage, error) {
	made, err := j.Results.Open(ctx, a.Ref(), row.Arguments)
	if errors.Is(err, large.ErrExpired) {
		return nil, nil
	}
	return made, err
}
