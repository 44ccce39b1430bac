package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/metric/metrictest"
)

// open is a store of one contest that nobody can move.
type open struct {
	Store
	a *contest.Aggregate
}

func (s open) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) { return s.a, nil }

func (s open) Decide(context.Context, aggregate.Ref, aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	return nil, aggregate.ErrConflict
}

// noRuns opens no run.
type noRuns struct{ effect.Runs }

func (noRuns) StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	return nil, errors.New("Step Functions is away")
}

func TestAContestThatDoesNotEndIsHeardOf(t *testing.T) {
	began := time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC)
	id := contest.NewID()
	c := expect.Value(contest.Begin(contest.Order{
		Execution: id, Tenant: aggregate.TenantID("T1"), Prompt: "方針", Locale: "ja", Teams: []contest.Entry{{TeamID: "a", TeamName: "A"}}, MaxRounds: 1, MinRounds: 1,
		TeamTimeoutSeconds: 60, Budget: aggregate.USD(1), By: aggregate.System(), Config: aggregate.Blob{JSON: "{}", Bytes: 2},
	}, began))(t)
	c.ID = aggregate.NewID()
	a := (&contest.Aggregate{}).After(c).(*contest.Aggregate)
	for after, want := range map[time.Duration]int{20 * time.Minute: 0, 22 * time.Minute: 1} {
		now := func() time.Time { return began.Add(after) }
		h := &Handler{Store: open{a: a}, Effects: effect.Runner{Runs: noRuns{}, Now: now}, Now: now}
		out := metrictest.Printed(t, func() {
			_, _ = h.sweep(t.Context(), a.Ref())
		})
		expect.That(t, strings.Count(out, `"ContestLate":1`) == want, "after %v: %s", after, out)
	}
}
