package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/lambda"
	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
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
