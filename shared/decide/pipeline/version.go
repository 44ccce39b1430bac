package pipeline

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Version makes the next version of content that people stamp: a policy or steps.
type Version[T any] struct {
	State  string          // state of the run that makes the version
	Begun  *task.Aggregate // the task with the version begun; nil: Begin begins it
	Begin  func(a *task.Aggregate, run int, now time.Time) (aggregate.Change, error)
	Read   func(ctx context.Context, s tenancy.Settings) error // reads what Make needs; its errors are not the model's
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

// Run records that a version is being made, makes it and opens its gate. It makes nothing if the gate is already open,
// or if the run skipped ResumeTask and the rows don't prove what that would have checked.
func (v Version[T]) Run(ctx context.Context, store VersionStore, in Input, now func() time.Time) (aggregate.Next, error) {
	a := v.Begun
	if a == nil {
		var err error
		a, err = store.Decide(ctx, in.Ref(), in.Due(v.State, func(a *task.Aggregate) (aggregate.Change, error) {
			return v.Begin(a, in.Run, now())
		}, now))
		if err != nil {
			return aggregate.Next{}, fmt.Errorf("begin a version: %w", err)
		}
	}
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
	if err := v.Read(ctx, s); err != nil {
		return aggregate.Next{}, err
	}
	made, used, err := v.Make(ctx, a, s)
	if err != nil {
		return Failed(ctx, store, in, making, v.Failed(err, used), s.MaxCost(), now())
	}
	return CommitGate(ctx, store, in, a, used, s, now(), func(a *task.Aggregate, s tenancy.Settings) (aggregate.Change, error) {
		if a.Generating() != making { // another invocation has finished this version and it was decided
			return aggregate.Change{}, nil
		}
		return v.Finish(a, in.Run, made, s, now())
	})
}
