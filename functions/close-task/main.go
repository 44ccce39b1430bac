// Command close-task records that a run of the pipeline failed, so that the card says so and people can try again.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{Store: store.OpenTasks(cfg, env.Table), Now: time.Now}, nil
}

type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
}

type Handler struct {
	Store Store
	Now   func() time.Time
}

// Handle records the failure of the task's newest run. If an execution exists, the execution and the task fail;
// otherwise the generation is parked. While a gate waits, Handle records nothing and the run ends: the decision starts
// the next run, or the sweeper does if no person is asked. While a step's call is in progress, the run continues and
// waits for its outcome.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(in.Run, reason(in.Error, a), h.Now())
	})
	if errors.Is(err, aggregate.ErrInFlight) {
		if a, err = h.Store.Load(ctx, in.Ref()); err == nil {
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
