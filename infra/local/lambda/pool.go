package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"

	"ringi/infra/local/process"
)

// pool has the environments of a function. An environment is either idle or belongs to one invocation.
type pool struct {
	service  *Service
	function Function

	mu           sync.Mutex
	environments map[*environment]bool     // true while idle
	once         map[*process.Process]bool // of a managed function
	closed       bool
}

// run runs one invocation. If a process ended before it took the event, run tries another environment.
func (p *pool) run(payload []byte) (Result, error) {
	if f := p.service.options.Faults; f != nil && f.Busy(p.function.ID, payload) {
		return Result{}, fmt.Errorf("%w: %s is refused", ErrBusy, p.function.ID)
	}
	inv := &invocation{id: requestID(), payload: payload, taken: make(chan struct{}), answer: make(chan Result, 1)}
	cold := p.service.options.Faults != nil && p.service.options.Faults.Cold(p.function.ID, payload)
	for {
		e, fresh, err := p.take(payload, cold)
		if err != nil {
			return Result{}, err
		}
		result, taken := e.invoke(inv, fresh)
		if taken || fresh {
			p.give(e)
			return result, nil
		}
		p.remove(e)
	}
}

// take returns an idle environment or a new one. While all places for starts are taken it waits for one, and looks
// again. If cold is true, a new environment replaces an idle one.
func (p *pool) take(event []byte, cold bool) (e *environment, fresh bool, err error) {
	if e, err := p.idle(cold); e != nil || err != nil {
		return e, false, err
	}
	p.service.starts <- struct{}{}
	if !cold {
		if e, err := p.idle(false); e != nil || err != nil {
			<-p.service.starts
			return e, false, err
		}
	}
	e, err = p.start(event)
	if err != nil {
		<-p.service.starts
		return nil, false, err
	}
	go func() {
		select {
		case <-e.asked: // for its first event
		case <-e.process.Done():
		}
		<-p.service.starts
	}()
	return e, true, nil
}

// idle returns an idle environment, or nil if there is none. If cold is true, it ends an idle environment instead.
func (p *pool) idle(cold bool) (*environment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	for e, idle := range p.environments {
		if !idle {
			continue
		}
		if !cold && !e.dead() {
			p.environments[e] = false
			return e, nil
		}
		delete(p.environments, e)
		e.close()
		if cold {
			break
		}
	}
	return nil, p.full()
}

// full returns an error if the function may not have one more environment. The caller holds p.mu.
func (p *pool) full() error {
	if limit := p.function.Concurrency; limit > 0 && len(p.environments) >= limit {
		return fmt.Errorf("%w: %s has %d", ErrBusy, p.function.ID, limit)
	}
	return nil
}

func (p *pool) start(event []byte) (*environment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if err := p.full(); err != nil {
		return nil, err
	}
	e, err := startEnvironment(p.service, p.function, event)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.function.ID, err)
	}
	p.environments[e] = false
	return e, nil
}

// give makes an environment available to the next invocation, unless its process died.
func (p *pool) give(e *environment) {
	if e.dead() {
		p.remove(e)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.environments[e]; known {
		p.environments[e] = true
	}
}

func (p *pool) remove(e *environment) {
	p.mu.Lock()
	delete(p.environments, e)
	p.mu.Unlock()
	e.close()
}

// processes returns the processes that are still running.
func (p *pool) processes() (list []*process.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.environments {
		if !e.dead() {
			list = append(list, e.process)
		}
	}
	return slices.AppendSeq(list, maps.Keys(p.once))
}

func (p *pool) close() {
	p.mu.Lock()
	all := p.environments
	p.environments, p.closed = map[*environment]bool{}, true
	for running := range p.once {
		running.Kill()
	}
	p.mu.Unlock()
	for e := range all {
		e.close()
	}
}

// Path is the prefix of Lambda's API.
const Path = "/2015-03-31/functions/"

// StreamPath is the prefix of Lambda's API for streamed answers.
const StreamPath = "/2021-11-15/functions/"

// Handler serves Invoke and InvokeWithResponseStream to functions, the state machine, the AWS CLI and tests.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Path+"{name}/invocations", s.serveInvoke)
	mux.HandleFunc("POST "+StreamPath+"{name}/response-streaming-invocations", s.serveStream)
	return mux
}

func (s *Service) serveInvoke(w http.ResponseWriter, r *http.Request) {
	name, payload, ok := s.call(w, r)
	if !ok {
		return
	}
	result, err := s.Invoke(r.Context(), name, payload)
	switch {
	case errors.Is(err, ErrBusy):
		deny(w, http.StatusTooManyRequests, "TooManyRequestsException", "Rate Exceeded.")
		return
	case err != nil:
		deny(w, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Amzn-RequestId", result.RequestID)
	h.Set("X-Amz-Executed-Version", "$LATEST")
	if result.Failed {
		h.Set("X-Amz-Function-Error", "Unhandled")
	}
	w.Write(result.Payload)
}

// call reads the function's name and the payload. If they are invalid, it answers the request and returns false.
func (s *Service) call(w http.ResponseWriter, r *http.Request) (name string, payload []byte, ok bool) {
	payload, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxPayload))
	if err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			deny(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", "the payload is longer than 6291456 bytes")
			return "", nil, false
		}
		deny(w, http.StatusBadRequest, "InvalidRequestContentException", "the body could not be read")
		return "", nil, false
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	if !json.Valid(payload) {
		deny(w, http.StatusBadRequest, "InvalidRequestContentException", "Could not parse request body into json")
		return "", nil, false
	}
	name = r.PathValue("name")
	if _, ok := s.functions[plainName(name)]; !ok {
		deny(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+arn(plainName(name)))
		return "", nil, false
	}
	return name, payload, true
}

// deny answers with an error as Lambda's API does. The state machine interpreter treats an answer without a request id
// as malformed.
func deny(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("X-Amzn-RequestId", requestID())
	w.Header().Set("X-Amzn-ErrorType", kind)
	say(w, status, map[string]string{"Type": "User", "Message": message, "message": message})
}
