package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// Decider commits a decision.
type Decider interface {
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
}

const (
	// MinRetryDelay is the least pause: shorter ones would fill a run's history.
	MinRetryDelay = 5 * time.Second
	// maxRetryDelay is the longest pause unless the vendor asks for more.
	maxRetryDelay = 5 * time.Minute
)

// RetryDelay returns the pause before a vendor is called again: the longest of asked, least and, up to maxRetryDelay,
// half the time spent trying. So a vendor without capacity for an hour is called some twenty times, not 720. It adds up
// to a quarter at random so that tasks don't all return together.
func RetryDelay(asked, tried, least time.Duration) time.Duration {
	wait := max(asked, min(max(tried/2, least), maxRetryDelay))
	return wait + rand.N(wait/4+1)
}

// resumeAt returns when a generation that the vendor postponed is tried again.
func resumeAt(asked time.Duration, since, now time.Time) time.Time {
	wait := RetryDelay(asked, now.Sub(since), MinRetryDelay)
	until, last := now.Add(wait), since.Add(task.MaxPausing)
	if until.After(last) { // the last try is made when the limit is reached
		return now.Add(max(asked, last.Sub(now)))
	}
	return until
}

// Failed handles a generation's failure. A vendor's Retry-After pauses the run, for task.MaxPausing in total. An error
// that a retry may fix is returned to the state machine. Any other error parks the head until a person asks again. If
// another invocation has finished the generation meanwhile, only the usage of this one is recorded, which counts
// towards limit like any other.
func Failed(ctx context.Context, s Decider, in Input, g task.Generation, f task.Failure, limit aggregate.MicroUSD, now time.Time) (aggregate.Next, error) {
	slog.WarnContext(ctx, "no generation", "task_id", in.Task, "layer", g.Layer, "version", g.Version, "reason", f.Reason, "detail", f.Detail, "retry_after_ms", f.RetryAfter.Milliseconds(), "transient", f.Transient)
	mendable := f.Transient && f.RetryAfter == 0
	if mendable && f.Usage.Free() {
		return aggregate.Next{}, fmt.Errorf("%s: %w", g.Layer, explain.ErrModelUnavailable)
	}
	record := task.Charge(f.Usage, now, func(a *task.Aggregate) (aggregate.Change, error) {
		until := resumeAt(f.RetryAfter, a.TryingSince(), now)
		switch {
		case mendable:
			return aggregate.Change{}, nil
		case f.RetryAfter > 0 && until.Sub(a.TryingSince()) <= task.MaxPausing:
			return a.WaitUntil(in.Run, g, until, now)
		}
		return a.Park(in.Run, g, f.Reason, cmp.Or(f.Said, f.Detail), now)
	})
	a, err := paid(ctx, s, in.Ref(), f.Usage, now, func(ctx context.Context) (*task.Aggregate, error) { return s.Decide(ctx, in.Ref(), record) })
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("record that %s failed: %w", g.Layer, err)
	}
	if mendable && !a.CostReached(limit) {
		return aggregate.Next{}, fmt.Errorf("%s: %w", g.Layer, explain.ErrModelUnavailable)
	}
	return within(ctx, s, in, a, limit, now)
}
