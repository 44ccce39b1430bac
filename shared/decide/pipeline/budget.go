package pipeline

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// SpentReader reads what all tasks of a tenant have cost.
type SpentReader interface {
	Spent(ctx context.Context, tenant string, now time.Time) (tenancy.Sums, error)
}

// OverBudget is the failure of a call of a model that a tenant's budget of the day or month leaves no room for; its
// Reason is empty while there is room. What is under way at that moment is not known yet, so that the sum may go beyond
// the budget by it.
func OverBudget(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings, now time.Time) (task.Failure, error) {
	over, _, err := budgets(ctx, s, tenant, settings, now)
	return over, err
}

// WithinBudgets is what the budgets leave, 0 when there are none. It returns task.StopError when they leave nothing.
func WithinBudgets(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings, now time.Time) (aggregate.MicroUSD, error) {
	over, left, err := budgets(ctx, s, tenant, settings, now)
	if err == nil && over.Reason != "" {
		err = task.StopError{Reason: over.Reason, Detail: over.Detail}
	}
	return left, err
}

// MostOfDay is what the counter of the tenant's day may come to, 0: anything.
func MostOfDay(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings, now time.Time) (aggregate.MicroUSD, error) {
	if !settings.HasBudgets() {
		return 0, nil
	}
	sums, err := s.Spent(ctx, tenant, now)
	if err != nil {
		return 0, fmt.Errorf("read what the tenant has spent: %w", err)
	}
	return settings.MostOfDay(sums), nil
}

func budgets(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings, now time.Time) (over task.Failure, left aggregate.MicroUSD, err error) {
	if !settings.HasBudgets() {
		return over, 0, nil
	}
	sums, err := s.Spent(ctx, tenant, now)
	if err != nil {
		return over, 0, fmt.Errorf("read what the tenant has spent: %w", err)
	}
	for _, b := range []struct {
		spent, most aggregate.MicroUSD
		reason      aggregate.Reason
	}{{sums.Month, settings.MaxCostMonth(), task.ReasonMonthBudget}, {sums.Day, settings.MaxCostDay(), task.ReasonDayBudget}} {
		switch {
		case b.most == 0:
		case b.spent >= b.most:
			return task.Failure{Reason: b.reason, Detail: b.spent.String() + "/" + b.most.String()}, 0, nil
		case left == 0 || b.most-b.spent < left:
			left = b.most - b.spent
		}
	}
	return over, left, nil
}

// NotNow parks a generation that a budget leaves no room for, until a person asks for it again; err is that of reading
// the sums.
func NotNow(ctx context.Context, s Decider, in Input, g task.Generation, over task.Failure, limit aggregate.MicroUSD, now time.Time, err error) (aggregate.Next, error) {
	if err != nil {
		return aggregate.Next{}, err
	}
	return Failed(ctx, s, in, g, over, limit, now)
}
