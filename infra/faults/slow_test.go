package faults

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// happyEnd returns the result of the undisturbed happy scenario.
func (b *harness) happyEnd(t *testing.T) end {
	t.Helper()
	return b.undisturbed(t)[0].base
}

// runHappy runs a variant of the happy scenario and fails the test if its result differs.
func (b *harness) runHappy(t *testing.T, act func(*scenarioRun)) {
	t.Helper()
	want := b.happyEnd(t)
	s := scenarios()[0]
	s.act = act
	d := expect.Value(b.run(s))(t)
	x := trial{scenario: s, base: want, result: d}
	if err := x.check(); err != nil {
		t.Error(err)
	}
}

// invokeAgain invokes a function for the task's run once more, as the state machine does after giving up the first
// invocation.
func (d *scenarioRun) invokeAgain(function string) {
	payload, err := json.Marshal(map[string]any{"tenant": d.Ref.Tenant, "task": d.Ref.ID, "run": d.Load().Head.Run})
	if err != nil {
		failf("%w", err)
	}
	result, err := d.Lambda.Invoke(context.Background(), function, payload)
	if err != nil || result.Failed {
		failf("the successor of %s: %v %s", function, err, result.Payload)
	}
}

// TestASuccessorReadsAgain: an invocation hangs in a read, past its lease; its successor repeats the read and goes on.
// The first one's late result changes nothing.
func TestASuccessorReadsAgain(t *testing.T) {
	t.Parallel()
	running.runHappy(t, func(d *scenarioRun) {
		release := d.holds(point{function: execute, kind: readStaff, ordinal: 1}.moment())
		defer release()
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
		d.Eventually("the call is out", func() bool { return d.met(execute, readStaff) > 0 })
		d.clock.expire(d, true)
		d.invokeAgain(execute)
		if n := d.met(execute, readStaff); n != 2 {
			failf("the read was made %d times", n)
		}
		release()
		d.untilCompleted()
	})
}

// TestASuccessorNeverWritesAgain: an invocation hangs in a write, past its lease; its successor reports 結果不明 and does
// not repeat the write. The first one's late result is recorded, and a person who retries gets it without a second
// write.
func TestASuccessorNeverWritesAgain(t *testing.T) {
	t.Parallel()
	b := running
	want := b.happyEnd(t)
	s := scenarios()[0]
	s.act = func(d *scenarioRun) {
		release := d.holds(writeRows)
		defer release()
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
		d.Eventually("the write is out", func() bool { return d.met(execute, writeRows) > 0 })
		d.clock.expire(d, true)
		d.invokeAgain(execute)
		d.Eventually("the outcome is unknown", func() bool { return d.Shows("CARD#execution", "結果不明") })
		if n := d.met(execute, writeRows); n != 1 {
			failf("the write was made %d times", n)
		}
		release()
		d.Eventually("the late truth is recorded", func() bool {
			a := d.Load()
			row := a.StepOf(a.Execution(), 4)
			return row != nil && row.Status == task.StepCompleted
		})
		d.asked++
		d.ClickUntilTaken(webapi.Sato, "CARD#execution", "retry_execution")
		d.untilCompleted()
	}
	d := expect.Value(b.run(s))(t)
	got := settled(t, d)
	if got.Sent[writeRows] != want.Sent[writeRows] || got.Sent[direct] != want.Sent[direct] {
		t.Errorf("write tools were called %v times, undisturbed %v", got.Sent, want.Sent)
	}
	if a := d.Load(); a.Task.Status != task.TaskCompleted || a.Execution().Attempt != 2 || !a.StepOf(a.Execution(), 4).Reused {
		t.Errorf("task %s, attempt %d", a.Task.Status, a.Execution().Attempt)
	}
}

// TestTwoRunsAtOnce: a run hangs at a commit; twenty minutes later the sweeper starts another. When the first
// continues, its commit is refused, and it ends.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	commit := "DynamoDB.TransactWriteItems"
	for _, at := range []struct {
		point
		gates int // that are decided before
	}{
		{point{function: "ExtractTaskFunction", kind: commit, ordinal: 1}, 0},
		{point{function: "DraftPromptFunction", kind: commit, ordinal: 1}, 0},
		{point{function: "PlanProcessFunction", kind: commit, ordinal: 1}, 1},
		{point{function: execute, kind: commit, ordinal: 1}, 2},
	} {
		t.Run(at.moment(), func(t *testing.T) {
			if at.gates == 0 && at.function != "DraftPromptFunction" {
				expect.AtNight(t)
			}
			t.Parallel()
			running.runHappy(t, func(d *scenarioRun) {
				release := d.holds(at.moment())
				defer release()
				clicks := []func(){
					func() { d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt") },
					func() { d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process") },
				}
				for _, click := range clicks[:at.gates] {
					click()
				}
				d.Eventually("the run hangs", func() bool { return d.met(at.function, at.kind) >= at.ordinal })
				d.stuckFor(21 * time.Minute)
				d.clock.sweep(d)
				if run := d.Load().Head.Run; run != 2 {
					failf("the sweeper left run %d in charge", run)
				}
				d.Eventually("the second run has done it", func() bool { return d.met(at.function, at.kind) > at.ordinal })
				release()
				for _, click := range clicks[at.gates:] {
					click()
				}
				d.untilCompleted()
			})
		})
	}
}

// stuckFor makes the task's newest change as old as age.
func (d *scenarioRun) stuckFor(age time.Duration) {
	d.SetRow(aggregate.HeadKey, "SET changed_at = :v", time.Now().Add(-age))
}
