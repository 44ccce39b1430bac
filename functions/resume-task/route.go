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

// open looks up whom the rules ask about what a gate asks, and opens it along their route. If the rules refuse it, or
// nobody is found, the task ends. If there are no rules any more, the gate opens as the settings say, and that of a
// step under the rule of the steps. It returns errSilent if Slack can't be asked.
func (h *Handler) open(ctx context.Context, a *task.Aggregate, row task.Gated) (*task.Aggregate, error) {
	return pipeline.Under(ctx, h.Store, a.Head.TenantID, func(s tenancy.Settings) (*task.Aggregate, error) {
		about, on, err := h.about(ctx, a, row, s)
		if err != nil {
			return nil, err
		}
		find := decide.Finder{Store: h.Store, Slack: h.Slack, Known: &h.people, Within: slackWithin}
		found, more, err := find.Find(ctx, a.Head.TenantID, a.Request.TeamID, s, h.Now(), about)
		if errors.Is(err, explain.ErrUnverified) {
			err = fmt.Errorf("who is asked: %w: %w", errSilent, err)
		}
		if err != nil {
			return nil, err
		}
		on = append(on, more...)
		return h.commit(ctx, a, "open a gate", func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error) {
			if found.Refused != nil {
				return a.RefuseByRule(run, *found.Refused, s, now, on...)
			}
			return a.Open(run, row.Key(), found.Opening, s, now, on...)
		})
	})
}

// about is what the rules are asked about for a gate, with the rows of the tools on which that depends.
func (h *Handler) about(ctx context.Context, a *task.Aggregate, row task.Gated, s tenancy.Settings) (*decide.About,
	[]aggregate.Owned, error) {
	if step, is := row.(*task.StepGate); is { // its calls are known, also from arguments that aren't in rows
		calls := step.Calls
		if len(calls) == 0 {
			calls = []rules.Call{{}} // it may do anything
		}
		return decide.AboutSteps(a, calls, a.Settled(a.Execution()), s), nil, nil
	}
	permissions, err := h.Store.ToolPermissions(ctx, a.Head.TenantID)
	if err != nil {
		return nil, nil, fmt.Errorf("read the tool permissions: %w", err)
	}
	calls, on := decide.CallsOf(a.Head.TenantID, a.Process().Steps, permissions)
	return decide.AboutSteps(a, calls, nil, s), on, nil
}
