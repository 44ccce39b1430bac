// Command keep-note is the only state of a note's state machine.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/note"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

// environment is what template.yaml sets for this function.
type environment struct{ config.Table }

type Handler struct {
	Store store.KindStore[*note.Aggregate]
	Now   func() time.Time
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s := store.New(dynamodb.NewFromConfig(cfg), env.TableName, note.Kind)
	return &Handler{Store: store.KindStore[*note.Aggregate]{Store: s}, Now: time.Now}, nil
}

// Handle marks the note as kept, once.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	_, err := h.Store.Decide(ctx, in.Ref(), func(a *note.Aggregate) (aggregate.Change, error) {
		return a.Keep(in.Run, h.Now())
	})
	return aggregate.Next{State: "Finish", Outcome: "kept"}, err
}
