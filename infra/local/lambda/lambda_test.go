package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/outbound"
)

// into is where the functions that these tests build go. The stack's Python environment stays where it is.
var into string

var build = sync.OnceValues(func() (map[string]string, error) {
	before, set := os.LookupEnv(process.FolderVariable)
	os.Setenv(process.FolderVariable, into)
	defer func() {
		if os.Unsetenv(process.FolderVariable); set {
			os.Setenv(process.FolderVariable, before)
		}
	}()
	return lambda.Build(context.Background(), "testdata", lambda.LikeTests, nil)
})

// sandbox builds the sandbox's own command.
var sandbox = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(into, "sandbox")
	cmd := lambda.LikeTests.Build(context.Background(), "", binary, "", "ringi/functions/run-sandbox")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	var err error
	if into, err = os.MkdirTemp("", "build"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(into)
	os.Exit(code)
}

type probeAnswer struct {
	Text, RequestID, ARN string
	PID                  int
	Left                 time.Duration
	Variables            map[string]string
	ErrorType            string `json:"errorType"`
	ErrorMessage         string `json:"errorMessage"`
}

func start(t *testing.T, change func(*lambda.Function), log *bytes.Buffer) *lambda.Service {
	t.Helper()
	built := expect.Value(build())(t)
	f := lambda.Function{Binary: built["probe"], Function: template.Function{ID: "Probe", Timeout: time.Minute,
		Memory: 256, LogLevel: "INFO", Environment: map[string]string{"TABLE_NAME": "rows"}}}
	if change != nil {
		change(&f)
	}
	o := lambda.Options{Functions: []lambda.Function{f}, Endpoint: "http://127.0.0.1:1"}
	if log != nil {
		o.Log = log
	}
	s := lambda.New(o)
	t.Cleanup(s.Close)
	return s
}

func invoke(t *testing.T, s *lambda.Service, event string) (probeAnswer, lambda.Result) {
	t.Helper()
	r, err := s.Invoke(context.Background(), "Probe", []byte(event))
	if err != nil {
		t.Error(err)
		return probeAnswer{}, r
	}
	var a probeAnswer
	if err := json.Unmarshal(r.Payload, &a); err != nil {
		t.Errorf("answer %s: %v", r.Payload, err)
	}
	return a, r
}

// waitForLog waits until the function has printed a line this many times.
func waitForLog(t *testing.T, s *lambda.Service, line string, times int) {
	t.Helper()
	expect.Eventually(t, fmt.Sprintf("%q is printed %d times", line, times), func() bool {
		return strings.Count("\n"+strings.Join(s.Logs("Probe"), "\n\n")+"\n", "\n"+line+"\n") >= times
	})
}

// longSleep outlasts every test. Only a kill ends it, if the function is patient.
const longSleep = `{"Do":"sleep","For":600000000000}`

func TestInvocationsAtOnceHaveProcessesOfTheirOwnAsManyAsAreReserved(t *testing.T) {
	s := start(t, func(f *lambda.Function) { f.Concurrency, f.Timeout = 3, time.Hour }, nil)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { invoke(t, s, longSleep) })
	}
	waitForLog(t, s, "asleep", 3)
	expect.Fails(t, expect.Err(s.Invoke(t.Context(), "Probe", []byte(`{}`))), lambda.ErrBusy)
	expect.Is(t, s.Kill("Probe"), 3, "processes")
	all.Wait()
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		event, kind, message string
		change               func(*lambda.Function)
	}{
		"a named error": {`{"Do":"deny"}`, "Denied", "denied", nil},
		"a plain error": {`{"Do":"fail","Text":"no"}`, "errorString", "no", nil},
		"a panic":       {`{"Do":"panic","Text":"boom"}`, "string", "boom", nil},
		"an exit":       {`{"Do":"exit"}`, "Runtime.ExitError", "Runtime exited with error: exit status 1", nil},
		"too late": {longSleep, "Sandbox.Timedout", "Error: Task timed out after 1.00 seconds",
			func(f *lambda.Function) { f.Timeout = time.Second }},
		"a start that fails": {`{}`, "Runtime.ExitError", "exit status 3",
			func(f *lambda.Function) { f.Environment["BREAK"] = "1" }},
		"too long an answer": {`{"Do":"long"}`, "Function.ResponseSizeTooLarge", "6291456 bytes", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, tt.change, nil)
			a, r := invoke(t, s, tt.event)
			expect.That(t, r.Failed && a.ErrorType == tt.kind && strings.Contains(a.ErrorMessage, tt.message),
				"failed %v, %s: %s", r.Failed, a.ErrorType, a.ErrorMessage)
			again, r := invoke(t, s, `{"Text":"again"}`)
			for tries := 1; again.ErrorType == "Sandbox.Timedout" && tries < 10; tries++ { // on a busy machine it may time out
				again, r = invoke(t, s, `{"Text":"again"}`)
			}
			expect.That(t, name == "a start that fails" || !r.Failed && again.Text == "again", "the next: %s", r.Payload)
		})
	}
}

func TestFunctionsGetNothingOfThisEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_THE_DEVELOPER", "x")
	t.Setenv("AWS_PROFILE", "production")
	s := start(t, nil, nil)
	a, _ := invoke(t, s, `{"Do":"environment"}`)
	for _, name := range []string{"SECRET_OF_THE_DEVELOPER", "AWS_PROFILE", "HOME"} {
		v, ok := a.Variables[name]
		expect.That(t, !ok, "%s=%s reached the function", name, v)
	}
	for name, want := range map[string]string{
		"TABLE_NAME": "rows", "AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": "us-east-1",
		"AWS_LAMBDA_FUNCTION_NAME":        "Probe",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "AWS_LAMBDA_LOG_FORMAT": "JSON", "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
	} {
		got := a.Variables[name]
		expect.That(t, got == want, "%s is %q, want %q", name, got, want)
	}
}

// plannedFault applies a fault at the first moment of this kind.
type plannedFault struct {
	kind  string
	fault lambda.Fault
	cold  bool // every invocation gets a new process
	busy  bool // Lambda refuses the invocation
	mu    sync.Mutex
	seen  []string
	died  int
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
	service := expect.Server(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posted.Add(1)
		}
	}))
	s = lambda.New(lambda.Options{Faults: d, Functions: []lambda.Function{{
		Binary: built["probe"], Function: template.Function{ID: "Probe", Timeout: timeout,
			Environment: map[string]string{"SERVICE_URL": service.URL, "WARM": "1"}},
	}}})
	t.Cleanup(s.Close)
	return s, posted
}

func TestAProcessDiesWhereItShould(t *testing.T) {
	const call, event = "POST /things/*", `{"Do":"call","Text":"x"}`
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	before := lambda.Fault{Kill: lambda.Before}
	for name, tt := range map[string]struct {
		kind  string
		fate  lambda.Fault
		calls int32  // requests that reached the service
		text  string // the function's answer; the invocation fails without one
	}{
		"it lives":                                  {"nothing", lambda.Fault{}, 1, "200 OK"},
		"before it asks for an event":               {lambda.KindInit, before, 0, ""},
		"in a call of its start":                    {"GET /warm", before, 0, ""},
		"at its start nothing was called":           {lambda.KindStart, before, 0, ""},
		"before a call that never leaves":           {call, before, 0, ""},
		"after a call that was done":                {call, lambda.Fault{Kill: lambda.After}, 1, ""},
		"before its answer everything was called":   {lambda.KindAnswer, before, 1, ""},
		"a call is answered in the service's place": {call, lambda.Fault{Instead: refuse}, 0, "429 Too Many Requests"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &plannedFault{kind: tt.kind, fault: tt.fate}
			s, calls := startWithFault(t, d, time.Minute)
			a, r := invoke(t, s, event)
			expect.That(t, r.Failed == (tt.text == "") && a.Text == tt.text && calls.Load() == tt.calls &&
				r.Failed == (a.ErrorType == "Runtime.ExitError"), "%s after %d calls", r.Payload, calls.Load())
			if tt.kind == "nothing" {
				want := []string{"Probe GET /warm " + event, "Probe init " + event, "Probe start " + event,
					"Probe " + call + " " + event, "Probe answer " + event}
				expect.Same(t, want, d.seen)
			}
			a, r = invoke(t, s, `{"Text":"next"}`)
			expect.That(t, !r.Failed && a.Text == "next", "the next invocation: %s", r.Payload)
		})
	}
}

// A cold start replaces an idle process, even if only one process is allowed.
func TestAColdStartReplacesTheIdleProcessAndABusyLambdaStartsNone(t *testing.T) {
	d := &plannedFault{}
	s, _ := startWithFault(t, d, time.Minute)
	first, _ := invoke(t, s, `{}`)
	again, _ := invoke(t, s, `{}`)
	expect.That(t, again.PID == first.PID, "process %d, not the idle %d", again.PID, first.PID)
	d.cold = true
	cold, r := invoke(t, s, `{}`)
	expect.That(t, !r.Failed && cold.PID != first.PID, "%s by process %d again", r.Payload, cold.PID)
	expect.Is(t, len(s.PIDs("Probe")), 1, "processes are left")
	d.busy = true
	seen := len(d.seen)
	expect.Fails(t, expect.Err(s.Invoke(t.Context(), "Probe", []byte(`{}`))), lambda.ErrBusy)
	expect.Is(t, len(d.seen), seen, "calls of a function for which there is no room")
}

// A frozen process is killed at the function's timeout, or earlier if the fault says so. Its call continues.
func TestAFrozenProcessIsKilledWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
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

// startSandbox serves the sandbox's binary as two managed functions, Sandbox and the more patient Patient, and as
// Plain, which is not managed.
func startSandbox(t *testing.T, timeout time.Duration) (*lambda.Service, aws.Config) {
	t.Helper()
	expect.Patience(t)
	binary := expect.Value(sandbox())(t)
	s := lambda.New(lambda.Options{Functions: []lambda.Function{
		{Binary: binary, Function: template.Function{ID: "Sandbox", Timeout: timeout, Managed: true}},
		{Binary: binary, Function: template.Function{ID: "Patient", Timeout: time.Minute, Managed: true}},
		{Binary: binary, Function: template.Function{ID: "Plain", Timeout: timeout}},
	}})
	t.Cleanup(s.Close)
	front := expect.Server(t, s.Handler())
	return s, aws.Config{Region: "us-east-1", BaseEndpoint: &front.URL,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

func order(script string) isolated.Order {
	return isolated.Order{Action: "01ACTION", Type: isolated.ShellCommand, Script: script, TimeoutSeconds: 60,
		Deadline: time.Now().Add(2 * time.Minute)}
}

// skipUnlessWithheld skips the test on a laptop whose kernel can't isolate commands. If CI is set, the test fails.
func skipUnlessWithheld(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, isolated.ErrCannot) {
		return
	}
	expect.Must(t, os.Getenv("CI") == "", "this machine isolates nothing: %v", err)
	t.Skipf("this machine isolates nothing: %v", err)
}

func TestACommandsOutputStreams(t *testing.T) {
	t.Parallel()
	_, c := startSandbox(t, time.Minute)
	var first time.Time
	var text []string
	end, err := outbound.SandboxAt(c, "Sandbox").Run(t.Context(), order("echo one; sleep 1.5; echo two >&2; exit 3"),
		func(l isolated.Line) error {
			if text = append(text, l.Text); l.Text == "one" {
				first = time.Now()
			}
			return nil
		})
	skipUnlessWithheld(t, err)
	expect.NoError(t, err)
	expect.Same(t, []string{"one", "two"}, text)
	expect.That(t, end.ExitCode == 3 && len(end.Held) != 0 && time.Since(first) > time.Second/2,
		"%+v, %s after its first line", end, time.Since(first))
}

func TestWhatIsKnownOfACommandThatGaveNoEnd(t *testing.T) {
	t.Parallel()
	s, c := startSandbox(t, 3*time.Second)
	begun := make(chan bool, 8)
	run := func(name, script string) error {
		_, err := outbound.SandboxAt(c, name).Run(t.Context(), order(script), func(isolated.Line) error {
			begun <- true
			return nil
		})
		return err
	}
	if err := run("Nothing", "true"); !errors.Is(err, isolated.ErrCannot) || !errors.Is(err, isolated.ErrNotBegun) {
		t.Errorf("a function that is not there: %v", err)
	}
	expect.Fails(t, run("Plain", "true"), isolated.ErrCannot, "a function that streams nothing")
	if err := run("Sandbox", ""); !errors.Is(err, isolated.ErrCannot) || !strings.Contains(err.Error(), "script") {
		t.Errorf("an order without a script: %v", err)
	}
	skipUnlessWithheld(t, run("Sandbox", "true"))
	late := run("Sandbox", "echo begun; sleep 20")
	for try := 1; len(begun) == 0 && try < 10; try++ { // a busy machine may not start the command in time
		late = run("Sandbox", "echo begun; sleep 20")
	}
	if err := late; err == nil || errors.Is(err, isolated.ErrNotBegun) || !strings.Contains(err.Error(), "Timedout") {
		t.Errorf("a function that ran out of time: %v", err)
	}
	<-begun
	go func() {
		<-begun
		s.Kill("Patient")
	}()
	err := run("Patient", "echo begun; sleep 20")
	expect.That(t, err != nil && !errors.Is(err, isolated.ErrNotBegun), "a function that died: %v", err)
	pids := append(s.PIDs("Sandbox"), s.PIDs("Patient")...)
	expect.That(t, len(pids) <= 0, "processes %v are left", pids)
}
