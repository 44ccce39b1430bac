package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

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

// VersionStore reads and commits for a Version.
type VersionStore interface {
	Committer
	SettingsReader
	SpentReader
}

// BeginVersion records that a version is being made in a state of the run, if that state is due. It returns the task
// after that.
func BeginVersion(
	ctx context.Context, store Committer, in Input, state string,
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

// Run makes the version that was begun in a, and opens its gate. It makes nothing if the gate is already open, or if
// the run skipped ResumeTask and the rows don't prove what that would have checked.
func (v Version[T]) Run(
	ctx context.Context, store VersionStore, in Input, a *task.Aggregate, now func() time.Time,
) (aggregate.Next, error) {
	if next := a.Next(now()); next.State != v.State {
		return next, nil
	}
	making := a.Generating()
	s, err := store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	if in.RunAtOnce > 0 && !a.Decidable(s, now()) {
		return a.Next(now()), nil
	}
	if a.CostReached(s.MaxCost()) {
		return StopForCost(ctx, store, in, s.MaxCost(), now())
	}
	if over, err := OverBudget(ctx, store, in.Tenant, s, now()); err != nil || over.Reason != "" {
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
	return CommitGate(ctx, store, in, a, used, s, now(), func(a *task.Aggregate, s tenancy.Settings) (aggregate.Change, error) {
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
