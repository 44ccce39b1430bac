package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/pipeline"
	"ringi/shared/task"
)

// sweep does what time alone decides, then every effect, and only then moves the
// task's due time on. It reports how many things it had to repair.
func (h *Handler) sweep(ctx context.Context, ref aggregate.Ref) (repairs int, err error) {
	ctx, cancel := context.WithTimeout(ctx, perTask)
	defer cancel()
	defer pipeline.Recovered(ctx, &err, "task_id", ref.Task)
	a, err := h.Store.Load(ctx, ref)
	if err != nil {
		return 0, fmt.Errorf("load the task: %w", err)
	}
	for _, d := range []struct {
		decide task.Decision
		repair int // what it counts for
	}{{h.expire, 0}, {h.gateOver(ctx), 0}, {h.settleLeases, 0}, {h.overLimit, 0}, {h.stuck, 1}} {
		if _, err := d.decide(a); notDue(err) {
			continue
		}
		n, err := h.Store.Decide(ctx, ref, d.decide)
		switch {
		case err == nil:
			a = n
			repairs += d.repair
		case !notDue(err):
			return repairs, fmt.Errorf("settle: %w", err)
		}
	}
	n, err := h.Effects.Run(ctx, a, true)
	repairs += n
	if a.Effects(h.Now()).Cards && !a.InLine(h.Now()) { // people see where the task is even when its run can't be reached
		err = errors.Join(err, h.Effects.Redraw(ctx, ref, aggregate.NewID()))
	}
	if err != nil {
		return repairs, err
	}
	due := a.DueAt(h.Now())
	if soon := h.Now().Add(time.Second); due != nil && due.Before(soon) {
		due = &soon
	}
	if err := h.Store.Postpone(ctx, ref, a.Head, due); err != nil && !errors.Is(err, aggregate.ErrConflict) {
		return repairs, fmt.Errorf("put off: %w", err)
	}
	return repairs, nil // on a conflict the task moved, and is due anew
}

func notDue(err error) bool {
	return errors.Is(err, aggregate.ErrNotDue) || errors.Is(err, aggregate.ErrInFlight) || errors.Is(err, aggregate.ErrSuperseded)
}

func (h *Handler) expire(a *task.Aggregate) (task.Change, error) { return a.Expire(h.Now()) }

// gateOver notes on a message that was written beside a gate that the gate was decided.
func (h *Handler) gateOver(ctx context.Context) task.Decision {
	return func(a *task.Aggregate) (task.Change, error) {
		row := a.Choosing()
		if row == nil || row.GateOver {
			return task.Change{}, aggregate.ErrNotDue
		}
		other, err := h.Store.Load(ctx, aggregate.Ref{Tenant: a.Head.TenantID, Task: row.Beside.TaskID})
		if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
			return task.Change{}, fmt.Errorf("load the task beside: %w", err)
		}
		return a.GateOver(other, h.Now())
	}
}

// settleLeases records the calls that were out when their task ended.
func (h *Handler) settleLeases(a *task.Aggregate) (task.Change, error) {
	if a.Head.Ended == nil {
		return task.Change{}, aggregate.ErrNotDue
	}
	return a.SettleLeases(h.Now())
}

func (h *Handler) overLimit(a *task.Aggregate) (task.Change, error) {
	if !a.OverLimit(h.Now()) {
		return task.Change{}, aggregate.ErrNotDue
	}
	return a.FailExecution(a.Head.Run, task.ReasonTimeout, fmt.Sprint(a.Execution().Terms.L4TimeoutSeconds), h.Now())
}

func (h *Handler) stuck(a *task.Aggregate) (task.Change, error) {
	if !a.Stuck(h.Now()) {
		return task.Change{}, aggregate.ErrNotDue
	}
	return a.RestartRun(a.Head.Run, h.Now())
}
