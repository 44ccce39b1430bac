package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// into is where the functions that these tests build go. The stack's Python environment stays where it is.
var into string

var build = sync.OnceValues(func() (map[string]string, error) { return buildIn("testdata", nil) })

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

func buildIn(root string, told func(int)) (map[string]string, error) {
	before, set := os.LookupEnv(process.FolderVariable)
	os.Setenv(process.FolderVariable, into)
	defer func() {
		if os.Unsetenv(process.FolderVariable); set {
			os.Setenv(process.FolderVariable, before)
		}
	}()
	return lambda.Build(context.Background(), root, lambda.LikeTests, told)
}

func TestBuildAgainIsTheSameBinary(t *testing.T) {
	path := expect.Value(build())(t)["probe"]
	before := expect.Value(os.Stat(path))(t)
	again := expect.Value(buildIn("testdata", nil))(t)
	expect.That(t, os.SameFile(before, expect.Value(os.Stat(again["probe"]))(t)), "it was linked again")
}

func TestBuildSaysHowFarItIsAndWhatDoesNotCompile(t *testing.T) {
	root, told := moduleWith(t, fmt.Sprintf("println(%d)", time.Now().UnixNano())), 0 // new to the cache
	built := expect.Value(buildIn(root, func(packages int) { told = packages }))(t)
	expect.Is(t, told, 1)
	expect.Value(os.Stat(built["one"]))(t)
	_, err := buildIn(moduleWith(t, "nothing()"), nil)
	expect.That(t, err != nil && strings.Contains(err.Error(), "undefined: nothing"), "got %v", err)
}

// moduleWith makes a module whose one function does what a line of Go says.
func moduleWith(t *testing.T, line string) string {
	t.Helper()
	root := t.TempDir()
	one := filepath.Join(root, "functions", "one")
	expect.NoError(t, os.MkdirAll(one, 0o755))
	expect.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module x\n"), 0o644))
	expect.NoError(t, os.WriteFile(filepath.Join(one, "main.go"), []byte("package main\n\nfunc main() { "+line+" }\n"),
		0o644))
	return root
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
	f := lambda.Function{Name: "Probe", Binary: built["probe"], Timeout: time.Minute, Memory: 256,
		LogLevel: "INFO", Environment: map[string]string{"TABLE_NAME": "rows"}}
	if change != nil {
		change(&f)
	}
	o := lambda.Options{Functions: []lambda.Function{f}, Region: "us-east-1", Account: "123456789012",
		Endpoint: "http://127.0.0.1:1"}
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

func patient(f *lambda.Function) { f.Timeout = time.Hour }

func TestInvokeReusesAnIdleEnvironment(t *testing.T) {
	s := start(t, nil, nil)
	first, r := invoke(t, s, `{"Text":"a"}`)
	expect.That(t, first.Text == "a" && !r.Failed && first.RequestID == r.RequestID &&
		first.ARN == "arn:aws:lambda:us-east-1:123456789012:function:Probe",
		"answer is %+v, result %+v", first, r)
	expect.That(t, first.Left > 0 && first.Left <= time.Minute, "%v left of a minute", first.Left)
	if second, _ := invoke(t, s, `{"Text":"b"}`); second.PID != first.PID || second.Text != "b" {
		t.Errorf("second answer %+v comes from another process than %d", second, first.PID)
	}
}

func TestConcurrentInvocationsHaveProcessesOfTheirOwn(t *testing.T) {
	s := start(t, patient, nil)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { invoke(t, s, longSleep) })
	}
	waitForLog(t, s, "asleep", 5)
	expect.Is(t, s.Kill("Probe"), 5, "processes")
	all.Wait()
}

func TestFewProcessesStartAtATime(t *testing.T) {
	places := 2 * runtime.NumCPU()
	var starting, most atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		now := starting.Add(1)
		for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
		}
		time.Sleep(20 * time.Millisecond) // a slow start
		starting.Add(-1)
	}))
	t.Cleanup(service.Close)
	s := start(t, func(f *lambda.Function) { f.Environment["WARM"], f.Environment["SERVICE_URL"] = "1", service.URL }, nil)
	var all sync.WaitGroup
	for range places + 20 {
		all.Go(func() { invoke(t, s, `{}`) })
	}
	all.Wait()
	expect.That(t, most.Load() > 0 && most.Load() <= int64(places), "%d processes started at a time", most.Load())
}

func TestReservedConcurrencyRefuses(t *testing.T) {
	s := start(t, func(f *lambda.Function) { f.Concurrency, f.Timeout = 1, time.Hour }, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		invoke(t, s, longSleep)
	}()
	waitForLog(t, s, "asleep", 1)
	expect.Fails(t, expect.Err(s.Invoke(t.Context(), "Probe", []byte(`{}`))), lambda.ErrBusy)
	s.Kill("Probe")
	<-done
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name, event, kind, message string
		change                     func(*lambda.Function)
	}{
		{name: "a named error", event: `{"Do":"deny"}`, kind: "Denied", message: "denied"},
		{name: "a plain error", event: `{"Do":"fail","Text":"no"}`, kind: "errorString", message: "no"},
		{name: "a panic", event: `{"Do":"panic","Text":"boom"}`, kind: "string", message: "boom"},
		{name: "an exit", event: `{"Do":"exit"}`, kind: "Runtime.ExitError",
			message: "Runtime exited with error: exit status 1"},
		{name: "too late", event: longSleep, kind: "Sandbox.Timedout", message: "Error: Task timed out after 1.00 seconds",
			change: func(f *lambda.Function) { f.Timeout = time.Second }},
		{name: "a start that fails", event: `{}`, kind: "Runtime.ExitError", message: "exit status 3",
			change: func(f *lambda.Function) { f.Environment["BREAK"] = "1" }},
		{name: "too long an answer", event: `{"Do":"long"}`, kind: "Function.ResponseSizeTooLarge", message: "6291456 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.change, nil)
			a, r := invoke(t, s, tt.event)
			expect.That(t, r.Failed && a.ErrorType == tt.kind && strings.Contains(a.ErrorMessage, tt.message),
				"failed %v, %s: %s; want %s: %s", r.Failed, a.ErrorType, a.ErrorMessage, tt.kind, tt.message)
			if tt.name == "a start that fails" {
				return
			}
			again, r := invoke(t, s, `{"Text":"again"}`)
			for tries := 1; again.ErrorType == "Sandbox.Timedout" && tries < 10; tries++ { // on a busy machine it may time out
				again, r = invoke(t, s, `{"Text":"again"}`)
			}
			expect.That(t, !r.Failed && again.Text == "again", "the next invocation: %s", r.Payload)
		})
	}
}

func TestKillEndsWhatRunsAndTheNextStartsAnew(t *testing.T) {
	s := start(t, patient, nil)
	before, _ := invoke(t, s, `{}`)
	done := make(chan probeAnswer)
	go func() {
		a, _ := invoke(t, s, longSleep)
		done <- a
	}()
	waitForLog(t, s, "asleep", 1)
	expect.Is(t, s.Kill("Probe"), 1, "killed … environments")
	select {
	case a := <-done:
		expect.That(t, a.ErrorType == "Runtime.ExitError", "the killed invocation: %+v", a)
	case <-time.After(time.Minute):
		t.Fatal("the killed invocation still runs")
	}
	after, _ := invoke(t, s, `{}`)
	expect.That(t, after.PID != before.PID, "the next invocation met the killed process")
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

func TestPrintedLinesAreLogged(t *testing.T) {
	var out bytes.Buffer
	s := start(t, nil, &out)
	invoke(t, s, `{"Do":"print","Text":"{\"msg\":\"kept\"}\nplain"}`)
	s.Close()
	want := "{\"function\":\"Probe\",\"msg\":\"kept\"}\n{\"function\":\"Probe\",\"line\":\"plain\"}\n"
	got := out.String()
	expect.That(t, got == want, "logged %s want %s", got, want)
	if got := s.Logs("Probe"); len(got) != 2 || got[1] != "plain" {
		t.Errorf("kept %q", got)
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	s := start(t, nil, nil)
	go s.Invoke(context.Background(), "Probe", []byte(`{"Do":"sleep","For":600000000000}`))
	waitForLog(t, s, "asleep", 1)
	invoke(t, s, `{}`)
	pids := s.PIDs("Probe")
	s.Close()
	expect.Must(t, len(pids) != 0, "there was no process")
	for _, pid := range pids {
		expect.Fails(t, syscall.Kill(pid, 0), syscall.ESRCH, "process %d still exists", pid)
	}
	expect.Fails(t, expect.Err(s.Invoke(t.Context(), "Probe", nil)), lambda.ErrClosed, "invoke after close")
}

func TestInvokeDoor(t *testing.T) {
	s := start(t, nil, nil)
	door := httptest.NewServer(s.Handler())
	defer door.Close()
	tests := []struct {
		name, function, kind, body string
		status                     int
		failed                     bool
		want                       string
	}{
		{name: "by name", function: "Probe", body: `{"Text":"a"}`, status: 200, want: `"Text":"a"`},
		{name: "by ARN with alias", function: "arn:aws:lambda:us-east-1:123456789012:function:Probe:live",
			body: `{"Text":"b"}`, status: 200, want: `"Text":"b"`},
		{name: "by escaped ARN", function: "arn%3Aaws%3Alambda%3Aus-east-1%3A123456789012%3Afunction%3AProbe",
			body: `{"Text":"c"}`, status: 200, want: `"Text":"c"`},
		{name: "no body", function: "Probe", status: 200, want: `"Text":""`},
		{name: "function error", function: "Probe", body: `{"Do":"deny"}`, status: 200, failed: true,
			want: `"errorType":"Denied"`},
		{name: "event", function: "Probe", kind: "Event", body: `{}`, status: 202},
		{name: "unknown", function: "Nobody", body: `{}`, status: 404,
			want: "Function not found: arn:aws:lambda:us-east-1:123456789012:function:Nobody"},
		{name: "no JSON", function: "Probe", body: `{`, status: 400, want: "Could not parse"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost,
				door.URL+"/2015-03-31/functions/"+tt.function+"/invocations", strings.NewReader(tt.body)))(t)
			req.Header.Set("X-Amz-Invocation-Type", tt.kind)
			resp := expect.Value(http.DefaultClient.Do(req))(t)
			defer resp.Body.Close()
			var body bytes.Buffer
			expect.Value(body.ReadFrom(resp.Body))(t)
			expect.That(t, resp.StatusCode == tt.status && strings.Contains(body.String(), tt.want),
				"answer %d %s, want %d with %s", resp.StatusCode, body.String(), tt.status, tt.want)
			expect.Is(t, resp.Header.Get("X-Amz-Function-Error") != "", tt.failed, "function error is")
			expect.That(t, resp.Header.Get("X-Amzn-RequestId") != "", "there is no request id")
		})
	}
}
