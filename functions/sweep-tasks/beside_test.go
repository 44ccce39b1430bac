package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/shared/decide/effect"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/metric/metrictest"
)

type hanging struct {
	Store
	ref aggregate.Ref
}

func (s hanging) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	if ref == s.ref {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.Load(ctx, ref)
}

func TestWhatIsBesideDelaysNoExpiry(t *testing.T) {
	expect.Patience(t)
	setup := func(t *testing.T, w *pipelinetest.World) (*Handler, *pipelinetest.World) {
		w.Prompted(tenancy.DefaultSettings())
		b, _ := w.Load().OpenGateBeside()
		reply := w.Reply()
		reply.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Ask(1, b, tenancy.DefaultSettings(), w.Now())
		})
		return handler(w), reply
	}
	pipelinetest.Each(t, map[string]func(*testing.T, *pipelinetest.World){
		"a read beside that hangs": func(t *testing.T, w *pipelinetest.World) {
			h, reply := setup(t, w)
			h.Store = hanging{h.Store, w.Ref}
			w.Later(reply.Load().Choice.Terms.DecideBy.Sub(w.Now()) + time.Second)
			_, err := h.sweep(t.Context(), reply.Ref)
			expect.That(t, reply.Load().Head.Ended != nil, "the choice did not expire: %v", err)
		},
		"put off past decide_by": func(t *testing.T, w *pipelinetest.World) {
			h, reply := setup(t, w)
			h.Store = poisoned{Store: h.Store, ref: w.Ref}
			by := *reply.Load().Choice.Terms.DecideBy
			w.Later(by.Sub(w.Now()) - 20*time.Minute)
			for w.Now().Before(by) { // as each minute's sweep
				due := *reply.Load().Head.DueAt
				w.Later(max(0, due.Sub(w.Now())) + time.Second)
				if !w.Now().Before(by) {
					break
				}
				_, err := h.sweep(t.Context(), reply.Ref)
				if err != nil {
					h.putOff(t.Context(), reply.Ref, err)
				}
			}
			if late := reply.Load().Head.DueAt.Sub(by); late > 6*time.Minute {
				t.Errorf("decide by %s, due %s: %s late", by, reply.Load().Head.DueAt, late)
			}
		},
	})
}

// open is a store of one contest that nobody can move.
type open struct {
	Store
	a *contest.Aggregate
}

func (s open) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) { return s.a, nil }

func (s open) Decide(
	context.Context, aggregate.Ref, aggregate.Decision[aggregate.Aggregate],
) (aggregate.Aggregate, error) {
	return nil, aggregate.ErrConflict
}

// noRuns opens no run.
type noRuns struct{ effect.Runs }

func (noRuns) StartExecution(
	context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options),
) (*sfn.StartExecutionOutput, error) {
	return nil, errors.New("Step Functions is away")
}

func TestAContestThatDoesNotEndIsHeardOf(t *testing.T) {
	began := time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC)
	id := contest.NewID()
	c := expect.Value(contest.Begin(contest.Order{
		Execution: id, Tenant: aggregate.TenantID("T1"), Prompt: "方針", Locale: "ja", Teams: []contest.Entry{{TeamID: "a", TeamName: "A"}}, MaxRounds: 1, MinRounds: 1,
		TeamTimeoutSeconds: 60, Budget: aggregate.USD(1), By: aggregate.System(),
		Config: aggregate.Blob{JSON: "{}", Bytes: 2},
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
