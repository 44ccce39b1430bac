// Command request-approval parks a run of the pipeline until a gate is decided.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/shared/decide/effect"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
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
	return &Handler{
		Store: store.OpenTasks(cfg, env.Table),
		Runs:  sfn.NewFromConfig(cfg),
		Now:   time.Now,
	}, nil
}

type Handler struct {
	Store *store.TaskStore // has the token in a row, where relay-changes reads it to answer it after the decision
	Runs  effect.Runs
	Now   func() time.Time
}

// Handle saves the run's task token in the gate's wait row. It answers the token itself if the gate is already decided
// or needs no approval, so that no run waits for a click that already happened. It also answers the token of an
// outdated run, and a token that a newer one replaces: answering twice is harmless, but a token that is never answered
// keeps its run open for days.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	if in.Gate == "" || in.TaskToken == "" || in.Entered.IsZero() {
		return aggregate.Next{}, fmt.Errorf("gate, task_token and entered are required: %w", explain.ErrBadInput)
	}
	wait := aggregate.Wait{Gate: in.Gate, Token: in.TaskToken, Run: in.Run, Entered: in.Entered, Retry: in.Retry,
		DeleteAfter: in.Entered.Add(pipeline.LongestRun).Unix()}
	a, err := h.Store.Load(ctx, in.Ref())
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("load the task: %w", err)
	}
	open, waits := a.OpenGate()
	if waits && open.Key == in.Gate && !open.Terms.ApprovalRequired {
		if a, err = h.approve(ctx, in, open); err != nil {
			return aggregate.Next{}, err
		}
	}
	if !h.parked(a, in) {
		return h.wake(ctx, a, wait)
	}
	switch err := h.Store.PutWait(ctx, in.Ref(), wait); {
	case errors.Is(err, store.ErrStale):
		return h.wake(ctx, a, wait)
	case err != nil:
		return aggregate.Next{}, fmt.Errorf("keep the token: %w", err)
	}
	// The decision may have been committed between the load and the put, when relay-changes found no wait row yet.
	if a, err = h.Store.Load(ctx, in.Ref()); err != nil {
		return aggregate.Next{}, fmt.Errorf("load the task again: %w", err)
	}
	if h.parked(a, in) {
		return a.Next(h.Now()), nil
	}
	return h.wake(ctx, a, wait)
}

// parked reports whether this run still has to wait at its gate, or for the contest that drafts the gate's content.
func (h *Handler) parked(a *task.Aggregate, in pipeline.Input) bool {
	return a.Awaits(in.Gate) && a.Head.Run == in.Run
}

// approve approves a gate as the system, under the settings at the time when the gate opened.
func (h *Handler) approve(ctx context.Context, in pipeline.Input, open task.OpenGate) (*task.Aggregate, error) {
	a, err := h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		if a.Head.Run != in.Run {
			return aggregate.Change{}, aggregate.ErrSuperseded
		}
		return a.ApproveUnasked(open.ID, h.Now())
	})
	// The gate was decided or cancelled meanwhile: the token must be answered anyway.
	if errors.As(err, new(aggregate.ErrDecided)) || errors.Is(err, aggregate.ErrSuperseded) {
		return h.Store.Load(ctx, in.Ref())
	}
	if err != nil {
		return nil, fmt.Errorf("approve %s: %w", open.Key, err)
	}
	return a, nil
}

func (h *Handler) wake(ctx context.Context, a *task.Aggregate, w aggregate.Wait) (aggregate.Next, error) {
	if _, err := effect.Wake(ctx, h.Runs, w.Token); err != nil {
		return aggregate.Next{}, fmt.Errorf("wake the run: %w", err)
	}
	if err := h.Store.DropWait(ctx, a.Ref(), w); err != nil {
		return aggregate.Next{}, fmt.Errorf("drop the token: %w", err)
	}
	return a.Next(h.Now()), nil
}
