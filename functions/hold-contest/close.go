package main

import (
	"context"
	"fmt"
	"log/slog"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/boot"
)

// Close ends the contest as its rows say, whichever of its teams' branches failed. The relay then informs the
// requester.
func (h *Handler) Close(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	was, err := h.Contests.Load(ctx, in.Ref())
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("load the contest: %w", err)
	}
	a, err := h.Contests.Settle(ctx, in.Ref(), in.Run)
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
