package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// A step's result and the next step's claim are one commit. Whatever refuses the claim, the result is saved at once and
// each call is made once.
func TestAResultIsSavedWithTheNextClaimOrAlone(t *testing.T) {
	server := pipelinetest.Start(t)
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, w *world)
	}{
		{"one commit for each of the steps", testJoined},
		{"when the task is cancelled at the start", testStartCancelled},
		{"after the next tool was forbidden", testJoinForbidden},
		{"after another run began", testJoinSuperseded},
		{"when the commit's answer is lost", testJoinLost},
		{"when the commit's answer is lost until the call's time is up", testJoinLostForLong},
		{"when the commit never arrives", testJoinDropped},
		{"when the invocation dies before the next call", testJoinDied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, newWorld(t, server))
		})
	}
}

// commits returns how many transactions do makes.
func (w *world) commits(do func()) int {
	before := w.Transport.Count("TransactWriteItems")
	do()
	return w.Transport.Count("TransactWriteItems") - before
}

// onCall calls do before the n-th call of a tool.
func (w *world) onCall(n int, do func()) {
	calls := 0
	w.tools.before = func(tool.Call) {
		if calls++; calls == n {
			do()
		}
	}
}

// supersede starts another run, as when this one's call takes too long.
func (w *world) supersede() {
	w.Later(w.h.Now().Add(2 * time.Minute).Sub(w.Now()))
	w.Restart()
}

func testJoined(t *testing.T, w *world) {
	w.approved(w.read(1), w.write(2), w.lone(3))
	began := w.Load().Head.Rev
	n := w.commits(func() { w.run() })
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted, task.StepCompleted)
	w.written(2)
	a := w.Load()
	expect.That(t, n == 5 && a.Head.Rev == began+5, "%d commits, revision %d, want 5 after %d", n, a.Head.Rev, began)
	expect.That(t, a.Steps[0].StartedAt.Equal(*e.StartedAt), "it started %s, the first step %s", e.StartedAt,
		a.Steps[0].StartedAt)
	for i, s := range a.Steps[1:] {
		expect.That(t, s.StartedAt.Equal(*a.Steps[i].CompletedAt), "step %d ended %s, the next began %s", i+1,
			a.Steps[i].CompletedAt, s.StartedAt)
	}
}

func testStartCancelled(t *testing.T, w *world) {
	w.approved(w.lone(1))
	w.Transport.Before("TransactWriteItems", func() { w.Cancel() })
	expect.Fails(t, expect.Err(w.try(functionTime)), aggregate.ErrSuperseded, "it starts")
	w.ends(task.ExecutionCancelled, "")
	w.written(0)
}

// forbid takes away a tool's permission.
func (w *world) forbid(name string) {
	w.T.Helper()
	p := expect.Value(second(w.Store.ToolPermission(w.T.Context(), w.Ref.Tenant, name)))(w.T)
	p.Allowed = false
	expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, pipelinetest.Approver(), w.Now()))(w.T)
}

func testJoinForbidden(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	w.onCall(1, func() { w.forbid(writing) })
	expect.Is(t, w.run().State, task.StateFail)
	w.ends(task.ExecutionFailed, task.ReasonToolNotAllowed, task.StepCompleted)
	w.written(0)
}

func second(p tenancy.ToolPermission, _ bool, err error) (tenancy.ToolPermission, error) {
	return p, err
}

func testJoinSuperseded(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	w.onCall(1, w.supersede)
	expect.Fails(t, expect.Err(w.try(functionTime)), aggregate.ErrSuperseded, "the run goes on")
	w.ends(task.ExecutionRunning, "", task.StepCompleted)
	w.written(0)
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
}

// unsure loses the answers to the next commit, and to what would tell that it was written.
func (w *world) unsure() {
	w.Transport.DropAnswers("TransactWriteItems", 3) // all that the client tries
	w.Transport.DropCalls("GetItem", 6)
	w.h.Store = fixedPermissions{w.h.Store}
}

func testJoinLost(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	w.onCall(1, w.unsure)
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
	expect.Is(t, w.vendors.Calls(listing), 1, "calls listed")
}

// The second step's claim is found when its time is already up. It is not called any more: a write is then unknown, as
// after a crash between claim and call.
func testJoinLostForLong(t *testing.T, w *world) {
	w.approved(w.read(1), w.read(2))
	w.onCall(1, func() {
		w.unsure()
		w.Transport.Before("Query", func() { w.later(2 * time.Minute) })
	})
	w.goesWell(func() (aggregate.Next, error) {
		next, err := w.try(functionTime)
		expect.That(t, err != nil || next.State == task.StateFinish, "%+v", next)
		return next, err
	})
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	crashes := w.Load().StepOf(e, 2).Crashes
	expect.That(t, crashes == 1 && w.vendors.Calls(listing) == 2, "%d crashes, %d calls", crashes,
		w.vendors.Calls(listing))
}

func testJoinDropped(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	w.onCall(1, func() { w.Transport.DropCalls("TransactWriteItems", 8) })
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
	expect.Is(t, w.vendors.Calls(listing), 1, "calls listed")
}

// dies ends the invocation instead of a call.
type dies struct {
	Tools
	cancel func()
}

func (d dies) Run(ctx context.Context, c tool.Call) (json.RawMessage, error) {
	if c.Tool == listing {
		return d.Tools.Run(ctx, c)
	}
	d.cancel()
	return nil, ctx.Err()
}

func testJoinDied(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	alive := w.h.Tools
	ctx, cancel := context.WithCancel(t.Context())
	w.h.Tools = dies{alive, cancel}
	expect.That(t, expect.Err(w.h.Handle(ctx, w.In())) != nil, "it is alive")
	w.ends(task.ExecutionRunning, "", task.StepCompleted, task.StepRunning)
	w.h.Tools = alive
	expect.Is(t, w.run().State, task.StatePause)
	w.later(2 * time.Minute)
	expect.Is(t, w.run().State, task.StateFail)
	w.ends(task.ExecutionFailed, task.ReasonToolUnknown, task.StepCompleted, task.StepUnknown)
	w.written(0)
}
