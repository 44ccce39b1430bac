package lambda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"ringi/infra/local/process"
)

// managed has the processes of managed functions. Each call gets a process of its own, as with Lambda's tenant
// isolation.
type managed struct {
	mu        sync.Mutex
	processes map[*process.Process]string // function name by process
	closed    bool
}

// start starts a process that is killed when the service closes.
func (m *managed) start(name string, cmd *exec.Cmd) (*process.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	p, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	m.processes[p] = name
	return p, nil
}

func (m *managed) ended(p *process.Process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.processes, p)
}

func (m *managed) all(name string) (list []*process.Process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, of := range m.processes {
		if of == name {
			list = append(list, p)
		}
	}
	return list
}

func (m *managed) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for p := range m.processes {
		p.Kill()
	}
}

// run runs a managed function once and writes its output to out. failed is nil if the function succeeded.
func (s *Service) run(f Function, payload []byte, out io.Writer) (failed *Result, err error) {
	id := requestID()
	cmd := exec.Command(f.Binary)
	// The binary gets none of the handler's environment variables.
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = filepath.Dir(f.Binary), []string{}, bytes.NewReader(payload),
		out, s.log.writer(f.Name)
	p, err := s.managed.start(f.Name, cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", f.Name, err)
	}
	defer s.managed.ended(p)
	limit := time.NewTimer(f.Timeout)
	defer limit.Stop()
	var r Result
	select {
	case <-p.Done():
		if p.Err() == nil {
			return nil, nil
		}
		r = failure(id, exited, "RequestId: %s Error: Runtime exited with error: %v", id, p.Err())
	case <-limit.C:
		p.Kill()
		r = failure(id, timedOut, "RequestId: %s Error: Task timed out after %.2f seconds", id, f.Timeout.Seconds())
	}
	return &r, nil
}

// whole collects the complete output of a managed function, for Invoke.
func (s *Service) whole(f Function, payload []byte) (Result, error) {
	var out bytes.Buffer
	failed, err := s.run(f, payload, &out)
	switch {
	case err != nil:
		return Result{}, err
	case failed != nil:
		return *failed, nil
	}
	return Result{RequestID: requestID(), Payload: out.Bytes()}, nil
}

// serveStream answers InvokeWithResponseStream. As in Lambda, the function continues when the caller disconnects.
func (s *Service) serveStream(w http.ResponseWriter, r *http.Request) {
	name, payload, ok := s.call(w, r)
	if !ok {
		return
	}
	f := s.functions[plainName(name)].function
	if !f.Managed {
		deny(w, http.StatusBadRequest, "InvalidRequestContentException", f.Name+" streams no answers")
		return
	}
	if err := s.begin(); err != nil {
		deny(w, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	defer s.active.Done()
	h := w.Header()
	h.Set("Content-Type", "application/vnd.amazon.eventstream")
	h.Set("X-Amzn-RequestId", requestID())
	h.Set("X-Amz-Executed-Version", "$LATEST")
	w.WriteHeader(http.StatusOK)
	out := &chunks{w: w, flush: http.NewResponseController(w)}
	failed, err := s.run(f, payload, out)
	end := map[string]string{}
	if err != nil {
		end["ErrorCode"], end["ErrorDetails"] = "ServiceException", err.Error()
	} else if failed != nil {
		var why struct{ ErrorType string }
		json.Unmarshal(failed.Payload, &why)
		end["ErrorCode"], end["ErrorDetails"] = why.ErrorType, string(failed.Payload)
	}
	text, _ := json.Marshal(end)
	out.event("InvokeComplete", "application/json", text)
}

// chunks writes a function's output as events of a response stream.
type chunks struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	gone  bool // the caller has disconnected
}

func (c *chunks) Write(b []byte) (int, error) {
	c.event("PayloadChunk", "application/octet-stream", b)
	return len(b), nil
}

func (c *chunks) event(kind, content string, payload []byte) {
	if c.gone {
		return
	}
	var m eventstream.Message
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	m.Headers.Set(":event-type", eventstream.StringValue(kind))
	m.Headers.Set(":content-type", eventstream.StringValue(content))
	m.Payload = payload
	if err := eventstream.NewEncoder().Encode(c.w, m); err != nil || c.flush.Flush() != nil {
		c.gone = true
	}
}
