package main

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// meanwhile is the demo model with a hook before its answers.
type meanwhile struct {
	calls atomic.Int32
	do    func(ctx context.Context, call int32) error
}

func (m *meanwhile) Open(string) (model.Wire, error) { return m, nil }

func (m *meanwhile) Say(ctx context.Context, r model.Request) (model.Response, error) {
	if n := m.calls.Add(1); m.do != nil {
		if err := m.do(ctx, n); err != nil {
			return model.Response{}, err
		}
	}
	return demo.Teams{}.Say(ctx, r)
}

// once runs one invocation for the first team.
func (w *world) once(a *contest.Aggregate, m round.Models) aggregate.Next {
	w.Helper()
	return expect.Value(w.invoke(a, m))(w)
}

func (w *world) invoke(a *contest.Aggregate, m round.Models) (aggregate.Next, error) {
	h := &Handler{Store: w.store, Models: opens(m), Now: time.Now}
	ref := a.Ref()
	return h.Handle(w.Context(), pipeline.Input{Tenant: ref.Tenant, Kind: ref.Kind, ID: ref.ID, Run: a.Head.Run, Team: 1})
}

func TestARunThatIsSupersededCallsNoMoreModels(t *testing.T) {
	w := newWorld(t)
	a := w.begin("手順", aggregate.USD(1), "a")
	m := &meanwhile{do: func(ctx context.Context, call int32) error {
		if call == 1 {
			expect.Value(w.store.Decide(ctx, a.Ref(),
				func(a *contest.Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, time.Now()) }))(t)
		}
		return nil
	}}
	if next := w.once(a, m); next.State != aggregate.StateFinish || m.calls.Load() != 1 {
		t.Errorf("%+v after %d calls, all but one of them when the next run had begun", next, m.calls.Load())
	}
}

func TestWhatComesLateStopsNoTeamThatWentOn(t *testing.T) {
	w := newWorld(t)
	for name, late := range map[string]error{"a failure": &model.Error{Provider: "demo", Kind: model.Refused},
		"another score": nil} {
		a := w.begin("手順", aggregate.USD(1), "a")
		m := &meanwhile{do: func(_ context.Context, call int32) error {
			if call > 1 {
				return nil
			}
			w.once(a, &meanwhile{}) // a retry plays the round meanwhile
			return late
		}}
		round1 := func() *contest.Round {
			return aggregate.Last(expect.Value(w.store.Teams.Load(t.Context(),
				contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, "a")))(t).Rounds)
		}
		next := w.once(a, m)
		got := w.team(a, "a")
		expect.That(t, next.State == StateRound && got.Status == contest.TeamRunning && got.Rounds == 1 &&
			round1().Rev == 2, "%s: %+v, the round is of revision %d, next %+v", name, got, round1().Rev, next)
	}
}

func TestOfTwoThatPlayARoundOneGoesOn(t *testing.T) {
	w := newWorld(t)
	a := w.begin("手順", aggregate.USD(1), "a")
	late := &meanwhile{do: func(_ context.Context, call int32) error {
		if call == 1 {
			other := &meanwhile{do: func(_ context.Context, call int32) error {
				if call > 1 {
					panic("cut off after its first answer was kept")
				}
				return nil
			}}
			_, _ = w.invoke(a, other)
		}
		return nil
	}}
	if next := w.once(a, late); next.State != StateRound || late.calls.Load() != 1 {
		t.Errorf("%+v after %d calls, all but one of them on answers that are not kept", next, late.calls.Load())
	}
	for range 5 {
		w.once(a, &meanwhile{})
	}
	got := w.team(a, "a")
	expect.That(t, got.Rounds != 0, "nobody goes on: %+v", got)
}

func TestAnAnswerIsNotPaidTwiceThoughTheTableIsAwayForAMoment(t *testing.T) {
	x := ringitest.Start(t).World(t)
	x.Config.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	w := &world{t, storetest.Over(dynamodb.NewFromConfig(x.Config), x.Table())}
	w.store.Sleep = func(context.Context, time.Duration) error { return nil }
	a := w.begin("手順", aggregate.USD(1), "a")
	undisturbed := &meanwhile{}
	w.once(w.begin("手順", aggregate.USD(1), "a"), undisturbed)
	m := &meanwhile{do: func(context.Context, int32) error { x.Transport.DropCalls("PutItem", 3); return nil }}
	if next := w.once(a, m); next.State != StateRound || m.calls.Load() != undisturbed.calls.Load() {
		t.Errorf("%+v after %d calls, want %d", next, m.calls.Load(), undisturbed.calls.Load())
	}
}

// opens returns models whose calls have no price of a workspace's own.
func opens(m round.Models) func([]tenancy.ModelPrice) round.Models {
	return func([]tenancy.ModelPrice) round.Models { return m }
}
