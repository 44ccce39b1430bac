package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/task"
)

// Decider commits a decision.
type Decider interface {
	Decide(ctx context.Context, ref task.Ref, decide func(*task.Aggregate) (task.Change, error)) (*task.Aggregate, error)
}

// Failure is why a model gave nothing usable.
type Failure struct {
	Reason     task.Reason
	RetryAfter time.Duration // what the vendor asked for; 0: nothing
	Transient  bool          // another try may succeed
}

// leastPause keeps a vendor that asks for no time to speak of from filling a run's history.
const leastPause = 5 * time.Second

// Failed does what a generation's failure asks for: a vendor's Retry-After pauses
// the run, for task.MaxPausing in all; what another try may mend goes back to the
// state machine to be retried; and everything else parks the head until a person asks again.
func Failed(ctx context.Context, s Decider, in Input, layer task.Layer, f Failure, now time.Time) (task.Next, error) {
	slog.WarnContext(ctx, "no generation", "task_id", in.Task, "layer", layer, "reason", f.Reason, "retry_after_ms", f.RetryAfter.Milliseconds(), "transient", f.Transient)
	if f.Transient && f.RetryAfter == 0 {
		return task.Next{}, fmt.Errorf("%s: %w", layer, ErrModelUnavailable)
	}
	a, err := s.Decide(ctx, in.Ref(), func(a *task.Aggregate) (task.Change, error) {
		until := now.Add(max(f.RetryAfter, leastPause))
		if f.RetryAfter > 0 && until.Sub(a.TryingSince()) <= task.MaxPausing {
			return a.Pause(in.Run, until, now)
		}
		return a.Park(in.Run, layer, f.Reason, now)
	})
	if err != nil {
		return task.Next{}, fmt.Errorf("record that %s failed: %w", layer, err)
	}
	return a.Next(now), nil
}
