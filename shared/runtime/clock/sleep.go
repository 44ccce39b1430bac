package clock

import (
	"context"
	"time"
)

// For waits for d. It returns ctx's error if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Within waits for d. It returns false when ctx ends first, and at once if ctx's deadline is earlier.
func LastsFor(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	return Sleep(ctx, d) == nil
}

// Sparing returns ctx with a deadline that is earlier by last, so that there is time to report the outcome. A ctx
// without a deadline is not changed.
func Sparing(ctx context.Context, last time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-last))
	}
	return context.WithCancel(ctx)
}
