package lambda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"ringi/infra/local/process"
)

// runOnce runs a managed function in a process of its own, as with Lambda's tenant isolation, and writes its output to
// out.
func (p *pool) runOnce(payload []byte, out io.Writer) (Result, error) {
	f, id := p.function, requestID()
	cmd := exec.Command(f.Binary)
	// The binary gets none of the handler's environment variables.
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = filepath.Dir(f.Binary), []string{}, bytes.NewReader(payload),
		out, p.service.log.writer(f.ID)
	running, err := p.startOnce(cmd)
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", f.ID, err)
	}
	defer func() {
		p.mu.Lock()
		delete(p.once, running)
		p.mu.Unlock()
	}()
	limit := time.NewTimer(f.Timeout)
	defer limit.Stop()
	select {
	case <-running.Done():
		if err := running.Err(); err != nil {
			return failure(id, exited, "RequestId: %s Error: Runtime exited with error: %v", id, err), nil
		}
		return Result{RequestID: id}, nil
	case <-limit.C:
		running.Kill()
		return failure(id, timedOut, "RequestId: %s Error: Task timed out after %.2f seconds", id, f.Timeout.Seconds()), nil
	}
}

// startOnce starts a process that is killed when the service closes.
func (p *pool) startOnce(cmd *exec.Cmd) (*process.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	running, err := process.Start(cmd)
	if err == nil {
		p.once[running] = true
	}
	return running, err
}

// runWhole collects the complete output of a managed function, for Invoke.
func (p *pool) runWhole(payload []byte) (Result, error) {
	var out bytes.Buffer
	r, err := p.runOnce(payload, &out)
	if err == nil && !r.Failed {
		r.Payload = out.Bytes()
	}
	return r, err
}

// serveStream answers InvokeWithResponseStream. As in Lambda, the function continues when the caller disconnects.
func (s *Service) serveStream(w http.ResponseWriter, r *http.Request) {
	name, payload, ok := s.call(w, r)
	if !ok {
		return
	}
	p := s.functions[plainName(name)]
	if !p.function.Managed {
		deny(w, http.StatusBadRequest, "InvalidRequestContentException", p.function.ID+" streams no answers")
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
	result, err := p.runOnce(payload, out)
	end := map[string]string{}
	if err != nil {
		end["ErrorCode"], end["ErrorDetails"] = "ServiceException", err.Error()
	} else if result.Failed {
		end["ErrorCode"], end["ErrorDetails"] = errorType(result.Payload), string(result.Payload)
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
