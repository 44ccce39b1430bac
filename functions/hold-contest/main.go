// Command hold-contest ends contests: it stops the teams that still play, and summarizes their results.
package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Close) })
}

type environment struct {
	boot.Table
	boot.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{store.ContestsOf(store.OpenAll(cfg, env.Table), large.Open(cfg, env.Results))}, nil
}

type Handler struct{ Contests *store.ContestStore }

// Close ends the contest as its rows say, whichever of its teams' branches failed. The relay then informs the
// requester.
func (h *Handler) Close(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Contests.Settle(ctx, in.Ref(), in.Run)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("settle the contest: %w", err)
	}
	if a.Summary == nil {
		return aggregate.Next{State: aggregate.StateFinish, Outcome: "settled"}, nil
	}
	slog.InfoContext(ctx, "settled", "execution_id", a.Head.ExecutionID, "status", a.Summary.Status,
		"failed_teams", len(a.Summary.FailedTeams), "cost_usd", a.Contest.Usage.Cost.String(),
		"calls", a.Contest.Usage.Calls)
	return aggregate.Next{State: aggregate.StateFinish, Outcome: string(a.Summary.Status)}, nil
}
