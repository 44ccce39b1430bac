package main

import (
	"context"
	"fmt"
	"log/slog"

	"ringi/shared/runtime/metric"
	"ringi/shared/store/large"
)

// Results deletes the results that are older than their tenant keeps them.
type Results interface {
	Expire(ctx context.Context) (large.Expired, error)
}

type Handler struct{ Results Results }

// Handle deletes what it has time for; the next run goes on from there. It says how long after its day the oldest
// object was found. What could not be deleted, or not be looked at, is an error.
func (h *Handler) Handle(ctx context.Context) error {
	x, err := h.Results.Expire(ctx)
	slog.InfoContext(ctx, "expired", "results", x.Deleted, "lag_seconds", int(x.Lag.Seconds()), "left", x.Left, "err", err)
	if err == nil || x.Lag > 0 {
		metric.Put(metric.Value{Name: metric.ExpireLag, N: x.Lag.Seconds()})
	}
	if err != nil {
		return fmt.Errorf("delete old results: %w", err)
	}
	return nil
}
