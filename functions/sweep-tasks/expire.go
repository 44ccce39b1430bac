package main

import (
	"context"
	"fmt"
	"log/slog"

	"ringi/shared/runtime/boot"
	"ringi/shared/store/large/removal"
)

// Results deletes results that are older than their tenant's retention time.
type Results interface {
	Expire(ctx context.Context) (removal.Expired, error)
}

// expire deletes as many tools' results and models' requests as it has time for, and the next hour continues. It
// records how overdue the oldest object was. It returns an error for objects that could not be deleted or examined.
func (h *Handler) expire(ctx context.Context) error {
	x, err := h.Results.Expire(ctx)
	slog.InfoContext(ctx, "expired", "results", x.Deleted, "lag_seconds", int(x.Lag.Seconds()), "left", x.Left, "err", err)
	if err == nil || x.Lag > 0 {
		boot.PutMetrics(boot.MetricValue{Name: boot.ExpireLag, N: x.Lag.Seconds()})
	}
	if err != nil {
		return fmt.Errorf("delete old results: %w", err)
	}
	return nil
}
