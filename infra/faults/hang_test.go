package faults

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

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
				if status, said := d.deliver(l); status != http.StatusBadRequest || !strings.Contains(said, "ConditionalCheckFailed") {
					failf("the late write was answered %d %s", status, said)
				}
			}
			d := expect.Value(running.run(s))(t)
			x := trial{scenario: s, base: want, result: d}
			if err := x.check(); err != nil {
				t.Error(err)
			}
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
