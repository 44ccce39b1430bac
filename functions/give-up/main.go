// Command give-up records that a run failed permanently. It serves CloseTask, so that a task's card says so and people
// can try again, and GiveUp, where it answers in place of the agent, or marks the action or call as failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct{ boot.Table }

type Handler struct {
	Tasks         *store.TaskStore
	Conversations *store.ConversationStore
	Calls         store.CallStore
	Now           func() time.Time
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	all := store.OpenAll(cfg, env.Table)
	return &Handler{Tasks: store.TasksOf(all), Conversations: store.ConversationsOf(all), Calls: store.CallsOf(all),
		Now: time.Now}, nil
}

// Handle gives up the run's work.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	switch in.Ref().Kind {
	case task.Kind.Name:
		return h.task(ctx, in)
	case call.Kind.Name:
		return h.outside(ctx, in)
	default:
		return h.conversation(ctx, in)
	}
}

// conversation leaves an action that is in progress to the invocation that executes it.
func (h *Handler) conversation(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Conversations.Decide(ctx, in.Ref(), func(a *conversation.Aggregate) (c aggregate.Change, err error) {
		c, err = a.GiveUp(in.Run, h.Now())
		if errors.Is(err, aggregate.ErrSuperseded) { // there is nothing to do
			return a.Rest(in.Run, h.Now())
		}
		return c, err
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("give up: %w", err)
	}
	boot.Count(boot.RunFailed, 1)
	if a.Head.Resting {
		return aggregate.Next{State: aggregate.StateFinish, Outcome: conversation.OutcomeResting}, nil
	}
	return a.Next(h.Now()), nil
}

// outside gives up the work on a call that an outside agent asked for.
func (h *Handler) outside(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	_, err := h.Calls.Decide(ctx, in.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		c, err := a.GiveUp(in.Run, h.Now())
		if errors.Is(err, aggregate.ErrSuperseded) { // there is nothing to do
			return aggregate.Change{}, nil
		}
		return c, err
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("give up a call: %w", err)
	}
	boot.Count(boot.RunFailed, 1)
	return aggregate.Next{State: aggregate.StateFinish, Outcome: conversation.OutcomeResting}, nil
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
