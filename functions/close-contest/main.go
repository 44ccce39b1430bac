// Command close-contest ends a contest: it stops the teams that still play, and sums up what all came to.
package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/aggregate"
	"ringi/shared/boot"
	"ringi/shared/config"
	"ringi/shared/contest"
	"ringi/shared/contests"
	"ringi/shared/kinds"
	"ringi/shared/pipeline"
	"ringi/shared/result"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

// environment is what template.yaml sets for this function.
type environment struct {
	config.Table
	config.Results
}

// Store settles contests.
type Store interface {
	Settle(ctx context.Context, ref aggregate.Ref, run int) (*contest.Aggregate, error)
}

// Handler closes contests.
type Handler struct{ Store Store }

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{Store: contests.Of(kinds.Open(cfg, env.Table), result.Open(cfg, env.Results))}, nil
}

// Handle settles the contest from its rows, whichever of its teams' branches failed. The relay then tells who asked for it.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Store.Settle(ctx, in.Ref(), in.Run)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("settle the contest: %w", err)
	}
	if a.Summary == nil {
		return aggregate.Next{State: aggregate.StateFinish, Outcome: "settled"}, nil
	}
	return aggregate.Next{State: aggregate.StateFinish, Outcome: string(a.Summary.Status)}, nil
}
