package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func TestExecuteUnderFaults(t *testing.T) {
	each(t, map[string]func(*testing.T, *world){
		"after a cancel no further call begins":                                  testCancelled,
		"a cancel ends a read that hangs":                                        testCancelHanging,
		"a cancel ends no write":                                                 testCancelWriting,
		"a write whose answer is cut off is unknown, and never made again":       testCutOff,
		"a write whose answer is cut off is done if Ringi sees it":               testSeen,
		"a call that hangs ends before its invocation does":                      testHangs,
		"a department that there isn't calls for another request":                testNoSuchDepartment,
		"a tool that panics has failed, or nobody knows":                         testPanics,
		"a bucket that is away for a moment costs no second call":                testKeptLater,
		"a write whose answer can't be kept is done all the same":                testNotKept,
		"two invocations of one run make one call":                               testTwoAtOnce,
		"an execution that does not move reaches a person":                       testNoProgress,
		"a write that completes after its retry was asked for is not made again": testLateWrite,
	})
}

func testCancelled(t *testing.T, w *world) {
	w.h.PollEvery = time.Minute // the call is over before the cancel is seen
	w.approved(w.read(1), w.write(2))
	w.tools.before = func(tool.Call) { w.Cancel() }
	expect.Is(t, w.run().State, task.StateFinish)
	e := w.ends(task.ExecutionCancelled, "", task.StepCompleted)
	expect.That(t, len(e.Results) == 1 && e.Results[0].Status == task.StepCompleted,
		"the call that was out is not in the results: %+v", e.Results)
	w.written(0)
}

func testCancelHanging(t *testing.T, w *world) {
	w.approved(w.read(1))
	w.vendors.Hang(listing, time.Minute)
	w.tools.before = func(tool.Call) { w.Cancel() }
	began := time.Now()
	w.run()
	took := time.Since(began)
	expect.That(t, took <= 20*time.Second, "it took %s to notice", took)
	w.ends(task.ExecutionCancelled, "", task.StepFailed)
}

func testCancelWriting(t *testing.T, w *world) {
	w.approved(w.lone(1))
	w.vendors.Hang(writing, 300*time.Millisecond) // the head is read meanwhile
	w.tools.before = func(tool.Call) { w.Cancel() }
	w.run()
	w.ends(task.ExecutionCancelled, "", task.StepCompleted)
	w.written(1)
}

func testCutOff(t *testing.T, w *world) {
	w.approved(w.lone(1))
	w.vendors.Drop(writing)
	for range 2 {
		next, err := w.try(time.Minute)
		expect.That(t, err != nil || next.State == task.StateFail, "%+v", next)
	}
	w.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
	w.written(1)
}

func testSeen(t *testing.T, w *world) {
	w.tools.sees = true
	w.approved(w.lone(1))
	w.vendors.Drop(writing)
	w.run()
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	expect.That(t, e.Attempt == 1 && e.Results[0].Result != nil && w.Load().Steps[0].Found, "%+v", e)
	w.written(1)
}

func testHangs(t *testing.T, w *world) {
	w.approved(w.lone(1))
	s := &slow{Runner: w.h.Tools, w: w, takes: time.Minute}
	w.h.Tools = s
	ctx := w.span()
	ctx.end = w.h.Now().Add(minTurn + 5*time.Second)
	next, err := w.h.Handle(ctx, w.In())
	expect.That(t, err == nil && next.State == task.StateExecuteProcess, "%+v, %v, want to come round again", next, err)
	expect.That(t, timeLeft(ctx) >= claimSpare/2, "%s were left to write down what happened", timeLeft(ctx))
	within := s.until.Sub(s.begun) // a context's time is real
	expect.That(t, (within-s.had[0]).Abs() < time.Second, "it had %s of its %s", within, s.had)
	w.ends(task.ExecutionRunning, "", task.StepUnknown)
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
}

func testPanics(t *testing.T, w *world) {
	w.tools.sees, w.tools.before = true, func(tool.Call) { panic(ringitest.Text) }
	w.approved(w.lone(1))
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
	reads := w.another()
	reads.approved(reads.read(1))
	reads.run()
	reads.ends(task.ExecutionFailed, task.ReasonToolFailed, task.StepFailed)
}

// The approved department does not exist at freee: a retry would make the same call.
func testNoSuchDepartment(t *testing.T, w *world) {
	w.approved(w.step(1, listing, aggregate.Read, `{"department":"経理部","status":"active"}`))
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonToolValue, task.StepFailed)
}

// fixedPermissions has the permissions in memory, so that the table is not read.
type fixedPermissions struct{ Store }

func (fixedPermissions) ToolPermission(context.Context, string, string) (tenancy.ToolPermission, bool, error) {
	return tenancy.ToolPermission{Allowed: true}, false, nil
}

func (fixedPermissions) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

// failing stores no results, and takes long to say so.
type failing struct {
	Results
	w *world
}

func (f *failing) Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	if !strings.Contains(string(v), `"url"`) { // which a write's result has
		return f.Results.Keep(ctx, ref, v)
	}
	f.w.later(20 * time.Second)
	return aggregate.Blob{Bytes: len(v)}, context.DeadlineExceeded
}

// away stores no result at the first try.
type away struct {
	Results
	tried atomic.Bool
}

func (x *away) Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	if x.tried.CompareAndSwap(false, true) {
		return aggregate.Blob{}, context.DeadlineExceeded
	}
	return x.Results.Keep(ctx, ref, v)
}

func testKeptLater(t *testing.T, w *world) {
	w.approved(w.read(1))
	w.h.Results = &away{Results: w.h.Results}
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	expect.Is(t, w.vendors.Calls(listing), 1, "calls listed")
}

func testNotKept(t *testing.T, w *world) {
	w.approved(w.lone(1))
	w.h.Results = &failing{w.h.Results, w}
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	w.written(1)
}

func testTwoAtOnce(t *testing.T, w *world) {
	w.approved(w.read(1), w.write(2))
	w.vendors.Hang(listing, 200*time.Millisecond)
	w.vendors.Hang(writing, 200*time.Millisecond)
	in := w.In()
	expect.AtOnce(4, func(int) {
		next, err := w.h.Handle(t.Context(), in)
		if errors.Is(err, aggregate.ErrSuperseded) {
			return // everything was already done
		}
		expect.That(t, (err == nil || pipeline.Name(err) == pipeline.Unavailable) &&
			(err != nil || next.State == task.StatePause || next.State == task.StateFinish), "%+v, %v", next, err)
	})
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
	expect.Is(t, w.vendors.Calls(listing), 1, "calls listed")
}

// alwaysMoved answers every commit with ErrMoved.
type alwaysMoved struct {
	Store
	asked int
}

func (c *alwaysMoved) DecideOn(context.Context, *task.Aggregate, task.Decision) (*task.Aggregate, error) {
	c.asked++
	return nil, aggregate.ErrMoved
}

// The state machine passes an error of Ringi's to CloseTask, which fails the execution.
func testNoProgress(t *testing.T, w *world) {
	w.approved(w.lone(1))
	c := &alwaysMoved{Store: w.h.Store}
	w.h.Store = c
	next, err := w.try(functionTime)
	expect.That(t, errors.Is(err, errNoProgress) && pipeline.Name(err) == pipeline.Internal, "%+v, %v", next, err)
	expect.That(t, c.asked <= maxIdleTurns, "it went round %d times", c.asked)
	w.written(0)
}

// A write is answered after its lease has ended, the execution has failed, and a person has tried again.
func testLateWrite(t *testing.T, w *world) {
	w.approved(w.lone(1))
	first := true
	w.tools.before = func(tool.Call) {
		expect.That(t, first, "it is written again")
		if first = false; w.Load().Execution().Attempt > 1 {
			return
		}
		w.later(2 * time.Minute)
		another := *w.h
		another.Tools = w.tools.Runner
		expect.Is(t, expect.Value(another.Handle(t.Context(), w.In()))(t).State, task.StateFail)
		e := w.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepUnknown)
		w.retry(e)
	}
	expect.Fails(t, expect.Err(w.try(functionTime)), aggregate.ErrSuperseded)
	w.run()
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	expect.That(t, e.Attempt == 2 && e.Results[0].Reused, "attempt %d with %+v", e.Attempt, e.Results)
	w.written(1)
}
