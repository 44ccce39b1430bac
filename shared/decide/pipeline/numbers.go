package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
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

// NumberingSettled is Numbering for an execution or an action that begins: the day on which it was settled says of which
// fiscal year its number is, if it needs one.
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
