package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/effect"
	"ringi/shared/metric"
	"ringi/shared/pipeline"
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
// not from the records. It gives records back only while the card queue is down:
// all from the first of the first task that could not be drawn. Runs go on
// meanwhile. A record that can't be handled is logged and counted, and the sweeper
// has its task within a minute.
func (h *Handler) Handle(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	var out events.DynamoDBEventResponse
	for _, m := range moves(e.Records) {
		err := h.relay(ctx, m, len(out.BatchItemFailures) == 0)
		switch {
		case errors.Is(err, effect.ErrQueue):
			slog.ErrorContext(ctx, "gives back", "task_id", m.ref.Task, "err", err)
			out.BatchItemFailures = []events.DynamoDBBatchItemFailure{{ItemIdentifier: m.first}}
		case err != nil:
			slog.ErrorContext(ctx, "left to the sweeper", "task_id", m.ref.Task, "err", err)
			metric.Count(metric.RelayFailed, 1)
		}
	}
	return out, nil
}

// relay does what follows for one task: what people see first. With draw false the
// records come again anyway, and the queue is not asked.
func (h *Handler) relay(ctx context.Context, m move, draw bool) (err error) {
	defer pipeline.Recovered(ctx, &err, "task_id", m.ref.Task)
	a, err := h.Store.Load(ctx, m.ref)
	if err != nil {
		return fmt.Errorf("load the task: %w", err)
	}
	var undrawn error
	if draw && m.cards && a.Effects(h.Effects.Now()).Cards {
		undrawn = h.Effects.Redraw(ctx, m.ref, m.event)
	}
	_, err = h.Effects.Run(ctx, a, m.run)
	return errors.Join(undrawn, err)
}
