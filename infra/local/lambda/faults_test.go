package lambda_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/lambda"
	"ringi/shared/runtime/expect"
)

// plannedFault applies a fault at the first moment of this kind.
type plannedFault struct {
	kind  string
	fault lambda.Fault
	cold  bool // every invocation gets a new process

	busy bool // Lambda refuses the invocation

	mu   sync.Mutex
	seen []string
	died int
}

func (d *plannedFault) Meet(c lambda.Call) lambda.Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, c.Function+" "+c.Kind+" "+string(c.Event))
	if c.Kind != d.kind || d.died > 0 {
		return lambda.Fault{}
	}
	return d.fault
}

func (d *plannedFault) Busy(string, []byte) bool { return d.busy }

func (d *plannedFault) Cold(string, []byte) bool { return d.cold }

func (d *plannedFault) Dying(lambda.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.died++
}

// startWithFault starts Probe, which calls a service during its start. posted counts the POST requests that the service
// receives.
func startWithFault(t *testing.T, d *plannedFault, timeout time.Duration) (s *lambda.Service, posted *atomic.Int32) {
	t.Helper()
	expect.Patience(t)
	built := expect.Value(build())(t)
	posted = &atomic.Int32{}
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posted.Add(1)
		}
	}))
	t.Cleanup(service.Close)
	s = lambda.New(lambda.Options{Region: "us-east-1", Account: "123456789012", Faults: d, Functions: []lambda.Function{{
		Name: "Probe", Binary: built.Binaries["probe"], Timeout: timeout, Environment: map[string]string{"SERVICE_URL": service.URL, "WARM": "1"},
	}}})
	t.Cleanup(s.Close)
	return s, posted
}

func TestAProcessDiesWhereItShould(t *testing.T) {
	const call, event = "POST /things/*", `{"Do":"call","Text":"x"}`
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	tests := []struct {
		name   string
		kind   string
		fate   lambda.Fault
		calls  int32  // requests that reached the service
		failed bool   // whether the invocation failed
		text   string // the function's answer
	}{
		{"it lives", "nothing", lambda.Fault{}, 1, false, "200 OK"},
		{"before it asks for an event", lambda.KindInit, lambda.Fault{Kill: lambda.Before}, 0, true, ""},
		{"in a call of its start", "GET /warm", lambda.Fault{Kill: lambda.Before}, 0, true, ""},
		{"at its start nothing was called", lambda.KindStart, lambda.Fault{Kill: lambda.Before}, 0, true, ""},
		{"before a call that never leaves", call, lambda.Fault{Kill: lambda.Before}, 0, true, ""},
		{"after a call that was done", call, lambda.Fault{Kill: lambda.After}, 1, true, ""},
		{"before its answer everything was called", lambda.KindAnswer, lambda.Fault{Kill: lambda.Before}, 1, true, ""},
		{"a call is answered in the service's place", call, lambda.Fault{Instead: refuse}, 0, false, "429 Too Many Requests"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &plannedFault{kind: tt.kind, fault: tt.fate}
			s, calls := startWithFault(t, d, time.Minute)
			a, r := invoke(t, s, event)
			expect.That(t, r.Failed == tt.failed && a.Text == tt.text && calls.Load() == tt.calls,
				"failed %v, answer %q, %d calls", r.Failed, a.Text, calls.Load())
			if tt.failed && a.ErrorType != "Runtime.ExitError" {
				t.Errorf("error type %s", a.ErrorType)
			}
			if tt.kind == "nothing" {
				want := []string{"Probe GET /warm " + event, "Probe init " + event, "Probe start " + event, "Probe " + call + " " + event, "Probe answer " + event}
				expect.Same(t, want, d.seen)
			}
			if a, r := invoke(t, s, `{"Text":"next"}`); r.Failed || a.Text != "next" {
				t.Errorf("the next invocation: %s", r.Payload)
			}
		})
	}
}

// A cold start replaces an idle process, even if only one process is allowed.
func TestAColdStartReplacesTheIdleProcess(t *testing.T) {
	d := &plannedFault{}
	s, _ := startWithFault(t, d, time.Minute)
	first, _ := invoke(t, s, `{}`)
	if again, _ := invoke(t, s, `{}`); again.PID != first.PID {
		t.Errorf("process %d, not the idle %d", again.PID, first.PID)
	}
	d.cold = true
	if cold, r := invoke(t, s, `{}`); r.Failed || cold.PID == first.PID {
		t.Errorf("%s by process %d again", r.Payload, cold.PID)
	}
	n := len(s.PIDs("Probe"))
	expect.That(t, n == 1, "%d processes are left", n)
}

// A frozen process is killed at the function's timeout, or earlier if the fault says so. Its call continues.
func TestAFrozenProcessIsKilledWhenItsTimeIsUp(t *testing.T) {
	const call = "POST /things/*"
	for name, tt := range map[string]struct{ timeout, left time.Duration }{
		"at its timeout": {time.Second, time.Hour}, "sooner, where time flies": {time.Hour, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			called, ended := make(chan bool, 1), make(chan bool, 1)
			late := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				called <- true
				<-r.Context().Done() // ends when the process is killed
				ended <- true
			})
			s, _ := startWithFault(t, &plannedFault{kind: call, fault: lambda.Fault{Instead: late, Freeze: tt.left}}, tt.timeout)
			for try := 1; len(called) == 0; try++ { // on a busy machine the call may not be made in time
				begun := time.Now()
				a, r := invoke(t, s, `{"Do":"call","Text":"x"}`)
				expect.Must(t, r.Failed && a.ErrorType == "Sandbox.Timedout" && time.Since(begun) <= 30*time.Second && try != 10,
					"%s after %s", r.Payload, time.Since(begun))
			}
			<-ended
		})
	}
}

func TestLambdaIsBusy(t *testing.T) {
	d := &plannedFault{busy: true}
	s, posted := startWithFault(t, d, time.Minute)
	if _, err := s.Invoke(t.Context(), "Probe", []byte(`{}`)); !errors.Is(err, lambda.ErrBusy) || posted.Load() != 0 || len(d.seen) != 0 {
		t.Errorf("%v after %d calls: %v", err, posted.Load(), d.seen)
	}
}
