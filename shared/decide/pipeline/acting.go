package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
)

// Conversations is the store of conversations as far as runs need it.
type Conversations interface {
	Load(ctx context.Context, ref aggregate.Ref) (*conversation.Aggregate, error)
	Head(ctx context.Context, ref aggregate.Ref) (conversation.Head, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide conversation.Decision) (*conversation.Aggregate, error)
}

// Claimed commits a claim and returns the claimed action. If the commit's answer was lost, Claimed reads the rows to
// learn whether it was saved. It returns ErrSuperseded if the action is not executing under this invocation's claim.
func Claimed(ctx context.Context, s Conversations, ref aggregate.Ref, id, invocation string,
	claim conversation.Decision) (*conversation.Action, error) {
	a, err := s.Decide(ctx, ref, claim)
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

// Watch polls a conversation's head until ctx ends, and calls stop when the action executes no more, again after each
// error. While the head can't be read, the action continues.
func Watch(ctx context.Context, s Conversations, ref aggregate.Ref, id string, every time.Duration, stop func() error) {
	for clock.Sleep(ctx, every) == nil {
		head, err := s.Head(ctx, ref)
		if err == nil && head.Acting != id && stop() == nil {
			return
		}
	}
}

// Insist does again, while the table or the bucket is unavailable and until that time, what no other invocation can do:
// it alone knows how a call ended.
func Insist(ctx context.Context, now func() time.Time, until time.Time, do func() error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := do()
		if err == nil || Name(err) != Unavailable || !now().Add(wait).Before(until) || !clock.LastsFor(ctx, wait) {
			return err
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

// aloneWithin bounds how long the cost is being recorded after a failed commit.
const aloneWithin = 5 * time.Second

// Paid commits the result of model calls together with their usage. If that fails for any reason, alone records only
// the usage before the error is returned, so that the sums of task or session, day and month include it and budgets
// stop further tries. A usage counts once by its id even if both writes succeed.
func Paid[A any](
	ctx context.Context, u aggregate.Usage, commit, alone func(ctx context.Context) (A, error),
) (A, error) {
	a, err := commit(ctx)
	if err == nil || u.Free() {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, aloneWithin)
	defer cancel()
	if _, failed := alone(ctx); failed != nil {
		slog.ErrorContext(ctx, "a cost is not recorded", "usage_id", u.ID, "cost_usd", u.Cost.String(), "err", failed, "why",
			err)
	}
	return a, err
}

// Charged commits a decision together with the usage of its model calls, by Paid.
func Charged(ctx context.Context, s Tasks, a *task.Aggregate, u aggregate.Usage, now time.Time,
	decide task.Decision) (*task.Aggregate, error) {
	return paid(ctx, s, a.Ref(), u, now, func(ctx context.Context) (*task.Aggregate, error) {
		return s.DecideOn(ctx, a, task.Charge(u, now, decide))
	})
}

func paid(ctx context.Context, s Tasks, ref aggregate.Ref, u aggregate.Usage, now time.Time,
	commit func(ctx context.Context) (*task.Aggregate, error),
) (*task.Aggregate, error) {
	return Paid(ctx, u, commit, func(ctx context.Context) (*task.Aggregate, error) {
		return s.Decide(ctx, ref, task.Charge(u, now, func(*task.Aggregate) (aggregate.Change,
			error) {
			return aggregate.Change{}, nil
		}))
	})
}

// Version makes the next version of content that people stamp: a policy or steps.
type Version[T any] struct {
	// State is the run's that makes the version.
	State string
	// Read reads what Make and Finish need under these settings, again before Finish is tried again; its errors are not
	// the model's.
	Read   func(ctx context.Context, s tenancy.Settings) error
	Make   func(ctx context.Context, a *task.Aggregate, s tenancy.Settings) (T, aggregate.Usage, error)
	Failed func(err error, used aggregate.Usage) task.Failure // classifies Make's error
	Finish func(a *task.Aggregate, run int, made T, s tenancy.Settings, now time.Time) (aggregate.Change, error)
}

// BeginVersion records that a version is being made in a state of the run, if that state is due. It returns the task
// after that.
func BeginVersion(
	ctx context.Context, store Tasks, in Input, state string,
	begin func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error), now func() time.Time,
) (*task.Aggregate, error) {
	a, err := store.Decide(ctx, in.Ref(), in.Due(state, func(a *task.Aggregate) (aggregate.Change, error) {
		return begin(a, in.Run, now())
	}, now))
	if err != nil {
		return nil, fmt.Errorf("begin a version: %w", err)
	}
	return a, nil
}

// Run makes the version that was begun in a, and opens its gate. It makes nothing if the gate is already open.
func (v Version[T]) Run(
	ctx context.Context, store Tasks, in Input, a *task.Aggregate, now func() time.Time,
) (aggregate.Next, error) {
	if next := a.Next(now()); next.State != v.State {
		return next, nil
	}
	making := a.Generating()
	s, err := store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	if a.CostReached(s.MaxCost()) {
		return StopForCost(ctx, store, in, s.MaxCost(), now())
	}
	over, err := task.Failure{}, error(nil)
	if a.Matter() == nil { // for a form no model is asked
		over, err = OverBudget(ctx, store, in.Tenant, s, now())
	}
	if err != nil || over.Reason != "" {
		return NotNow(ctx, store, in, making, over, s.MaxCost(), now(), err)
	}
	err = v.Read(ctx, s)
	if errors.Is(err, aggregate.ErrSettings) {
		err = fmt.Errorf("%w: %w", aggregate.ErrConflict, err) // no model is paid yet: the run tries again
	}
	if err != nil {
		return aggregate.Next{}, err
	}
	made, used, err := v.Make(ctx, a, s)
	if err != nil {
		return Failed(ctx, store, in, making, v.Failed(err, used), s.MaxCost(), now())
	}
	stale := false
	return CommitGate(ctx, store, in, a, used, s, now(), func(a *task.Aggregate, s tenancy.Settings) (aggregate.Change,
		error) {
		if stale { // what Finish needs has changed
			if err := v.Read(ctx, s); err != nil {
				return aggregate.Change{}, err
			}
		}
		stale = true
		if a.Generating() != making { // another invocation has finished this version and it was decided
			return aggregate.Change{}, nil
		}
		return v.Finish(a, in.Run, made, s, now())
	})
}
