package main

import (
	"context"
	"fmt"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/task"
)

// numbering has begin decide and commit the beginning of an execution. One that needs a number takes the next of its
// series.
func (h *Handler) numbering(ctx context.Context, in pipeline.Input,
	begin func(of task.Series) (*task.Aggregate, error)) (*task.Aggregate, error) {
	read := func(ctx context.Context) (task.Series, error) { return h.series(ctx, in) }
	return pipeline.Numbering(ctx, task.Series{}, read, begin)
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
