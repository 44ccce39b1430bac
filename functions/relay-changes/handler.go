package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/effect"
	"ringi/shared/metric"
	"ringi/shared/task"
)

// Store is where the relay reads what follows.
type Store interface {
	Load(ctx context.Context, ref task.Ref) (*task.Aggregate, error)
}

// Handler relays changes.
type Handler struct {
	Store   Store
	Effects effect.Runner
}

// Handle carries out what follows from a batch of the table's stream. The records
// of one task are looked at together: effects come from the rows as they are now,
// not from the records. It gives records back only while the card queue is down; a
// record that can't be handled is logged and counted, and the sweeper has its task within a minute.
func (h *Handler) Handle(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	for _, m := range moves(e.Records) {
		err := h.relay(ctx, m)
		if errors.Is(err, effect.ErrQueue) {
			slog.ErrorContext(ctx, "gave back", "task_id", m.ref.Task, "err", err)
			return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{ItemIdentifier: m.first}}}, nil
		}
		if err != nil {
			slog.ErrorContext(ctx, "left to the sweeper", "task_id", m.ref.Task, "err", err)
			metric.Count(metric.RelayFailed, 1)
		}
	}
	return events.DynamoDBEventResponse{}, nil
}

func (h *Handler) relay(ctx context.Context, m move) error {
	a, err := h.Store.Load(ctx, m.ref)
	if err != nil {
		return fmt.Errorf("load the task: %w", err)
	}
	_, runErr := h.Effects.Run(ctx, a, m.run)
	if m.cards && a.Effects(h.Effects.Now()).Cards {
		if err := h.Effects.Redraw(ctx, m.ref, m.event); err != nil {
			return err
		}
	}
	return runErr
}
