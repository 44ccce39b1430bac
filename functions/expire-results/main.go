// Command expire-results deletes tools' results and models' requests when their tenant's retention time is over.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large/removal"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	all := store.OpenAll(cfg, env.Table)
	return &Handler{Results: removal.Retention{
		Bucket: removal.Open(cfg, env.Results), Rows: store.TasksOf(all), Conversations: store.ConversationsOf(all),
		Calls: store.CallsOf(all), Now: time.Now,
	}}, nil
}

// Results deletes results that are older than their tenant's retention time.
type Results interface {
	Expire(ctx context.Context) (removal.Expired, error)
}

type Handler struct{ Results Results }

// Handle deletes as much as it has time for, and the next run continues. It records how overdue the oldest object was.
// It returns an error for objects that could not be deleted or examined.
func (h *Handler) Handle(ctx context.Context) error {
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
