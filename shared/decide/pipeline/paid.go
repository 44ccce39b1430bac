package pipeline

import (
	"context"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// aloneWithin bounds the record of a cost whose commit failed.
const aloneWithin = 5 * time.Second

// Paid commits what a model's calls made. Where that fails, for whatever reason, the calls are paid all the same: alone
// then records what they cost, as calls that made nothing, before the error goes up, so that task or session, day and
// month count it and a budget stops further tries. A usage has an id: one that was recorded after all counts once.
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

// Charged commits a decision with what the model's calls behind it came to, by Paid.
func Charged(ctx context.Context, s Committer, a *task.Aggregate, u aggregate.Usage, now time.Time, decide task.Decision) (*task.Aggregate, error) {
	return paid(ctx, s, a.Ref(), u, now, func(ctx context.Context) (*task.Aggregate, error) {
		return s.DecideOn(ctx, a, task.Charge(u, now, decide))
	})
}

// paid is Paid for a task.
func paid(ctx context.Context, s Decider, ref aggregate.Ref, u aggregate.Usage, now time.Time,
	commit func(ctx context.Context) (*task.Aggregate, error),
) (*task.Aggregate, error) {
	return Paid(ctx, u, commit, func(ctx context.Context) (*task.Aggregate, error) {
		return s.Decide(ctx, ref, task.Charge(u, now, func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	})
}
