package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/sleep"
)

// An execution that begins competes with others for its number at most so often, with waits in between that grow up to
// the longest. After that the state machine runs this function again.
const (
	numberTries   = 100
	longestNumber = 300 * time.Millisecond
)

// numbering has begin decide and commit the beginning of an execution. One that needs a number takes the next of its
// series. If another takes that first, the series is read and decided on again.
func (h *Handler) numbering(ctx context.Context, in pipeline.Input,
	begin func(of task.Series) (*task.Aggregate, error)) (*task.Aggregate, error) {
	a, err := begin(task.Series{})
	wait := 10 * time.Millisecond
	for try := range numberTries {
		if !errors.Is(err, task.ErrNumber) || try > 0 && !sleep.Within(ctx, wait/2+rand.N(wait)) {
			break
		}
		wait = min(2*wait, longestNumber)
		of, unread := h.series(ctx, in)
		if unread != nil {
			return nil, unread
		}
		a, err = begin(of)
	}
	return a, err
}

// series reads the series of which the execution takes the next number; it is empty if that needs none.
func (h *Handler) series(ctx context.Context, in pipeline.Input) (task.Series, error) {
	a, err := h.Store.Load(ctx, in.Ref())
	if err != nil {
		return task.Series{}, fmt.Errorf("load the task: %w", err)
	}
	settled, ok := a.Unnumbered()
	if !ok {
		return task.Series{}, nil
	}
	settings, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return task.Series{}, fmt.Errorf("read when fiscal years begin: %w", err)
	}
	return h.Store.Series(ctx, in.Tenant, settings.FiscalYear(settled))
}
