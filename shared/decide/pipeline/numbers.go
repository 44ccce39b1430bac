package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/sleep"
)

// What takes a number competes with others for it at most so often, with waits in between that grow up to the longest.
// After that the state machine runs the function again.
const (
	numberTries   = 100
	longestNumber = 300 * time.Millisecond
)

// Numbering has do decide and commit something that may take the next number of a series: with first, and, as long as do
// returns task.ErrNumber, again with the series as it is read then: first was none, or another has taken the number.
func Numbering[T any](ctx context.Context, first task.Series, read func(ctx context.Context) (task.Series, error),
	do func(of task.Series) (T, error)) (T, error) {
	done, err := do(first)
	wait := 10 * time.Millisecond
	for try := range numberTries {
		if !errors.Is(err, task.ErrNumber) || try > 0 && !sleep.Within(ctx, wait/2+rand.N(wait)) {
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
