package main

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/shared/decide/effect"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

func testPoisonous(t *testing.T, w *pipelinetest.World) {
	other := w.Another()
	h := handler(w)
	h.Store = poisoned{Store: w.StoreOverTransport().KindStore.Store, ref: w.Ref}
	w.Later(soon)
	for i, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		expect.NoError(t, h.Sweep(t.Context()))
		head := w.Load().Head
		if head.SweepFailures != i+1 || !head.DueAt.Equal(w.Now().Add(want*time.Minute)) {
			t.Errorf("failure %d: %d noted, due in %v", i+1, head.SweepFailures, head.DueAt.Sub(w.Now()))
		}
		w.Later(want * time.Minute)
	}
	s := other.Status(1)
	expect.That(t, s == sfntypes.ExecutionStatusRunning, "the other task's run is %q", s)
	a := sweep(t, w, 0)
	expect.That(t, a.Head.SweepFailures == 0, "%d failures after it went well", a.Head.SweepFailures)
}

// poisoned fails to load one task, or to list one shard. A zero ref means none.
type poisoned struct {
	Store
	ref    aggregate.Ref
	shard  int
	panics bool
}

var errPoison = errors.New("poison")

func (p poisoned) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	if ref != p.ref {
		return p.Store.Load(ctx, ref)
	}
	if p.panics {
		panic("poison")
	}
	return nil, errPoison
}

func (p poisoned) Due(ctx context.Context, shard int, now time.Time) iter.Seq2[aggregate.Ref, error] {
	if p.ref.ID == "" && shard == p.shard {
		return func(yield func(aggregate.Ref, error) bool) { yield(aggregate.Ref{}, errPoison) }
	}
	return p.Store.Due(ctx, shard, now)
}

func testShardDown(t *testing.T, w *pipelinetest.World) {
	tasks := []*pipelinetest.World{w}
	for range 11 {
		tasks = append(tasks, w.Another())
	}
	h := handler(tasks[11])
	tasks[11].Later(soon)
	h.Store = poisoned{Store: w.StoreOverTransport().KindStore.Store}
	err := h.Sweep(t.Context())
	expect.That(t, errors.Is(err, errPoison), "%v, want what went wrong", err)
	inShard := 0
	for range eachDue(t, w, tasks[11].Now(), 0) {
		inShard++
	}
	running := 0
	for _, w := range tasks {
		if w.Status(1) == sfntypes.ExecutionStatusRunning {
			running++
		}
	}
	expect.That(t, running == len(tasks)-inShard,
		"%d of %d tasks run, %d are in the shard that is down", running, len(tasks), inShard)
}

func eachDue(t *testing.T, w *pipelinetest.World, now time.Time, shard int) []aggregate.Ref {
	t.Helper()
	var out []aggregate.Ref
	for ref, err := range w.Store.Due(t.Context(), shard, now) {
		expect.NoError(t, err)
		out = append(out, ref)
	}
	return out
}

func testPanic(t *testing.T, w *pipelinetest.World) {
	h := handler(w)
	h.Store = poisoned{Store: w.StoreOverTransport().KindStore.Store, ref: w.Ref, panics: true}
	w.Later(soon)
	expect.NoError(t, h.Sweep(t.Context()))
	expect.Same(t, 1, w.Load().Head.SweepFailures)
}

func testNoTime(t *testing.T, w *pipelinetest.World) {
	w.Later(soon)
	ctx, cancel := context.WithTimeout(t.Context(), spare-time.Second)
	defer cancel()
	expect.NoError(t, handler(w).Sweep(ctx))
	expect.That(t, w.Status(1) == "", "a run was started")
}

// open is a store of one contest that can't be changed.
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
		Execution: id, Tenant: aggregate.TenantID("T1"), Prompt: "方針", Locale: "ja", Teams: []contest.Entry{{TeamID: "a",
			TeamName: "A"}}, MaxRounds: 1, MinRounds: 1,
		TeamTimeoutSeconds: 60, Budget: aggregate.USD(1), By: aggregate.System(),
		Config: aggregate.Blob{JSON: "{}", Bytes: 2},
	}, began))(t)
	c.ID = aggregate.NewID()
	a := (&contest.Aggregate{}).After(c).(*contest.Aggregate)
	for after, want := range map[time.Duration]int{20 * time.Minute: 0, 22 * time.Minute: 1} {
		now := func() time.Time { return began.Add(after) }
		h := &Handler{Store: open{a: a}, Reminders: noReminders{},
			Effects: effect.Runner{Runs: noRuns{}, Now: now}, Now: now}
		out := expect.Metrics(t, func() {
			_, _ = h.sweep(t.Context(), a.Ref())
		})
		expect.That(t, strings.Count(out, `"ContestLate":1`) == want, "after %v: %s", after, out)
	}
}
