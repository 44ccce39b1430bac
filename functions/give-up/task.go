package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// Tasks is the store of tasks.
type Tasks interface {
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
}

// task records the failure of the task's newest run. If an execution exists, the execution and the task fail;
// otherwise the generation is parked. While a gate waits, task records nothing and the run ends: the decision starts
// the next run, or the sweeper does if no person is asked. While a step's call is in progress, the run continues and
// waits for its outcome.
func (h *Handler) task(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Tasks.Decide(ctx, in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(in.Run, reason(in.Error, a), h.Now())
	})
	if errors.Is(err, aggregate.ErrInFlight) {
		if a, err = h.Tasks.Load(ctx, in.Ref()); err == nil {
			return a.Next(h.Now()), nil
		}
	}
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("give up run %d: %w", in.Run, err)
	}
	if a.Head.Run != in.Run { // a decision has started the next run
		return aggregate.Next{}, aggregate.ErrSuperseded
	}
	if open, waits := a.OpenGate(); waits && a.Head.Parked == nil {
		return aggregate.Next{State: task.StateFinish, Gate: open.Key, Outcome: "waiting"}, nil
	}
	if p := a.Contesting(); p != nil && a.Head.Parked == nil { // the end of the contest starts the next run
		return aggregate.Next{State: task.StateFinish, Gate: p.Key(), Outcome: "waiting"}, nil
	}
	return a.Next(h.Now()), nil
}

func reason(caught string, a *task.Aggregate) aggregate.Reason {
	if caught == pipeline.ModelUnavailable && a.Layer() != task.L4 {
		return task.ReasonModelUnavailable
	}
	return task.ReasonRunFailed
}
