// Package clock waits and remembers for a time, as far as a context lasts.
package clock

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"
)

// Sleep waits for d. It returns ctx's error if ctx ends first.
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

// LastsFor waits for d. It returns false when ctx ends first, and at once if ctx's deadline is earlier.
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

// most is the default size of a cache.
const most = 1000

// Answers caches values by key, each for its own time. The zero value is ready to use.
type Answers[K comparable, V any] struct {
	Most int // largest number of answers; 0: 1000. Beyond it, expired answers are dropped, or else all

	mu sync.Mutex
	of map[K]answer[V]
}

type answer[V any] struct {
	is    V
	until time.Time
}

// Known returns the cached answer, if there is one.
func (a *Answers[K, V]) Known(key K, now time.Time) (is V, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was, had := a.of[key]
	if !had || !now.Before(was.until) {
		return is, false
	}
	return was.is, true
}

// Keep caches an answer for the duration long.
func (a *Answers[K, V]) Keep(key K, is V, now time.Time, long time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	limit := cmp.Or(a.Most, most)
	if len(a.of) >= limit {
		maps.DeleteFunc(a.of, func(_ K, was answer[V]) bool { return !now.Before(was.until) })
	}
	if a.of == nil || len(a.of) >= limit {
		a.of = map[K]answer[V]{}
	}
	a.of[key] = answer[V]{is, now.Add(long)}
}

// Forget drops what is cached for a key.
func (a *Answers[K, V]) Forget(key K) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.of, key)
}

// Ask returns the cached answer, or calls ask and caches its answer for the duration long. Errors are not cached.
func (a *Answers[K, V]) Ask(key K, now time.Time, long time.Duration, ask func() (V, error)) (V, error) {
	if is, ok := a.Known(key, now); ok {
		return is, nil
	}
	is, err := ask()
	if err == nil {
		a.Keep(key, is, now, long)
	}
	return is, err
}
