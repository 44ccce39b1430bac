package main

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	ringitest.Each(t, map[string]func(*testing.T, *ringitest.World){
		"what the relay missed is done within a minute":                      testMissed,
		"nothing is done before it is due":                                   testNotDue,
		"a decision whose wake-up was lost":                                  testLostWakeUp,
		"a gate expires after its time, not before":                          testExpires,
		"an ended task is drawn until it is shown, then left alone":          testEndedUnshown,
		"a run that does nothing for 20 minutes is replaced":                 testStuck,
		"a poisonous task is put off further each time, and delays no other": testPoisonous,
		"a shard that can't be read delays no other":                         testShardDown,
		"Step Functions that doesn't answer delays no gate and no card":      testSilent,
		"a task that panics is put off":                                      testPanic,
		"no task is begun without time for it":                               testNoTime,
	})
}

func handler(w *ringitest.World) *Handler {
	tasks := w.StoreOverTransport()
	s := tasks.KindStore.Store
	return &Handler{Store: s, Tasks: tasks, Reminders: s, begun: &sync.Map{}, Effects: w.Effects(), Now: w.Now}
}

// sweep lets some time pass, runs the sweep of a minute, and returns the task.
func sweep(t *testing.T, w *ringitest.World, after time.Duration) *task.Aggregate {
	t.Helper()
	w.Later(after)
	expect.NoError(t, handler(w).Sweep(t.Context()))
	return w.Load()
}

const soon = 65 * time.Second

// show records that the cards show the present state.
func show(t *testing.T, w *ringitest.World) {
	t.Helper()
	w.Drawn()
	expect.NoError(t, w.Store.Shown(t.Context(), w.Ref, w.Load().Head.Head))
}

func testMissed(t *testing.T, w *ringitest.World) {
	a := sweep(t, w, soon)
	w.Becomes(1, sfntypes.ExecutionStatusRunning)
	expect.Same(t, 1, w.Drawn())
	want := w.Now().Add(5 * time.Minute)
	expect.That(t, a.Head.DueAt != nil && a.Head.DueAt.Equal(want), "due at %v, want %v", a.Head.DueAt, want)
}

func testNotDue(t *testing.T, w *ringitest.World) {
	sweep(t, w, 30*time.Second)
	s := w.Status(1)
	expect.That(t, s == "" && w.Drawn() == 0, "the run is %s", s)
}

func testLostWakeUp(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	w.Approve()
	w.Later(soon)
	repairs, err := handler(w).sweep(t.Context(), w.Ref)
	expect.That(t, repairs == 1 && err == nil, "%d repairs, %v, want 1", repairs, err)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	// The run is started again, too, if it is gone.
	w.Later(soon)
	if repairs, err = handler(w).sweep(t.Context(), w.Ref); repairs != 1 || err != nil || w.Load().Head.Run != 2 {
		t.Errorf("%d repairs, %v, run %d", repairs, err, w.Load().Head.Run)
	}
}

func testExpires(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	show(t, w)
	a := sweep(t, w, soon)
	by := *a.Prompt().Terms.DecideBy
	expect.That(t, a.Head.DueAt != nil && a.Head.DueAt.Equal(by),
		"due at %v, want when the decision is, %v", a.Head.DueAt, by)
	alone := func(after time.Duration) *task.Aggregate { // without people's being looked up again
		w.Later(after)
		expect.Value(handler(w).sweep(t.Context(), w.Ref))(t)
		return w.Load()
	}
	expect.That(t, alone(by.Sub(w.Now())).Head.Ended == nil, "expired at %v itself", by)
	a = alone(2 * time.Second)
	expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonExpired &&
		a.Prompt().Status == aggregate.Expired, "ended %+v, prompt %s", a.Head.Ended, a.Prompt().Status)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	expect.Same(t, 1, w.Drawn())
}

func testEndedUnshown(t *testing.T, w *ringitest.World) {
	w.Cancel()
	for range 2 {
		expect.Must(t, sweep(t, w, 6*time.Minute).Head.DueAt != nil, "not due any more, and nobody saw it")
		expect.Same(t, 1, w.Drawn())
	}
	if sweep(t, w, 6*time.Minute); w.Drawn() != 0 {
		t.Error("messages about a task that can't be drawn don't grow apart")
	}
	show(t, w)
	a := sweep(t, w, time.Hour)
	expect.That(t, a.Head.DueAt == nil && w.Drawn() == 0, "due at %v though everybody saw it", a.Head.DueAt)
}

func testStuck(t *testing.T, w *ringitest.World) {
	w.Open()
	expect.Same(t, 1, sweep(t, w, 19*time.Minute).Head.Run)
	a := sweep(t, w, 5*time.Minute)
	expect.That(t, a.Head.Run == 2 && a.Head.Restarts == 1, "run %d, %d restarts", a.Head.Run, a.Head.Restarts)
	w.Becomes(2, sfntypes.ExecutionStatusRunning)
}

// sweep handles one task that is due.
func (h *Handler) sweep(ctx context.Context, ref aggregate.Ref) (repairs int, err error) {
	f := &found{ref: ref}
	if repairs, err = h.decide(ctx, f); err != nil {
		return repairs, err
	}
	n, err := h.effects(ctx, f)
	return repairs + n, err
}

func testPoisonous(t *testing.T, w *ringitest.World) {
	other := w.Another()
	h := handler(w)
	h.Store = poisoned{Store: w.StoreOverTransport().KindStore.Store, ref: w.Ref}
	w.Later(soon)
	for i, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		expect.NoError(t, h.Sweep(t.Context()))
		head := w.Load().Head
		expect.That(t, head.SweepFailures == i+1 && head.DueAt.Equal(w.Now().Add(want*time.Minute)),
			"failure %d: %d noted, due in %v", i+1, head.SweepFailures, head.DueAt.Sub(w.Now()))
		w.Later(want * time.Minute)
	}
	expect.Is(t, other.Status(1), sfntypes.ExecutionStatusRunning, "the other task's run is")
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

func testShardDown(t *testing.T, w *ringitest.World) {
	tasks := []*ringitest.World{w}
	for range 11 {
		tasks = append(tasks, w.Another())
	}
	h := handler(tasks[11])
	tasks[11].Later(soon)
	h.Store = poisoned{Store: w.StoreOverTransport().KindStore.Store}
	expect.Fails(t, h.Sweep(t.Context()), errPoison)
	down := map[aggregate.Ref]bool{}
	for ref, err := range w.Store.Due(t.Context(), 0, tasks[11].Now()) {
		expect.NoError(t, err)
		down[ref] = true
	}
	for _, x := range tasks {
		expect.Is(t, x.Status(1) == sfntypes.ExecutionStatusRunning, !down[x.Ref], "%s runs", x.Ref.ID)
	}
}

func testPanic(t *testing.T, w *ringitest.World) {
	h := handler(w)
	h.Store = poisoned{Store: w.StoreOverTransport().KindStore.Store, ref: w.Ref, panics: true}
	w.Later(soon)
	expect.NoError(t, h.Sweep(t.Context()))
	expect.Same(t, 1, w.Load().Head.SweepFailures)
}

// silent is Step Functions that doesn't answer.
type silent struct{ effect.Runs }

func (silent) StartExecution(ctx context.Context, _ *sfn.StartExecutionInput, _ ...func(*sfn.Options)) (
	*sfn.StartExecutionOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) SendTaskSuccess(ctx context.Context, _ *sfn.SendTaskSuccessInput, _ ...func(*sfn.Options)) (
	*sfn.SendTaskSuccessOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func testSilent(t *testing.T, w *ringitest.World) {
	waits := w.Another()
	waits.Prompted(tenancy.DefaultSettings())
	waits.Wait(waits.Open())
	h := handler(w)
	h.Effects.Runs = silent{}
	w.Later(waits.Load().Prompt().Terms.DecideBy.Sub(w.Now()) + time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	expect.NoError(t, h.Sweep(ctx))
	for _, a := range []*task.Aggregate{w.Load(), waits.Load()} {
		expect.That(t, a.Head.SweepFailures == 1 && a.Head.DueAt.Sub(w.Now()) <= failedWait, "%+v", a.Head)
	}
	expect.Is(t, waits.Load().Prompt().Status, aggregate.Expired)
	expect.Is(t, w.Drawn(), 2, "cards to draw")
}

func testNoTime(t *testing.T, w *ringitest.World) {
	w.Later(soon)
	ctx, cancel := context.WithTimeout(t.Context(), spare-time.Second)
	defer cancel()
	expect.NoError(t, handler(w).Sweep(ctx))
	expect.That(t, w.Status(1) == "", "a run was started")
}
