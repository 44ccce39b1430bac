package lambda

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	uuid "github.com/aws/smithy-go/rand"

	"ringi/infra/local/process"
)

// The limits of Lambda.
const (
	initTimeout     = 10 * time.Second
	maxPayload      = 6 << 20 // bytes of a request or response
	timedOut        = "Sandbox.Timedout"
	exited          = "Runtime.ExitError"
	responseTooLong = "Function.ResponseSizeTooLarge"
)

// environment is one process with a Runtime API on its own port. The port identifies the caller, so a killed process
// can't take the next process's event.
type environment struct {
	service  *Service
	function Function
	process  *process.Process
	started  chan struct{} // closed once process is set
	server   *http.Server
	tap      *tap // nil without Faults
	arn      string
	first    []byte // the event for which the process was started

	work  chan *invocation
	asked chan struct{} // closed when the process asks for its first event

	dying sync.Mutex // held until all is done that Faults do of a kill

	mu       sync.Mutex
	current  *invocation // the event that the process took and has not answered
	ready    bool        // asked is closed
	late     bool        // the process was killed because its time was up
	initFail []byte      // the error that the process reported when its start failed
}

// invocation is one event for an environment.
type invocation struct {
	id       string
	payload  []byte
	deadline time.Time // set when the process takes it
	taken    chan struct{}
	answer   chan Result
}

func startEnvironment(s *Service, f Function, first []byte) (*environment, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &environment{service: s, function: f, work: make(chan *invocation), asked: make(chan struct{}),
		started: make(chan struct{}), arn: arn(f.ID), first: first}
	e.server = &http.Server{Handler: Guard(e.runtimeAPI())}
	go e.server.Serve(l)

	cmd := exec.Command(f.Binary)
	cmd.Dir = filepath.Dir(f.Binary)
	cmd.Env = append(Variables(s.options.Endpoint, f), "AWS_LAMBDA_RUNTIME_API="+l.Addr().String())
	if s.options.Faults != nil {
		e.tap = &tap{env: e, faults: s.options.Faults, origins: map[string]string{}}
		if cmd.Env, err = e.tap.through(cmd.Env); err != nil {
			e.stopServing()
			return nil, err
		}
	}
	cmd.Stdout, cmd.Stderr = s.log.writer(f.ID), s.log.writer(f.ID)
	if e.process, err = process.Start(cmd); err != nil {
		e.stopServing()
		return nil, err
	}
	close(e.started)
	return e, nil
}

// invoke passes one event to the process and waits for an answer, a crash or the timeout. taken is false if the process
// died before it took the event.
func (e *environment) invoke(inv *invocation, fresh bool) (result Result, taken bool) {
	start := time.NewTimer(initTimeout)
	defer start.Stop()
	select {
	case e.work <- inv:
	case <-e.process.Done():
		return e.exit(inv.id), false
	case <-start.C:
		e.process.Kill()
		if !fresh {
			return Result{}, false
		}
		return failure(inv.id, timedOut, "RequestId: %s Error: Init timed out after %.2f seconds", inv.id,
			initTimeout.Seconds()), true
	}
	<-inv.taken
	limit := time.NewTimer(time.Until(inv.deadline))
	defer limit.Stop()
	select {
	case result = <-inv.answer:
		return result, true
	case <-limit.C:
		e.timeOut()
	case <-e.process.Done():
	}
	// The process may have sent its answer or error just before it ended.
	select {
	case result = <-inv.answer:
		return result, true
	default:
		return e.exit(inv.id), true
	}
}

// timeOut kills the process because its invocation has taken too long.
func (e *environment) timeOut() {
	e.mu.Lock()
	e.late = true
	e.mu.Unlock()
	e.process.Kill()
}

// exit returns the result of an invocation whose process has ended.
func (e *environment) exit(id string) Result {
	e.dying.Lock()
	e.dying.Unlock()
	e.mu.Lock()
	said, late := e.initFail, e.late
	e.mu.Unlock()
	if late {
		return failure(id, timedOut, "RequestId: %s Error: Task timed out after %.2f seconds", id,
			e.function.Timeout.Seconds())
	}
	if said != nil {
		return Result{RequestID: id, Payload: said, Failed: true}
	}
	if err := e.process.Err(); err != nil {
		return failure(id, exited, "RequestId: %s Error: Runtime exited with error: %v", id, err)
	}
	return failure(id, exited, "RequestId: %s Error: Runtime exited without providing a reason", id)
}

func (e *environment) dead() bool {
	select {
	case <-e.process.Done():
		return true
	default:
		return false
	}
}

func (e *environment) close() {
	e.process.Kill()
	e.stopServing()
}

func (e *environment) stopServing() {
	e.server.Close()
	if e.tap != nil {
		for _, s := range e.tap.servers {
			s.Close()
		}
	}
}

func failure(id, kind, format string, args ...any) Result {
	// marshaling strings can't fail
	payload, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": fmt.Sprintf(format, args...)})
	return Result{RequestID: id, Payload: payload, Failed: true}
}

// requestID is a random UUID, as Lambda's are.
func requestID() string {
	id, _ := uuid.NewUUID(rand.Reader).GetUUID() // rand.Reader never fails
	return id
}

const runtimePrefix = "/2018-06-01/runtime/"

// runtimeAPI serves the Runtime API to the process of an environment.
func (e *environment) runtimeAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtimePrefix+"invocation/next", e.next)
	mux.HandleFunc("POST "+runtimePrefix+"invocation/{id}/response",
		func(w http.ResponseWriter, r *http.Request) { e.answer(w, r, false) })
	mux.HandleFunc("POST "+runtimePrefix+"invocation/{id}/error",
		func(w http.ResponseWriter, r *http.Request) { e.answer(w, r, true) })
	mux.HandleFunc("POST "+runtimePrefix+"init/error", e.initError)
	return mux
}

// next waits for the next event, without a time limit, and sends it to the process.
func (e *environment) next(w http.ResponseWriter, r *http.Request) {
	if e.initDies() {
		return
	}
	var inv *invocation
	select {
	case inv = <-e.work:
	case <-r.Context().Done():
		return
	}
	inv.deadline = time.Now().Add(e.function.Timeout)
	e.mu.Lock()
	e.current = inv
	e.mu.Unlock()
	close(inv.taken)
	if e.dies(inv, KindStart, nil) {
		return
	}

	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", e.arn)
	w.Write(inv.payload)
}

// answer receives the response or error for the current event.
func (e *environment) answer(w http.ResponseWriter, r *http.Request, failed bool) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxPayload))
	var tooLong *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLong) {
		refuse(w, http.StatusBadRequest, "InvalidRequest", err.Error())
		return
	}
	id := r.PathValue("id")
	e.mu.Lock()
	inv := e.current
	if inv == nil || inv.id != id {
		e.mu.Unlock()
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "no such invocation is under way")
		return
	}
	e.current = nil
	e.mu.Unlock()
	if e.dies(inv, KindAnswer, body) {
		return
	}
	if tooLong != nil {
		inv.answer <- failure(id, responseTooLong, "Response payload size exceeded maximum allowed payload size (%d bytes).",
			maxPayload)
		refuse(w, http.StatusRequestEntityTooLarge, responseTooLong, "the response is too long")
		return
	}
	inv.answer <- Result{RequestID: id, Payload: body, Failed: failed}
	accept(w)
}

func (e *environment) initError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxPayload))
	if err != nil {
		refuse(w, http.StatusBadRequest, "InvalidRequest", err.Error())
		return
	}
	e.mu.Lock()
	e.initFail = body
	e.mu.Unlock()
	accept(w)
}

func accept(w http.ResponseWriter) { say(w, http.StatusAccepted, map[string]string{"status": "OK"}) }

func refuse(w http.ResponseWriter, status int, kind, message string) {
	say(w, status, map[string]string{"errorType": kind, "errorMessage": message})
}

// keptLines is how many lines of each function Logs can return.
const keptLines = 2000

// sink collects the output of functions.
type sink struct {
	mu   sync.Mutex
	out  io.Writer
	kept map[string][]string
}

func (s *sink) lines(function string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept[function])
}

func (s *sink) add(function string, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := append(s.kept[function], string(line))
	if extra := len(kept) - keptLines; extra > 0 {
		kept = kept[extra:]
	}
	s.kept[function] = kept
	s.out.Write(marked(function, line))
}

// writer returns a writer for one output stream of a process. It passes on complete lines only.
func (s *sink) writer(function string) io.Writer { return &lineWriter{sink: s, function: function} }

type lineWriter struct {
	sink     *sink
	function string
	rest     []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte{'\n'})
		if !ok {
			return len(b), nil
		}
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
			w.sink.add(w.function, line)
		}
		w.rest = rest
	}
}

// marked formats a line for the stack's log. A JSON object gets the function's name as its first field; any other line
// is wrapped in an object.
func marked(function string, line []byte) []byte {
	name, _ := json.Marshal(function) // marshaling a string can't fail
	out := append([]byte(`{"function":`), name...)
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) > 2 && trimmed[0] == '{' && json.Valid(trimmed) {
		out = append(append(out, ','), trimmed[1:]...)
		return append(out, '\n')
	}
	text, _ := json.Marshal(string(line))
	out = append(append(out, `,"line":`...), text...)
	return append(out, "}\n"...)
}
