package pipeline

import (
	"context"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// SpentReader reads the cost of all tasks of a tenant.
type SpentReader interface {
	Spent(ctx context.Context, tenant string, now time.Time) (tenancy.Sums, error)
}

// OverBudget returns a failure if a tenant's daily or monthly budget is used up; otherwise its Reason is empty. Calls
// in progress are not counted yet, so the cost may exceed the budget by theirs.
func OverBudget(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings, now time.Time) (task.Failure, error) {
	over, _, err := budgets(ctx, s, tenant, settings, now)
	return over, err
}

// WithinBudgets returns the rest of the budgets, 0 if there are none. It returns task.StopError when nothing is left.
func WithinBudgets(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings, now time.Time) (aggregate.MicroUSD, error) {
	over, left, err := budgets(ctx, s, tenant, settings, now)
	if err == nil && over.Reason != "" {
		err = task.StopError{Reason: over.Reason, Detail: over.Detail}
	}
	return left, err
}

// MostOfDay returns the limit for the counter of the tenant's day, 0 for none.
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

// NotNow parks a generation that a budget does not allow until a person asks for it again. err is the error of reading
// the sums.
func NotNow(ctx context.Context, s Decider, in Input, g task.Generation, over task.Failure, limit aggregate.MicroUSD, now time.Time, err error) (aggregate.Next, error) {
	if err != nil {
		return aggregate.Next{}, err
	}
	return Failed(ctx, s, in, g, over, limit, now)
}
