package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
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
	err := x.check()
	expect.That(t, err == nil, "%v", err)
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
		release := d.untilUnknown(writeRows, readRows)
		defer release()
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
	expect.That(t, got.Sent[writeRows] == want.Sent[writeRows] && got.Sent[direct] == want.Sent[direct],
		"write tools were called %v times, undisturbed %v", got.Sent, want.Sent)
	a := d.Load()
	expect.That(t, a.Task.Status == task.TaskCompleted && a.Execution().Attempt == 2 &&
		a.StepOf(a.Execution(), 4).Reused, "task %s, attempt %d", a.Task.Status, a.Execution().Attempt)
}

// untilUnknown has an invocation hang in a write, past its lease, while nobody can look whether it arrived.
func (d *scenarioRun) untilUnknown(write, look string) (release func()) {
	release = d.holds(point{function: execute, kind: write, ordinal: 1}.moment())
	d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
	d.Eventually("the write is out", func() bool { return d.met(execute, write) > 0 })
	d.clock.expire(d, true)
	d.refuses(look, http.StatusForbidden)
	d.invokeAgain(execute)
	d.refuses(look, 0)
	d.Eventually("the outcome is unknown", func() bool { return d.Shows("CARD#execution", "結果不明") })
	if n := d.met(execute, write); n != 1 {
		failf("the write was made %d times", n)
	}
	return release
}

// TestAPersonSaysThatAWriteArrived: an invocation hangs between a write's claim and its result; two people who looked
// say that it arrived. The task goes on after it once, and the result that comes then changes nothing.
func TestAPersonSaysThatAWriteArrived(t *testing.T) {
	t.Parallel()
	s := scenario{name: "arrived", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
		release := d.untilUnknown(direct, "POST /api/conversations.history")
		defer release()
		shown := d.Card("CARD#execution", "confirm_write")
		var all sync.WaitGroup
		for _, who := range []string{webapi.Sato, webapi.Sato, webapi.Suzuki} {
			all.Go(func() { _ = d.Sandbox.Click(who, webapi.HR, shown.TS, "confirm_write") })
		}
		all.Wait()
		d.untilCompleted()
		release()
		d.Eventually("the write is answered", func() bool { return d.made(execute, direct) == 1 })
	}}
	d := expect.Value(running.run(s))(t)
	got, a := settled(t, d), d.Load()
	is := a.StepOf(a.Execution(), len(a.Process().Steps))
	expect.That(t, got.Sent[direct] == 1 && a.Task.Status == task.TaskCompleted && a.Execution().Attempt == 2 &&
		is.Reused && is.ConfirmedBy != "" && is.Result.JSON == "{}", "sent %v, task %s, attempt %d, %+v", got.Sent,
		a.Task.Status, a.Execution().Attempt, is)
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
			if at.gates < 2 {
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

// patience is how late, on a busy machine, the test may notice that a process was killed.
const patience = 20 * time.Second

// callInFlight is a call whose process was killed before the call reached its service.
type callInFlight struct {
	header http.Header
	body   []byte
	sent   time.Time
	gone   chan struct{} // closed when the process is killed
	lived  time.Duration // time from the call to the kill; valid once gone is closed
}

// ServeHTTP holds the call until its process is killed.
func (l *callInFlight) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	l.header, l.body, l.sent = r.Header.Clone(), body, time.Now()
	<-r.Context().Done()
	l.lived = time.Since(l.sent)
	close(l.gone)
}

// hangInFlight makes the process at a crash point hang with its call in flight until it is killed: at its timeout, or
// after left.
func (d *scenarioRun) hangInFlight(at point, left time.Duration) *callInFlight {
	l := &callInFlight{gone: make(chan struct{})}
	d.freezes(at, left)
	d.answers(at, l)
	return l
}

// deliver sends the call to its service after all, and returns the table's answer.
func (d *scenarioRun) deliver(l *callInFlight) (status int, said string) {
	req, err := http.NewRequest(http.MethodPost, d.AWSEndpoint, bytes.NewReader(l.body))
	if err != nil {
		failf("%w", err)
	}
	req.Header = l.header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		failf("deliver a late call: %w", err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		failf("deliver a late call: %w", err)
	}
	return res.StatusCode, string(answer)
}

// TestAFunctionHangsPastItsTime: a process hangs in the middle of a write until Lambda kills it at its timeout. Its
// successor does the work, and the write, which arrives after that, is refused. At night more functions hang, and no
// timeout is shortened.
func TestAFunctionHangsPastItsTime(t *testing.T) {
	t.Parallel()
	const commit = "DynamoDB.TransactWriteItems"
	for i, tt := range []struct {
		at   point
		left time.Duration // how much of its time the function has by day; an hour leaves the template's limit
	}{
		{point{function: "ReceiveEventFunction", kind: commit, ordinal: 1}, time.Hour},
		{point{function: execute, kind: commit, ordinal: 3}, time.Second}, // the result of a read
		{point{function: execute, kind: commit, ordinal: 2}, 0},           // its claim
		{point{function: "DraftPromptFunction", kind: commit, ordinal: 2}, 0},
		{point{function: "UpdateCardFunction", kind: "DynamoDB.UpdateItem", ordinal: 1}, 0},
	} {
		if i > 1 && !expect.Long() {
			break
		}
		t.Run(tt.at.moment(), func(t *testing.T) {
			t.Parallel()
			want := running.happyEnd(t)
			limit := running.timeout(t, tt.at.function)
			if expect.Long() || tt.left > limit {
				tt.left = limit
			}
			s := scenarios()[0]
			var l *callInFlight
			var began time.Time
			s.before = func(d *scenarioRun) { l, began = d.hangInFlight(tt.at, tt.left), time.Now() }
			s.act = func(d *scenarioRun) {
				if tt.at.function == execute {
					d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
					d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
				}
				d.Eventually("it hangs", func() bool { return d.met(tt.at.function, tt.at.kind) >= tt.at.ordinal })
				if tt.left < limit { // then its leases have expired too
					d.clock.expire(d, tt.at.function == execute)
				}
				<-l.gone
				if l.lived > tt.left+patience || time.Since(began) < tt.left { // the timeout starts with the invocation
					failf("it was killed %s after its call, %s after all began, not %s", l.lived, time.Since(began), tt.left)
				}
				if tt.at.function == execute {
					d.untilCompleted()
				} else {
					d.approveBoth()
				}
				if status, said := d.deliver(l); status != http.StatusBadRequest ||
					!strings.Contains(said, "ConditionalCheckFailed") {
					failf("the late write was answered %d %s", status, said)
				}
			}
			d := expect.Value(running.run(s))(t)
			x := trial{scenario: s, base: want, result: d}
			err := x.check()
			expect.That(t, err == nil, "%v", err)
		})
	}
}

// timeout returns a function's timeout in the template.
func (b *harness) timeout(t *testing.T, function string) time.Duration {
	t.Helper()
	for _, f := range b.Template.Functions {
		if f.ID == function {
			return f.Timeout
		}
	}
	t.Fatalf("the template has no %s", function)
	return 0
}
