package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Tasks is the store of tasks as far as generations need it. DecideOn decides on a task that the caller has loaded.
type Tasks interface {
	SettingsReader
	SpentReader
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
	DecideOn(ctx context.Context, a *task.Aggregate, decide task.Decision) (*task.Aggregate, error)
}

// CommitUsage commits the result of model calls together with their usage, by Paid, and stops the task if its cost
// limit is reached.
func CommitUsage(ctx context.Context, s Tasks, in Input, a *task.Aggregate, u aggregate.Usage,
	limit aggregate.MicroUSD, now time.Time, decide task.Decision) (aggregate.Next, error) {
	a, err := Charged(ctx, s, a, u, now, decide)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("commit a generation: %w", err)
	}
	return within(ctx, s, in, a, limit, now)
}

// SettingsReader reads a tenant's settings.
type SettingsReader interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
}

// mostChanges is up to how many times Anew does something.
const mostChanges = 5

// Anew does something, and anew as long as that returns aggregate.ErrSettings: a row that it relied on, such as the
// settings, a tool's permission or a key, has changed meanwhile.
func Anew[T any](do func() (T, error)) (done T, err error) {
	for range mostChanges {
		if done, err = do(); !errors.Is(err, aggregate.ErrSettings) {
			return done, err
		}
	}
	return done, fmt.Errorf("what it relies on changes all the time: %w", aggregate.ErrConflict)
}

// Under decides by a tenant's settings, and anew as long as that returns aggregate.ErrSettings: they, the rules or the
// organisation have changed meanwhile.
func Under[T any](ctx context.Context, from SettingsReader, tenant string,
	decide func(s tenancy.Settings) (T, error)) (T, error) {
	return Anew(func() (done T, err error) {
		s, err := from.Settings(ctx, tenant)
		if err != nil {
			return done, fmt.Errorf("read the settings: %w", err)
		}
		return decide(s)
	})
}

// CommitGate is CommitUsage for a decision that opens a gate, which must use the settings at that moment. If they
// changed during the model's calls, it reads them again and keeps the result.
func CommitGate(ctx context.Context, s Tasks, in Input, a *task.Aggregate, u aggregate.Usage,
	settings tenancy.Settings, now time.Time, open func(*task.Aggregate, tenancy.Settings) (aggregate.Change, error),
) (aggregate.Next, error) {
	a, err := paid(ctx, s, a.Ref(), u, now, func(ctx context.Context) (*task.Aggregate, error) {
		for {
			after, err := s.DecideOn(ctx, a, task.Charge(u, now,
				in.Entering(func(a *task.Aggregate) (aggregate.Change, error) { return open(a, settings) })))
			if !errors.Is(err, aggregate.ErrSettings) || ctx.Err() != nil {
				return after, err
			}
			if settings, err = s.Settings(ctx, in.Tenant); err != nil {
				return nil, fmt.Errorf("read the settings again: %w", err)
			}
		}
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("commit a generation: %w", err)
	}
	return within(ctx, s, in, a, settings.MaxCost(), now)
}

// within returns the run's next state after a charge, or stops the task if its cost has reached the limit. It also
// checks whether the run was superseded or the task has ended, because a charge is committed even then. Charges of
// other invocations don't change the head, so with a limit it reads the rows again.
func within(ctx context.Context, s Tasks, in Input, a *task.Aggregate, limit aggregate.MicroUSD,
	now time.Time) (aggregate.Next, error) {
	switch {
	case a.Head.Run == in.Run && a.Head.Ended != nil && a.Head.Ended.ByRun():
		return a.Next(now), nil
	case a.Head.Run != in.Run || a.Head.Ended != nil:
		return aggregate.Next{}, aggregate.ErrSuperseded
	case limit > 0:
		return StopForCost(ctx, s, in, limit, now)
	}
	return a.Next(now), nil
}

// StopForCost reads a task's rows, ends it if it has reached the cost limit, and returns the run's next state.
func StopForCost(
	ctx context.Context, s Tasks, in Input, limit aggregate.MicroUSD, now time.Time,
) (aggregate.Next, error) {
	a, err := s.Decide(ctx, in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.StopForCost(in.Run, limit, now)
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("stop a task that cost what it may: %w", err)
	}
	if a.CostReached(limit) {
		slog.InfoContext(ctx, "cost limit", "task_id", in.Task, "spent_usd", a.Spent().String(), "limit_usd", limit.String())
	}
	return a.Next(now), nil
}

// SpentReader reads the cost of all tasks of a tenant.
type SpentReader interface {
	Spent(ctx context.Context, tenant string, now time.Time) (tenancy.Sums, error)
}

// OverBudget returns a failure if a tenant's daily budget is used up; otherwise its Reason is empty. Calls
// in progress are not counted yet, so the cost may exceed the budget by theirs.
func OverBudget(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings,
	now time.Time) (over task.Failure, err error) {
	_, err = WithinBudgets(ctx, s, tenant, settings, now)
	if stop, is := errors.AsType[task.StopError](err); is {
		return task.Failure{Reason: stop.Reason, Detail: stop.Detail}, nil
	}
	return over, err
}

// WithinBudgets returns the rest of the daily budget, 0 if there is none. It returns task.StopError when nothing is
// left.
func WithinBudgets(ctx context.Context, s SpentReader, tenant string, settings tenancy.Settings,
	now time.Time) (left aggregate.MicroUSD, err error) {
	most := settings.MaxCostDay()
	if most == 0 {
		return 0, nil
	}
	sums, err := s.Spent(ctx, tenant, now)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read what the tenant has spent: %w", err)
	case sums.Day >= most:
		return 0, task.StopError{Reason: task.ReasonDayBudget, Detail: sums.Day.String() + "/" + most.String()}
	}
	return most - sums.Day, nil
}

// NotNow parks a generation that a budget does not allow until a person asks for it again. err is the error of reading
// the sums.
func NotNow(ctx context.Context, s Tasks, in Input, g task.Generation, over task.Failure, limit aggregate.MicroUSD,
	now time.Time, err error) (aggregate.Next, error) {
	if err != nil {
		return aggregate.Next{}, err
	}
	return Failed(ctx, s, in, g, over, limit, now)
}

// ModelName returns the deployment's model if it sets one, else the tenant's.
func ModelName(override string, s tenancy.Settings) string {
	return cmp.Or(override, s.Model)
}
