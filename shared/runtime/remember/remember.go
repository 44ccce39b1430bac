// Package remember keeps for a while what was asked elsewhere, so that it need not be asked again.
package remember

import (
	"cmp"
	"maps"
	"sync"
	"time"
)

// most is how many answers are kept where nobody says.
const most = 1000

// Answers are kept by their keys, each for its time. The zero value is ready.
type Answers[K comparable, V any] struct {
	Most int // is kept; 0: 1000. Beyond that, answers whose time is over are forgotten, or else all

	mu sync.Mutex
	of map[K]answer[V]
}

type answer[V any] struct {
	is    V
	until time.Time
}

// Known is the answer that is still kept.
func (a *Answers[K, V]) Known(key K, now time.Time) (is V, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was, had := a.of[key]
	if !had || !now.Before(was.until) {
		return is, false
	}
	return was.is, true
}

// Keep keeps an answer from now on for so long.
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

// Ask returns the answer that is still kept, or asks anew and keeps what it is told for so long. Errors are not kept.
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
