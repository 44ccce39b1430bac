package pipeline

import (
	"context"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// aloneWithin bounds how long the cost is being recorded after a failed commit.
const aloneWithin = 5 * time.Second

// Paid commits the result of model calls together with their usage. If that fails for any reason, alone records only
// the usage before the error is returned, so that the sums of task or session, day and month include it and budgets
// stop further tries. A usage counts once by its id even if both writes succeed.
func Paid[A any](ctx context.Context, u aggregate.Usage, commit, alone func(ctx context.Context) (A, error)) (A, error) {
	a, err := commit(ctx)
	if err == nil || u.Free() {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, aloneWithin)
	defer cancel()
	if _, failed := alone(ctx); failed != nil {
		slog.ErrorContext(ctx, "a cost is not recorded", "usage_id", u.ID, "cost_usd", u.Cost.String(), "err", failed, "why", err)
	}
	return a, err
}

// Charged commits a decision together with the usage of its model calls, by Paid.
func Charged(ctx context.Context, s Committer, a *task.Aggregate, u aggregate.Usage, now time.Time, decide task.Decision) (*task.Aggregate, error) {
	return paid(ctx, s, a.Ref(), u, now, func(ctx context.Context) (*task.Aggregate, error) {
		return s.DecideOn(ctx, a, task.Charge(u, now, decide))
	})
}

func paid(ctx context.Context, s Decider, ref aggregate.Ref, u aggregate.Usage, now time.Time,
	commit func(ctx context.Context) (*task.Aggregate, error),
) (*task.Aggregate, error) {
	return Paid(ctx, u, commit, func(ctx context.Context) (*task.Aggregate, error) {
		return s.Decide(ctx, ref, task.Charge(u, now, func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	})
}
