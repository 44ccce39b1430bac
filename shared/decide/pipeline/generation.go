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
	"ringi/shared/explain/errorclass"
)

// Decider commits a decision.
type Decider interface {
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
}

const (
	// MinRetryDelay is the least pause, so that a vendor that asks for hardly any does not fill a run's history.
	MinRetryDelay = 5 * time.Second
	// maxRetryDelay is the longest pause that the vendor did not ask for: the longest single wait of a run.
	maxRetryDelay = 5 * time.Minute
)

// RetryDelay is how long to wait before something is tried again that a vendor put off: never
// shorter than the vendor asked for or least, and longer each time, half of what it has been
// tried for, so that a vendor without room for an hour is asked some twenty times, not 720. With
// up to a quarter more, so that tasks that were turned away together don't come back together.
func RetryDelay(asked, tried, least time.Duration) time.Duration {
	wait := max(asked, min(max(tried/2, least), maxRetryDelay))
	return wait + rand.N(wait/4+1)
}

// resumeAt is when a generation is tried again that a vendor asked to put off.
func resumeAt(asked time.Duration, since, now time.Time) time.Time {
	wait := RetryDelay(asked, now.Sub(since), MinRetryDelay)
	until, last := now.Add(wait), since.Add(task.MaxPausing)
	if until.After(last) { // the last try is made while it still counts
		return now.Add(max(asked, last.Sub(now)))
	}
	return until
}

// Failed does what a generation's failure asks for: a vendor's Retry-After pauses
// the run, for task.MaxPausing in all; what another try may mend goes back to the
// state machine to be retried; and everything else parks the head until a person asks again.
// Of a generation that another invocation got done meanwhile it records nothing but
// what this one came to, which counts towards limit like any other.
func Failed(ctx context.Context, s Decider, in Input, g task.Generation, f task.Failure, limit aggregate.MicroUSD, now time.Time) (aggregate.Next, error) {
	slog.WarnContext(ctx, "no generation", "task_id", in.Task, "layer", g.Layer, "version", g.Version, "reason", f.Reason, "detail", f.Detail, "retry_after_ms", f.RetryAfter.Milliseconds(), "transient", f.Transient)
	mendable := f.Transient && f.RetryAfter == 0
	if mendable && f.Usage.Free() {
		return aggregate.Next{}, fmt.Errorf("%s: %w", g.Layer, errorclass.ErrModelUnavailable)
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
		return aggregate.Next{}, fmt.Errorf("%s: %w", g.Layer, errorclass.ErrModelUnavailable)
	}
	return within(ctx, s, in, a, limit, now)
}
