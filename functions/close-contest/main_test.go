package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/metric/metrictest"
)

// settling is a store of one contest, which is settled by being asked.
type settling struct{ before, after contest.Aggregate }

func (s *settling) Load(context.Context, aggregate.Ref) (*contest.Aggregate, error) {
	a := s.before
	return &a, nil
}

func (s *settling) Settle(context.Context, aggregate.Ref, int) (*contest.Aggregate, error) {
	s.before = s.after
	a := s.after
	return &a, nil
}

func TestAContestIsCountedWhenItIsSummedUpAndNotAgain(t *testing.T) {
	at := time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC)
	settled := func(status contest.Status, of contest.SummaryStatus, failed ...contest.FailedTeam) *settling {
		k := contest.Contest{Status: status, SettledAt: &at, Usage: aggregate.Usage{Cost: 2_500_000}}
		return &settling{after: contest.Aggregate{Contest: &k, Summary: &contest.Summary{Status: of, TotalTeams: 3, FailedTeams: failed}}}
	}
	failed, stopped := contest.FailedTeam{Reason: contest.ReasonLeader}, contest.FailedTeam{Reason: contest.ReasonCancelled}
	for name, tt := range map[string]struct {
		store *settling
		want  string
	}{
		"with a result":                 {settled(contest.Closed, contest.SummaryPartialFailure, failed, failed), `"ContestCost":2.5,"ContestFailed":0,"TeamFailed":2,"TeamPlayed":3`},
		"without any":                   {settled(contest.Closed, contest.SummaryFailed, failed, failed, failed), `"ContestFailed":1,"TeamFailed":3`},
		"stopped before there were any": {settled(contest.Cancelled, contest.SummaryFailed, stopped, failed, stopped), `"ContestFailed":0,"TeamFailed":1,"TeamPlayed":1`},
	} {
		h := &Handler{Store: tt.store}
		out := metrictest.Printed(t, func() {
			for range 2 {
				next, err := h.Handle(t.Context(), pipeline.Input{})
				expect.That(t, err == nil && next.State == aggregate.StateFinish, "%s: %+v, %v", name, next, err)
			}
		})
		expect.That(t, strings.Contains(out, tt.want) && strings.Count(out, "TeamPlayed\":") == 1, "%s: %s", name, out)
	}
}
