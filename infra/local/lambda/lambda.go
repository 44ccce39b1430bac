// Package lambda runs functions as AWS Lambda does. It runs the real bootstrap binaries with the Runtime API, one
// process for each concurrent invocation. It kills a process at the timeout and starts a new one after a crash.
package lambda

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"

	"ringi/infra/local/process"
)

var ErrUnknown = errors.New("function not found")

// ErrBusy means that the function's reserved concurrency is used up.
var ErrBusy = errors.New("too many concurrent invocations")

// startsPerCore bounds how many processes start at a time. Two hundred at once would take a laptop half a minute, and
// nothing would be answered in time.
const startsPerCore = 2

var ErrClosed = errors.New("the Lambda service is closed")

type Function struct {
	Name        string
	Binary      string // path of the bootstrap executable
	Timeout     time.Duration
	Memory      int // MB; reported to the function, not enforced
	Concurrency int // maximum of concurrent invocations; 0 means unbounded
	LogLevel    string
	Environment map[string]string
	// Managed is true for a function with a managed runtime. In AWS, its handler starts the binary for each call, with
	// the event as input, and streams the output. Here the service does the handler's work.
	Managed bool
}

// Options has the settings that all functions share.
type Options struct {
	Functions []Function
	Region    string
	Account   string
	Endpoint  string    // AWS_ENDPOINT_URL of the functions, "" for none
	Log       io.Writer // takes the functions' output, one JSON object per line; may be nil
	Faults    Faults    // kills processes in tests; may be nil
}

type Service struct {
	options   Options
	functions map[string]*pool
	managed   *managed
	log       *sink
	transport *http.Transport // for the functions' calls when Faults is set
	starts    chan struct{}   // has a place for each process that starts

	mu      sync.Mutex
	closed  bool
	longest map[string]int // length of a chain by the function at its end
	active  sync.WaitGroup // running invocations
}

// New makes a service. It starts a process only when a function is invoked.
func New(o Options) *Service {
	s := &Service{options: o, functions: map[string]*pool{}, longest: map[string]int{}, managed: &managed{processes: map[*process.Process]string{}},
		log: newSink(o.Log), transport: tapTransport(),
		starts: make(chan struct{}, startsPerCore*runtime.NumCPU())}
	for _, f := range o.Functions {
		s.functions[f.Name] = &pool{service: s, function: f, environments: map[*environment]bool{},
			freed: make(chan *environment)}
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
// It returns ErrUnknown, ErrBusy, ErrLoop or ErrClosed if it did not run the function.
func (s *Service) Invoke(ctx context.Context, name string, payload []byte) (Result, error) {
	p, ok := s.functions[plainName(name)]
	if !ok {
		return Result{}, fmt.Errorf("%w: %s", ErrUnknown, plainName(name))
	}
	trace, err := s.follow(ctx, p.function)
	if err != nil {
		return Result{}, err
	}
	if err := s.begin(); err != nil {
		return Result{}, err
	}
	var result Result
	ended := make(chan struct{})
	go func() {
		defer s.active.Done()
		defer close(ended)
		if p.function.Managed {
			result, err = s.whole(p.function, payload)
		} else {
			result, err = p.run(trace, payload)
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
	p, ok := s.functions[plainName(name)]
	if !ok {
		return nil
	}
	return append(p.processes(), s.managed.all(p.function.Name)...)
}

func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, p := range s.functions {
		p.close()
	}
	s.managed.close()
	s.active.Wait()
	s.transport.CloseIdleConnections()
}
