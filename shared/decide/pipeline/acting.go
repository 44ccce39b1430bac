package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
)

// Conversations is the store of conversations as far as runs need it to end.
type Conversations interface {
	Load(ctx context.Context, ref aggregate.Ref) (*conversation.Aggregate, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide conversation.Decision) (*conversation.Aggregate, error)
}

// Claims is the store of conversations as far as claims need it.
type Claims interface {
	Conversations
	Numbers[*conversation.Aggregate]
}

// Claimed commits a claim and returns the claimed action. One that needs a number takes the next of its series. If the
// commit's answer was lost, Claimed reads the rows to learn whether it was saved. It returns ErrSuperseded if the action
// is not executing under this invocation's claim.
func Claimed(ctx context.Context, s Claims, ref aggregate.Ref, id, invocation string,
	claim conversation.Decision) (*conversation.Action, error) {
	a, err := NumberingSettled(ctx, s, ref, func(of task.Series) (*conversation.Aggregate, error) {
		return s.Decide(ctx, ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return claim(a.Numbering(of))
		})
	})
	if errors.Is(err, aggregate.ErrUnconfirmed) {
		a, err = s.Load(ctx, ref)
	}
	if err != nil {
		return nil, fmt.Errorf("claim the action: %w", err)
	}
	x := a.Action(id)
	if x == nil || x.Claim == nil || x.Claim.Invocation != invocation || x.Status != conversation.ActionExecuting {
		return nil, aggregate.ErrSuperseded
	}
	return x, nil
}

// Heads reads the heads of conversations.
type Heads interface {
	Head(ctx context.Context, ref aggregate.Ref) (conversation.Head, error)
}

// Watch polls a conversation's head until ctx ends, and calls stop when the action executes no more, again after each
// error. While the head can't be read, the action continues.
func Watch(ctx context.Context, s Heads, ref aggregate.Ref, id string, every time.Duration, stop func() error) {
	for clock.Sleep(ctx, every) == nil {
		head, err := s.Head(ctx, ref)
		if err == nil && head.Acting != id && stop() == nil {
			return
		}
	}
}

// Conclude commits what became of an action and returns the run's next state. If the action has already moved on to
// another state, that is no error.
func Conclude(ctx context.Context, s Conversations, in Input, now func() time.Time,
	decide conversation.Decision) (aggregate.Next, error) {
	a, err := s.Decide(ctx, in.Ref(), decide)
	if errors.Is(err, aggregate.ErrMoved) || errors.Is(err, aggregate.ErrInFlight) || errors.Is(err, aggregate.ErrNotDue) {
		a, err = s.Load(ctx, in.Ref())
	}
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("record what became of the action: %w", err)
	}
	if a.Head.Run != in.Run {
		return aggregate.Next{}, aggregate.ErrSuperseded
	}
	return Rest(ctx, s, in, now, a.Next(now()))
}

// Rest ends the run when nothing is left to do.
func Rest(ctx context.Context, s Conversations, in Input, now func() time.Time,
	next aggregate.Next) (aggregate.Next, error) {
	if next.State != aggregate.StateFinish {
		return next, nil
	}
	a, err := s.Decide(ctx, in.Ref(), func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Rest(in.Run, now())
	})
	if errors.Is(err, aggregate.ErrMoved) { // something came meanwhile
		a, err = s.Load(ctx, in.Ref())
	}
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("rest: %w", err)
	}
	return a.Next(now()), nil
}
