package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// openOnRoute looks up whom the rules ask about what a gate asks, and opens it along their route. If the rules refuse
// it, or nobody is found, the task ends. If there are no rules any more, the gate opens as the settings say, and that
// of a step under the rule of the steps.
func (h *Handler) openOnRoute(ctx context.Context, a *task.Aggregate, row task.Gated) (*task.Aggregate, error) {
	s, err := h.Store.Settings(ctx, a.Head.TenantID)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	return pipeline.Under(ctx, h.Store, a.Head.TenantID, s, func(s tenancy.Settings) (*task.Aggregate, error) {
		_, step := row.(*task.StepGate)
		switch under := a.UnderRules(s); {
		case step && !under:
			settled := a.Settled(a.Execution())
			o := settled.Opening(settled.Desk.People)
			return h.open(ctx, a, row, &o, s, nil)
		case !under:
			return h.commit(ctx, a, "open a gate without a rule",
				func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
					return a.OpenUnruled(run, row.Key(), s, now)
				})
		}
		var found decide.Found
		on, err := h.byRules(ctx, a, row, s, func(x *decide.Steps, r *rules.Rules, d decide.Seats) (err error) {
			found, err = x.By(r, d)
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case found.Refused != nil:
			return h.refuse(ctx, a, *found.Refused, s, on)
		}
		return h.open(ctx, a, row, found.Opening, s, on)
	})
}

func (h *Handler) open(ctx context.Context, a *task.Aggregate, row task.Gated, o *aggregate.Opening,
	s tenancy.Settings, on []aggregate.Owned) (*task.Aggregate, error) {
	return h.commit(ctx, a, "open a gate along its route",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.OpenOnRoute(run, row.Key(), *o, s, now, on...)
		})
}

func (h *Handler) refuse(
	ctx context.Context, a *task.Aggregate, no task.Refusal, s tenancy.Settings, on []aggregate.Owned,
) (*task.Aggregate, error) {
	return h.commit(ctx, a, "turn away what the rules refuse",
		func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			return a.RefuseByRule(run, no, s, now, on...)
		})
}

// byRules calls do with the rules, and with a directory that has been told all that do asks of it. row is the gate that
// asks, nil of a request whose steps aren't known. It returns the tenant's rows on which the result depends beside the
// settings. It returns aggregate.ErrSettings if the rules are newer than the settings s, and errSilent if Slack can't
// be asked.
func (h *Handler) byRules(ctx context.Context, a *task.Aggregate, row task.Gated, s tenancy.Settings,
	do func(x *decide.Steps, r *rules.Rules, d decide.Seats) error) (on []aggregate.Owned, err error) {
	r, err := decide.Rules(ctx, h.Store, a.Head.TenantID, s)
	if err != nil {
		return nil, err
	}
	x := decide.Steps{Task: a, Settings: s}
	if step, ok := row.(*task.StepGate); ok { // its calls are known, also from arguments that aren't in rows
		x.Calls, x.Settled = step.Calls, a.Settled(a.Execution())
		if len(x.Calls) == 0 {
			x.Calls = []rules.Call{{}} // it may do anything
		}
	} else if row != nil {
		permissions, err := h.Store.ToolPermissions(ctx, a.Head.TenantID)
		if err != nil {
			return nil, fmt.Errorf("read the tool permissions: %w", err)
		}
		x.Calls, on = decide.CallsOf(a.Head.TenantID, a.StepsAsked(row), permissions)
	}
	var standing decide.StandingOrganisation
	if h.Organisation != nil {
		if standing, err = h.Organisation(ctx, a.Head.TenantID); err != nil {
			return nil, fmt.Errorf("read the organisation: %w", err)
		}
	}
	in := decide.Places{
		Slack: h.Slack, Known: &h.people, Team: a.Request.TeamID, Organisation: standing.Organisation, Now: h.Now(),
	}
	asking, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	err = in.Resolve(asking, func(d *decide.OpenDirectory) error { return do(&x, r, d) })
	if errors.Is(err, explain.ErrUnverified) {
		err = fmt.Errorf("who is asked: %w: %w", errSilent, err)
	}
	return append(on, standing.On...), err
}
