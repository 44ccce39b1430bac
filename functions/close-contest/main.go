// Command close-contest ends a contest: it stops the teams that still play, and summarizes their results.
package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Results
}

type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (*contest.Aggregate, error)
	Settle(ctx context.Context, ref aggregate.Ref, run int) (*contest.Aggregate, error)
}

type Handler struct{ Store Store }

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{Store: store.ContestsOf(store.OpenAll(cfg, env.Table), large.Open(cfg, env.Results))}, nil
}

// Handle ends the contest as its rows say, whichever of its teams' branches failed. The relay then informs the
// requester.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	was, err := h.Store.Load(ctx, in.Ref())
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("load the contest: %w", err)
	}
	a, err := h.Store.Settle(ctx, in.Ref(), in.Run)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("settle the contest: %w", err)
	}
	if a.Summary == nil {
		return aggregate.Next{State: aggregate.StateFinish, Outcome: "settled"}, nil
	}
	if was.Summary == nil { // if two invocations close it at the same time, both count
		count(ctx, a)
	}
	return aggregate.Next{State: aggregate.StateFinish, Outcome: string(a.Summary.Status)}, nil
}

// count reports to the metrics how the contest ended. A team that was stopped before it had a result doesn't count as
// failed.
func count(ctx context.Context, a *contest.Aggregate) {
	s, failed, stopped := a.Summary, 0.0, 0
	if s.Status == contest.SummaryFailed && a.Contest.Status != contest.Cancelled {
		failed = 1
	}
	for _, t := range s.FailedTeams {
		if t.Reason == contest.ReasonCancelled {
			stopped++
		}
	}
	boot.PutMetrics(
		boot.MetricValue{Name: boot.TeamPlayed, N: float64(s.TotalTeams - stopped)},
		boot.MetricValue{Name: boot.TeamFailed, N: float64(len(s.FailedTeams) - stopped)},
		boot.MetricValue{Name: boot.ContestFailed, N: failed},
	)
	slog.InfoContext(ctx, "settled", "execution_id", a.Head.ExecutionID, "status", s.Status,
		"failed_teams", len(s.FailedTeams), "cost_usd", a.Contest.Usage.Cost.String(), "calls", a.Contest.Usage.Calls)
}
