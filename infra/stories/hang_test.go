package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// What happens when a process hangs: in a call, past its lease, past its time, or while another run takes over.

// invokeAgain invokes a function for the task's run once more, as the state machine does after giving up the first
// invocation.
func (p *play) invokeAgain(function string) {
	payload := expect.Value(json.Marshal(map[string]any{"tenant": p.Ref.Tenant, "task": p.Ref.ID,
		"run": p.Load().Head.Run}))(p.t)
	result, err := p.Lambda.Invoke(context.Background(), function, payload)
	if err != nil || result.Failed {
		failf("the successor of %s: %v %s", function, err, result.Payload)
	}
}

// TestASuccessorReadsAgain: an invocation hangs in a read, past its lease; its successor repeats the read and goes on.
// The first one's late result changes nothing.
func TestASuccessorReadsAgain(t *testing.T) {
	t.Parallel()
	running.variant(t, "request", func(p *play) {
		release := p.holds(point{function: execute, kind: readStaff, ordinal: 1}.moment())
		defer release()
		p.asks(month)
		p.approvesGates()
		p.Eventually("the call is out", func() bool { return p.met(execute, readStaff) > 0 })
		p.expire(true)
		p.invokeAgain(execute)
		if n := p.met(execute, readStaff); n != 2 {
			failf("the read was made %d times", n)
		}
		release()
		p.untilCompleted()
	})
}

// untilUnknown has an invocation hang in a write, past its lease, while nobody can look whether it arrived.
func (p *play) untilUnknown(write, look string) (release func()) {
	release = p.holds(point{function: execute, kind: write, ordinal: 1}.moment())
	p.approvesGates()
	p.Eventually("the write is out", func() bool { return p.met(execute, write) > 0 })
	p.expire(true)
	p.refuses(look, http.StatusForbidden)
	p.invokeAgain(execute)
	p.refuses(look, 0)
	p.Eventually("the outcome is unknown", func() bool { return p.Shows(driver.ExecutionCard, "結果不明") })
	if n := p.met(execute, write); n != 1 {
		failf("the write was made %d times", n)
	}
	return release
}

// TestASuccessorNeverWritesAgain: an invocation hangs in a write, past its lease; its successor reports 結果不明 and does
// not repeat the write. The first one's late result is recorded, and a person who tries again gets it without a second
// write. Or two people who looked say that it arrived: the task goes on after it once, and the result that comes then
// changes nothing.
func TestASuccessorNeverWritesAgain(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, write string, act func(*play), held func(is *task.StepResult) bool) {
		t.Parallel()
		p := expect.Value(running.plays(story{name: "unknown", act: act}))(t)
		p.T = t
		got, a := expect.Value(p.end())(t), p.Load()
		is := a.StepOf(a.Execution(), map[string]int{writeRows: 4, direct: len(a.Process().Steps)}[write])
		expect.That(t, got.Sent[execute+" "+write] == 1 && got.Sent[execute+" "+direct] == 1 &&
			a.Task.Status == task.TaskCompleted && a.Execution().Attempt == 2 && is.Reused && held(is),
			"sent %v, task %s, attempt %d, %+v", got.Sent, a.Task.Status, a.Execution().Attempt, is)
	}
	t.Run("its answer comes late", func(t *testing.T) {
		check(t, writeRows, func(p *play) {
			p.asks(month)
			release := p.untilUnknown(writeRows, readRows)
			defer release()
			release()
			p.Eventually("the late truth is recorded", func() bool {
				a := p.Load()
				row := a.StepOf(a.Execution(), 4)
				return row != nil && row.Status == task.StepCompleted
			})
			p.asked++
			p.ClickUntilTaken(webapi.Sato, driver.ExecutionCard, "retry_execution")
			p.untilCompleted()
		}, func(*task.StepResult) bool { return true })
	})
	t.Run("people say that it arrived", func(t *testing.T) {
		check(t, direct, func(p *play) {
			p.asks(staff)
			release := p.untilUnknown(direct, "POST /api/conversations.history")
			defer release()
			shown := p.Card(driver.ExecutionCard, "confirm_write")
			expect.AtOnce(3, func(i int) {
				who := []string{webapi.Sato, webapi.Sato, webapi.Suzuki}[i]
				_ = p.Sandbox.Click(who, webapi.HR, shown.TS, "confirm_write")
			})
			p.Eventually("it goes on", func() bool { return !p.Shows(driver.ExecutionCard, "結果不明") })
			p.untilCompleted()
			release()
			p.Eventually("the write is answered", func() bool { return p.made(execute, direct) == 1 })
		}, func(is *task.StepResult) bool { return is.ConfirmedBy != "" && is.Result.JSON == "{}" })
	})
}

// TestTwoRunsAtOnce: a run hangs at a commit; twenty minutes later the sweeper starts another. When the first
// continues, its commit is refused, and it ends.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	for function, gates := range map[string]int{ // that are decided before
		"ExtractTaskFunction": 0, "DraftPromptFunction": 0, "PlanProcessFunction": 1, execute: 2,
	} {
		t.Run(function, func(t *testing.T) {
			if gates < 2 {
				expect.AtNight(t)
			}
			t.Parallel()
			running.variant(t, "request", func(p *play) {
				at := point{function: function, kind: commit, ordinal: 1}
				release := p.holds(at.moment())
				defer release()
				p.asks(month)
				clicks := []func(){p.approvesPolicy, p.approvesSteps}
				for _, click := range clicks[:gates] {
					click()
				}
				p.Eventually("the run hangs", func() bool { return p.met(function, commit) >= 1 })
				p.SetRow(aggregate.HeadKey, "SET changed_at = :v", time.Now().Add(-21*time.Minute))
				p.Eventually("the sweeper starts another", func() bool { p.sweep(); return p.Load().Head.Run == 2 })
				p.Eventually("the second run has done it", func() bool { return p.met(function, commit) > 1 })
				release()
				for _, click := range clicks[gates:] {
					click()
				}
				p.untilCompleted()
			})
		})
	}
}

const commit = "DynamoDB.TransactWriteItems"

// callInFlight is a call whose process was killed before the call reached its service.
type callInFlight struct {
	header http.Header
	body   []byte
	sent   time.Time
	held   func()        // called when the call has come
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
	l.held()
	<-r.Context().Done()
	l.lived = time.Since(l.sent)
	close(l.gone)
}

// deliver sends the call to its service after all, and returns the table's answer.
func (p *play) deliver(l *callInFlight) (status int, said string) {
	req := expect.Value(http.NewRequest(http.MethodPost, p.AWSEndpoint, bytes.NewReader(l.body)))(p.t)
	req.Header = l.header
	res := expect.Value(http.DefaultClient.Do(req))(p.t)
	defer res.Body.Close()
	return res.StatusCode, string(expect.Value(io.ReadAll(res.Body))(p.t))
}

// TestAFunctionHangsPastItsTime: a process hangs in the middle of a write until Lambda kills it at its timeout. Its
// successor does the work, and the write, which arrives after that, is refused. At night more functions hang, and no
// timeout is shortened.
func TestAFunctionHangsPastItsTime(t *testing.T) {
	t.Parallel()
	const late = 20 * time.Second // how late, on a busy machine, the test may notice that a process was killed
	for i, at := range []point{
		{function: "ReceiveEventFunction", kind: commit, ordinal: 1},
		{function: execute, kind: commit, ordinal: 3}, // the result of a read; by day this one's time is short
		{function: execute, kind: commit, ordinal: 2}, // its claim
		{function: "DraftPromptFunction", kind: commit, ordinal: 1},
		{function: drawer, kind: "DynamoDB.UpdateItem", ordinal: 1},
	} {
		if i > 1 && !expect.Long() {
			break
		}
		t.Run(at.moment(), func(t *testing.T) {
			t.Parallel()
			var limit time.Duration
			for _, f := range running.Template.Functions {
				if f.ID == at.function {
					limit = f.Timeout
				}
			}
			short := i == 1 && !expect.Long()
			running.variant(t, "request", func(p *play) {
				l, began := &callInFlight{gone: make(chan struct{})}, time.Now()
				end := p.freezes(at, limit)
				l.held = func() {
					if short { // its leases end with its time, before its successor comes
						p.expire(true)
						end()
					}
				}
				p.answers(at, l)
				p.asks(month)
				if at.function == execute {
					p.approvesGates()
				}
				p.Eventually("it hangs", func() bool { return p.met(at.function, at.kind) >= at.ordinal })
				<-l.gone
				if l.lived > limit+late || !short && time.Since(began) < limit { // the timeout starts with the invocation
					failf("it was killed %s after its call, %s after all began, not %s", l.lived, time.Since(began), limit)
				}
				if at.function == execute {
					p.untilCompleted()
				} else {
					p.approvesBoth()
				}
				if status, said := p.deliver(l); status != http.StatusBadRequest ||
					!strings.Contains(said, "ConditionalCheckFailed") {
					failf("the late write was answered %d %s", status, said)
				}
			})
		})
	}
}
