// Package sleep waits and works within a context's time.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or returns why ctx ended first.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Within waits for d. It reports false when ctx ends first, and at once when its
// deadline comes before.
func Within(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	return For(ctx, d) == nil
}

// Sparing is ctx without the last of its time, which is kept for saying what came of the work. Without a deadline it is
// ctx.
func Sparing(ctx context.Context, last time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-last))
	}
	return context.WithCancel(ctx)
}
