package lambda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"ringi/infra/local/process"
)

// tap is a proxy between one environment and the services that it calls. It asks Faults about each call.
type tap struct {
	env     *environment
	faults  Faults
	origins map[string]string // address of a service → address of the proxy's listener for it
	servers []*http.Server
}

// tapTransport sends the calls of all taps. It never repeats a request, because a function's write must not be sent
// twice.
func tapTransport() *http.Transport {
	return &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second}
}

// through opens a proxy for each service whose http URL is in the NAME=value list, and returns the list with the
// proxies' addresses.
func (t *tap) through(variables []string) ([]string, error) {
	out := make([]string, len(variables))
	for i, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		out[i] = v
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "http" || u.Host == "" {
			continue
		}
		origin := u.Scheme + "://" + u.Host
		if t.origins[origin] == "" {
			if t.origins[origin], err = t.listen(&url.URL{Scheme: u.Scheme, Host: u.Host}); err != nil {
				return nil, err
			}
		}
		out[i] = name + "=" + t.origins[origin] + strings.TrimPrefix(value, origin)
	}
	return out, nil
}

func (t *tap) listen(target *url.URL) (origin string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen before %s: %w", target, err)
	}
	origin = "http://" + l.Addr().String()
	proxy := &httputil.ReverseProxy{
		Transport:      t.env.service.transport,
		ModifyResponse: func(r *http.Response) error { return leadsTo(r, target.String(), origin) },
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	handler := func(w http.ResponseWriter, r *http.Request) { t.serve(w, r, proxy) }
	s := &http.Server{Handler: process.Handler(http.HandlerFunc(handler)), ReadHeaderTimeout: 10 * time.Second}
	t.servers = append(t.servers, s)
	go s.Serve(l)
	return origin, nil
}

// leadsTo has the addresses of files in Slack's answers lead to the proxy: functions take those with Slack's own host
// only, and their calls of them are to be seen. What others answer is stored, and stays.
func leadsTo(r *http.Response, service, proxy string) error {
	if !strings.HasPrefix(r.Request.URL.Path, "/api/files.") {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		return fmt.Errorf("read an answer of %s: %w", service, err)
	}
	body = bytes.ReplaceAll(body, []byte(service+"/"), []byte(proxy+"/"))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

func (t *tap) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process has ended
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	call := t.env.call(t.env.underWay(), kindOf(r), body)
	fate := t.faults.Meet(call)
	if fate.Instead != nil {
		next = fate.Instead
	}
	if fate.Freeze > 0 {
		t.env.freeze(fate)
	}
	switch fate.Kill {
	case Before:
		t.env.die(call)
	case After:
		next.ServeHTTP(&unread{header: http.Header{}}, r)
		t.env.die(call)
	default:
		next.ServeHTTP(w, r)
		return
	}
	panic(http.ErrAbortHandler) // closes the connection without an answer
}

func (t *tap) close() {
	for _, s := range t.servers {
		s.Close()
	}
}

// underWay returns the current invocation, or nil while the process starts.
func (e *environment) underWay() *invocation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current
}

func (e *environment) call(inv *invocation, kind string, body []byte) Call {
	c := Call{Function: e.function.Name, Event: e.first, Kind: kind, Body: body}
	if inv != nil {
		c.RequestID, c.Event = inv.id, inv.payload
	}
	return c
}

// dies asks Faults about a moment that is not a call, and reports whether it killed the process.
func (e *environment) dies(inv *invocation, kind string, body []byte) bool {
	faults := e.service.options.Faults
	if faults == nil {
		return false
	}
	call := e.call(inv, kind, body)
	if faults.Meet(call).Kill == Never {
		return false
	}
	e.die(call)
	return true
}

// initDies notes that the process has started. It asks Faults about that moment, and reports whether it killed the
// process.
func (e *environment) initDies() bool {
	e.mu.Lock()
	first := !e.ready
	if first {
		e.ready = true
		close(e.asked)
	}
	e.mu.Unlock()
	return first && e.dies(nil, KindInit, nil)
}

// freeze pauses the process until its invocation times out.
func (e *environment) freeze(fault Fault) {
	<-e.started
	e.process.Pause()
	if inv := e.underWay(); inv != nil {
		select {
		case inv.frozen <- fault:
		default: // the process is already paused
		}
	}
}

// die kills the process. It writes nothing more while Faults make its claims expire.
func (e *environment) die(c Call) {
	<-e.started
	e.process.Pause()
	e.service.options.Faults.Dying(c)
	e.process.Kill()
}

// kindOf names a request: by its operation in AWS's JSON protocols, otherwise by method and path. Parts of a path that
// contain digits are replaced by *, since they look like ids.
func kindOf(r *http.Request) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		service, operation, _ := strings.Cut(target, ".")
		service, _, _ = strings.Cut(service, "_")
		return service + "." + operation
	}
	parts := strings.Split(r.URL.Path, "/")
	for i, p := range parts {
		if strings.ContainsAny(p, "0123456789") && len(p) > 2 || len(p) > 0 && strings.Trim(p, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return r.Method + " " + strings.Join(parts, "/")
}

type unread struct{ header http.Header }

func (u *unread) Header() http.Header         { return u.header }
func (u *unread) Write(b []byte) (int, error) { return len(b), nil }
func (u *unread) WriteHeader(int)             {}

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
