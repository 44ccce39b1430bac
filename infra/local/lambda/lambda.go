// Package lambda runs functions as AWS Lambda does. It runs the real bootstrap binaries with the Runtime API, one
// process for each concurrent invocation. It kills a process at the timeout and starts a new one after a crash.
//
// NewGateway stands in for the HTTP API: it turns requests into payload 2.0 events as API Gateway does, including
// base64 bodies, and functions' answers into responses. Stream, Queue and Schedule stand in for the services that
// invoke functions: event source mappings of table streams and queues, with their filters and partial failures, and
// schedules. Guard stands before all listeners on this machine.
package lambda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
)

var ErrUnknown = errors.New("function not found")

// ErrBusy means that the function's reserved concurrency is used up.
var ErrBusy = errors.New("too many concurrent invocations")

// startsPerCore bounds how many processes start at a time. Two hundred at once would take a laptop half a minute, and
// nothing would be answered in time.
const startsPerCore = 2

var ErrClosed = errors.New("the Lambda service is closed")

// Function is a function of the template with its bootstrap. In AWS, the handler of a managed runtime starts the binary
// for each call, with the event as input, and streams the output. Here the service does the handler's work.
type Function struct {
	template.Function
	Binary string // path of the executable
}

// Options has the settings that all functions share.
type Options struct {
	Functions []Function
	Endpoint  string    // AWS_ENDPOINT_URL of the functions, "" for none
	Log       io.Writer // takes the functions' output, one JSON object per line; may be nil
	Faults    Faults    // kills processes in tests; may be nil
}

type Service struct {
	options   Options
	functions map[string]*pool
	log       *sink
	transport *http.Transport // for the functions' calls when Faults is set
	starts    chan struct{}   // has a place for each process that starts

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup // running invocations
}

// New makes a service. It starts a process only when a function is invoked.
func New(o Options) *Service {
	s := &Service{options: o, functions: map[string]*pool{},
		log: &sink{out: cmp.Or(o.Log, io.Discard), kept: map[string][]string{}},
		// It never repeats a request, because a function's write must not be sent twice.
		transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second},
		starts:    make(chan struct{}, startsPerCore*runtime.NumCPU())}
	for _, f := range o.Functions {
		s.functions[f.ID] = &pool{service: s, function: f, environments: map[*environment]bool{},
			once: map[*process.Process]bool{}}
	}
	return s
}

type Result struct {
	RequestID string
	Payload   []byte
	// Failed reports that the function failed. Payload then has errorType and errorMessage as JSON.
	Failed bool
}

// Invoke runs a function and waits for its result. name is a name or an ARN, with or without a qualifier. If the
// function fails, Invoke returns a Result, not an error. When ctx ends, Invoke returns but the function continues, as
// in AWS.
//
// It returns ErrUnknown, ErrBusy or ErrClosed if it did not run the function.
func (s *Service) Invoke(ctx context.Context, name string, payload []byte) (Result, error) {
	p, ok := s.functions[plainName(name)]
	if !ok {
		return Result{}, fmt.Errorf("%w: %s", ErrUnknown, plainName(name))
	}
	if err := s.begin(); err != nil {
		return Result{}, err
	}
	var result Result
	var err error
	ended := make(chan struct{})
	go func() {
		defer s.active.Done()
		defer close(ended)
		if p.function.Managed {
			result, err = p.runWhole(payload)
		} else {
			result, err = p.run(payload)
		}
	}()
	select {
	case <-ended:
		return result, err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("invoke %s: %w", name, ctx.Err())
	}
}

// begin counts a new invocation; the caller must call active.Done. It returns ErrClosed once the service is closed.
func (s *Service) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.active.Add(1)
	return nil
}

// Kill ends all processes of a function at once, as a failing host would. It returns how many there were.
func (s *Service) Kill(name string) int {
	all := s.processes(name)
	for _, p := range all {
		p.Kill()
	}
	return len(all)
}

// Logs returns the last lines that a function printed, oldest first.
func (s *Service) Logs(name string) []string { return s.log.lines(plainName(name)) }

// PIDs returns the process ids of a function's environments.
func (s *Service) PIDs(name string) (list []int) {
	for _, p := range s.processes(name) {
		list = append(list, p.PID())
	}
	return list
}

func (s *Service) processes(name string) []*process.Process {
	if p, ok := s.functions[plainName(name)]; ok {
		return p.processes()
	}
	return nil
}

func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, p := range s.functions {
		p.close()
	}
	s.active.Wait()
	s.transport.CloseIdleConnections()
}

// The moments of an invocation at which the function makes no call.
const (
	KindInit   = "init"   // the process has started and has not asked for an event
	KindStart  = "start"  // the process has the event and has not made a call
	KindAnswer = "answer" // the process is done and sends its answer
)

// Call is a moment at which a function's process can be killed: an outgoing call, its start or its answer.
type Call struct {
	Function  string
	RequestID string // of the invocation; empty while the process starts
	Event     []byte // of the invocation, or the event for which the process is starting
	Kind      string // DynamoDB.Query, GET /freee/hr/employees/*, or one of the constants above
	Body      []byte // of the request or answer
}

type Moment int

const (
	Never  Moment = iota
	Before        // the call is not sent
	After         // the call is done, but its answer is lost
)

// Fault is what happens to a call and to the process that makes it. The zero value does nothing.
type Fault struct {
	Kill    Moment
	Instead http.Handler // answers the call in place of the service; may be nil
	// Freeze pauses the process (SIGSTOP). Its invocation times out after this long, or at the function's timeout or
	// when Over is closed, if that is earlier. The call itself is still made; nobody takes its answer. 0 pauses nothing.
	Freeze time.Duration
	Over   <-chan struct{} // may be nil
}

// Faults decides what happens at every moment of every invocation. Its methods are called from many goroutines. The
// function waits until they return.
type Faults interface {
	// Busy reports whether to refuse an invocation, as Lambda does when an account reaches its concurrency limit.
	Busy(function string, event []byte) bool
	// Cold reports whether to start a new process even if one is idle, as AWS may do.
	Cold(function string, event []byte) bool
	Meet(Call) Fault
	// Dying is called when the process was killed, before its invocation ends. With After, the call has been made.
	Dying(Call)
}

// Variables returns the environment variables of a function's process, sorted: Lambda's own and the function's, but
// for the address of the Runtime API. The process inherits none of this program's variables.
func Variables(endpoint string, f Function) []string {
	all := map[string]string{
		"AWS_LAMBDA_FUNCTION_NAME":        f.ID,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.Memory),
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.ID,
		"AWS_LAMBDA_LOG_STREAM_NAME":      time.Now().UTC().Format("2006/01/02") + "/[$LATEST]local",
		"AWS_EXECUTION_ENV":               "AWS_Lambda_provided.al2023",
		"AWS_REGION":                      template.Region,
		"AWS_DEFAULT_REGION":              template.Region,
		"AWS_ACCESS_KEY_ID":               f.ID, // identifies the function's calls
		"AWS_SECRET_ACCESS_KEY":           SecretKey(f.ID),
		"AWS_SESSION_TOKEN":               "local",
		"AWS_EC2_METADATA_DISABLED":       "true",
		"LAMBDA_TASK_ROOT":                filepath.Dir(f.Binary),
		"LAMBDA_RUNTIME_DIR":              "/var/runtime",
		"_HANDLER":                        "bootstrap",
		"PATH":                            "/usr/local/bin:/usr/bin:/bin",
		"LANG":                            "en_US.UTF-8",
		"TZ":                              ":UTC",
	}
	if f.LogLevel != "" {
		all["AWS_LAMBDA_LOG_FORMAT"], all["AWS_LAMBDA_LOG_LEVEL"] = "JSON", f.LogLevel
	}
	maps.Copy(all, f.Environment)
	if endpoint != "" { // the template declares it empty
		all["AWS_ENDPOINT_URL"] = endpoint
	}
	list := make([]string, 0, len(all))
	for name, value := range all {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// SecretKey is the secret access key of a function. No service checks it; it differs so that a leak can be found.
func SecretKey(function string) string { return "local-secret-key-of-" + function }

func arn(name string) string { return template.ARN("lambda", "function:"+name) }

// plainName extracts the function's name from a name or ARN, which may be partial and may have a qualifier.
func plainName(name string) string {
	if _, after, ok := strings.Cut(name, "function:"); ok {
		name = after
	}
	name, _, _ = strings.Cut(name, ":")
	return name
}
