package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

// away fails this many writes of one item.
type away struct{ left atomic.Int32 }

func (x *away) RoundTrip(q *http.Request) (*http.Response, error) {
	if strings.HasSuffix(q.Header.Get("X-Amz-Target"), ".PutItem") && x.left.Add(-1) >= 0 {
		return nil, errors.New("the network is away")
	}
	return http.DefaultTransport.RoundTrip(q)
}

func TestAnAnswerIsNotPaidTwiceThoughTheTableIsAwayForAMoment(t *testing.T) {
	db := storetest.Start(t)
	_, table := db.Store(t)
	x := &away{}
	cfg := db.Config.Copy()
	cfg.HTTPClient = &http.Client{Transport: x}
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	w := &world{t, storetest.Over(client, table)}
	w.store.Sleep = func(context.Context, time.Duration) error { return nil }
	a := w.begin("手順", aggregate.USD(1), "a")
	undisturbed := &meanwhile{}
	w.once(w.begin("手順", aggregate.USD(1), "a"), undisturbed)
	m := &meanwhile{do: func(context.Context, int32) error { x.left.Store(3); return nil }}
	if next := w.once(a, m); next.State != StateRound || m.calls.Load() != undisturbed.calls.Load() {
		t.Errorf("%+v after %d calls, want %d", next, m.calls.Load(), undisturbed.calls.Load())
	}
}

// opens returns models whose calls have no price of a workspace's own.
func opens(m round.Models) func([]tenancy.ModelPrice) round.Models {
	return func([]tenancy.ModelPrice) round.Models { return m }
}

// judged is the demo model with a hook before the judge's answers. It counts the answers of others.
type judged struct {
	others atomic.Int32
	asked  func(ctx context.Context) error
}

func (m *judged) Open(string) (model.Wire, error) { return m, nil }

func (m *judged) Say(ctx context.Context, r model.Request) (model.Response, error) {
	if r.Purpose != "judge" {
		m.others.Add(1)
	} else if err := m.asked(ctx); err != nil {
		return model.Response{}, err
	}
	return demo.Teams{}.Say(ctx, r)
}

// A judge whose vendor keeps the team waiting hides no scored draft, and an invocation that dies meanwhile loses none:
// the next one asks only the judge, about the same round.
func TestAScoredRoundIsThereBeforeItsJudgeAnswers(t *testing.T) {
	w := newWorld(t)
	a := w.begin("経費精算の手順", aggregate.USD(5), "a")
	ref := contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, "a")
	load := func() *contest.Work { return expect.Value(w.store.Teams.Load(t.Context(), ref))(t) }
	ctx, die := context.WithCancel(t.Context())
	asked := 0
	m := &judged{}
	m.asked = func(context.Context) error {
		asked++
		k := load()
		expect.That(t, k.Team.Rounds >= 2 && k.Team.BestScore != nil && k.ToJudge() != nil, "%+v", k.Team)
		if asked == 1 {
			die()
			return &model.Error{Kind: model.Timeout, Retryable: true, Err: context.Canceled}
		}
		return nil
	}
	expect.Is(t, w.once(a, m).State, StateRound) // round 1, which has no judge
	h := &Handler{Store: w.store, Models: opens(m), Now: time.Now}
	_, err := h.Handle(ctx, pipeline.Input{Tenant: a.Head.TenantID, Kind: a.Ref().Kind, ID: a.Head.ExecutionID,
		Run: a.Head.Run, Team: 1})
	expect.Fails(t, err, context.Canceled, "the invocation that dies")
	before, others := load(), m.others.Load()
	expect.That(t, before.ToJudge() != nil && before.Rounds[1].Judgment == nil, "%+v", before.Rounds[1])
	expect.Is(t, w.once(a, m).State, StateRound)
	after := load()
	expect.That(t, asked == 2 && m.others.Load() == others, "the judge was asked %d times, %d other calls", asked,
		m.others.Load()-others)
	expect.That(t, after.ToJudge() == nil && after.Team.Rounds == 2 && after.Rounds[1].Judgment != nil, "%+v",
		after.Rounds[1])
	expect.Is(t, after.Rounds[1].CompletedAt, before.Rounds[1].CompletedAt)
	expect.Is(t, w.once(a, m).State, StateRound)
	expect.Is(t, load().Team.Rounds, 3)
}

// A run that another one has superseded leaves the judgment to that run, which would otherwise play and pay for another
// round that the judge may advise against.
func TestASupersededRunLeavesTheJudgmentToTheNext(t *testing.T) {
	w := newWorld(t)
	a := w.begin("経費精算の手順", aggregate.USD(5), "a")
	second := func() *contest.Round {
		ref := contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, "a")
		rounds := expect.Value(w.store.Teams.Load(t.Context(), ref))(t).Rounds
		expect.Is(t, len(rounds), 2)
		return rounds[1]
	}
	m := &meanwhile{do: func(ctx context.Context, call int32) error {
		if call == 8 { // the last one before the judge's
			expect.Value(w.store.Decide(ctx, a.Ref(),
				func(a *contest.Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, time.Now()) }))(t)
		}
		return nil
	}}
	w.once(a, m) // round 1, which has no judge
	next := w.once(a, m)
	expect.That(t, next.State == aggregate.StateFinish && m.calls.Load() == 8 && second().ToJudge,
		"%+v, %+v", next, second().ToJudge)
	a = expect.Value(w.store.KindStore.Load(t.Context(), a.Ref()))(t)
	expect.Is(t, w.once(a, m).State, StateRound)
	expect.That(t, m.calls.Load() == 9 && second().Judgment != nil,
		"%d calls, judgment %+v", m.calls.Load(), second().Judgment)
}

// advises is the demo model with a judge that is against another round, and a hook before its answers.
type advises struct{ asked func(ctx context.Context) }

func (m advises) Open(string) (model.Wire, error) { return m, nil }

func (m advises) Say(ctx context.Context, r model.Request) (model.Response, error) {
	if r.Purpose != "judge" {
		return demo.Teams{}.Say(ctx, r)
	}
	m.asked(ctx)
	return model.Response{Stop: model.StopEnd,
		Text: `{"should_continue": false, "reasoning": "it is good", "confidence_score": 0.9}`}, nil
}

// Two invocations ask the judge about one round. The team goes on from what the first one recorded: the second one's
// answer stops no round that is being played and paid for.
func TestAJudgmentThatComesLateStopsNoTeamThatWentOn(t *testing.T) {
	w := newWorld(t)
	a := w.begin("経費精算の手順", aggregate.USD(5), "a")
	ref := contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, "a")
	m := advises{func(ctx context.Context) {
		expect.Value(w.store.JudgeRound(ctx, ref, 2, contest.ScoredRound{JudgeFailed: "the judge did not answer"}))(t)
	}}
	w.once(a, m) // round 1, which has no judge
	next, got := w.once(a, m), w.team(a, "a")
	expect.That(t, next.State == StateRound && got.Status == contest.TeamRunning && got.Rounds == 2, "%+v, %+v", next, got)
	next, got = w.once(a, advises{func(context.Context) {}}), w.team(a, "a")
	expect.That(t, next.State == aggregate.StateFinish && got.ExitReason == contest.NoImprovementExpected &&
		got.Reason == "" && got.Rounds == 3, "%+v, %+v", next, got)
}
