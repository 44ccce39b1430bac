package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
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
func Failed(ctx context.Context, s Decider, in Input, g task.Generation, f task.Failure, limit aggregate.MicroUSD,
	now time.Time) (aggregate.Next, error) {
	slog.WarnContext(ctx, "no generation", "task_id", in.Task, "layer", g.Layer, "version", g.Version, "reason", f.Reason,
		"detail", f.Detail, "retry_after_ms", f.RetryAfter.Milliseconds(), "transient", f.Transient)
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
	a, err := paid(ctx, s, in.Ref(), f.Usage, now, func(ctx context.Context) (*task.Aggregate,
		error) {
		return s.Decide(ctx, in.Ref(), record)
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("record that %s failed: %w", g.Layer, err)
	}
	if mendable && !a.CostReached(limit) {
		return aggregate.Next{}, fmt.Errorf("%s: %w", g.Layer, explain.ErrModelUnavailable)
	}
	return within(ctx, s, in, a, limit, now)
}

// What takes a number competes with others for it at most so often, with waits in between that grow up to the longest.
// After that the state machine runs the function again.
const (
	numberTries   = 100
	longestNumber = 300 * time.Millisecond
)

// Numbering has do decide and commit something that may take the next number of a series: with first, and, as long as
// do returns task.ErrNumber, again with the series as it is read then: first was none, or another has taken the number.
func Numbering[T any](ctx context.Context, first task.Series, read func(ctx context.Context) (task.Series, error),
	do func(of task.Series) (T, error)) (T, error) {
	done, err := do(first)
	wait := 10 * time.Millisecond
	for try := range numberTries {
		if !errors.Is(err, task.ErrNumber) || try > 0 && !clock.LastsFor(ctx, wait/2+rand.N(wait)) {
			break
		}
		wait = min(2*wait, longestNumber)
		of, unread := read(ctx)
		if unread != nil {
			return done, unread
		}
		done, err = do(of)
	}
	return done, err
}

// Numbers is the store of what may take the number of a decision when it begins.
type Numbers[A any] interface {
	Load(ctx context.Context, ref aggregate.Ref) (A, error)
	SettingsReader
	Series(ctx context.Context, tenant string, year int) (task.Series, error)
}

// NumberingSettled is Numbering for an execution or an action that begins: the day on which it was settled says of
// which fiscal year its number is, if it needs one.
func NumberingSettled[A interface {
	Unnumbered() (settled time.Time, ok bool)
}](ctx context.Context, s Numbers[A], ref aggregate.Ref, begin func(of task.Series) (A, error)) (A, error) {
	read := func(ctx context.Context) (task.Series, error) {
		a, err := s.Load(ctx, ref)
		if err != nil {
			return task.Series{}, fmt.Errorf("load what takes a number: %w", err)
		}
		settled, ok := a.Unnumbered()
		if !ok {
			return task.Series{}, nil
		}
		settings, err := s.Settings(ctx, ref.Tenant)
		if err != nil {
			return task.Series{}, fmt.Errorf("read when fiscal years begin: %w", err)
		}
		return s.Series(ctx, ref.Tenant, settings.FiscalYear(settled))
	}
	return Numbering(ctx, task.Series{}, read, begin)
}
