// Package lambda runs functions as AWS Lambda does: the real bootstrap
// binaries, driven over the Runtime API, one process per concurrent
// invocation, killed at the timeout and started again after a crash.
package lambda

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"ringi/infra/local/process"
)

// ErrUnknown says that there is no function of that name.
var ErrUnknown = errors.New("function not found")

// ErrBusy says that a function's reserved concurrency is used up.
var ErrBusy = errors.New("too many concurrent invocations")

// ErrClosed says that the service has been closed.
var ErrClosed = errors.New("the Lambda service is closed")

// Function is one that the service runs.
type Function struct {
	Name        string
	Binary      string // path of the bootstrap
	Timeout     time.Duration
	Memory      int // MB; told to the function, not enforced
	Concurrency int // how many invocations at once; 0 is unbounded
	LogLevel    string
	Environment map[string]string
	// Managed says that the function has a managed runtime, whose handler starts the binary for each call with the event
	// as its input and streams its output. The service does that in the place of handler and runtime.
	Managed bool
}

// Options are what all functions share.
type Options struct {
	Functions []Function
	Region    string
	Account   string
	Endpoint  string    // AWS_ENDPOINT_URL of the functions, "" for none
	Log       io.Writer // what functions print, a JSON line each; nil discards it
	Faults    Faults    // decides which processes die where; nil lets all live
}

// Service runs functions until it is closed.
type Service struct {
	options   Options
	functions map[string]*pool
	managed   *managed
	log       *sink
	transport *http.Transport // of the functions' calls, when Faults looks at them

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup // invocations under way
}

// New makes a service; nothing is started before it is invoked.
func New(o Options) *Service {
	s := &Service{options: o, functions: map[string]*pool{}, managed: &managed{processes: map[*process.Process]string{}},
		log: newSink(o.Log), transport: tapTransport()}
	for _, f := range o.Functions {
		s.functions[f.Name] = &pool{service: s, function: f, environments: map[*environment]bool{}}
	}
	return s
}

// Result is what an invocation came to.
type Result struct {
	RequestID string
	Payload   []byte
	// Failed tells that the function failed; Payload is then the error's JSON,
	// errorType and errorMessage.
	Failed bool
}

// Invoke runs a function and waits for its result. It takes a name, an ARN or
// either with a qualifier. A function that fails is a Result, not an error.
// When ctx ends Invoke returns, but the function goes on, as in AWS.
//
// It returns ErrUnknown, ErrBusy or ErrClosed if nothing was run.
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
			result, err = s.whole(p.function, payload)
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

// begin counts an invocation, which ends by active.Done. It returns ErrClosed once the service has been closed.
func (s *Service) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.active.Add(1)
	return nil
}

// Kill ends every environment of a function at once, whatever it is doing, as
// a failing host would. It returns how many there were.
func (s *Service) Kill(name string) int {
	all := s.processes(name)
	for _, p := range all {
		p.Kill()
	}
	return len(all)
}

// Logs are the last lines that a function printed, oldest first.
func (s *Service) Logs(name string) []string { return s.log.lines(plainName(name)) }

// PIDs are the processes of a function's environments.
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

// Close kills every environment and waits until none is left.
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
