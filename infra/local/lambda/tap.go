package lambda

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// tap is a proxy between one environment and the services that it calls. It asks Faults about each call.
type tap struct {
	env     *environment
	faults  Faults
	origins map[string]string // address of a service → address of the proxy's listener for it
	servers []*http.Server
}

// through opens a proxy for each service whose http URL is in the NAME=value list, and returns the list with the
// proxies' addresses. The console's, which cards show and nobody calls, stays: with another in each process, each would
// draw all cards anew.
func (t *tap) through(variables []string) ([]string, error) {
	out := make([]string, len(variables))
	for i, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		out[i] = v
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "http" || u.Host == "" || name == "CONSOLE_ADDRESS" {
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
	s := &http.Server{Handler: Guard(http.HandlerFunc(handler)), ReadHeaderTimeout: 10 * time.Second}
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
	if fate.Kill == Never && fate.Freeze == 0 {
		next.ServeHTTP(w, r)
		return
	}
	if fate.Freeze > 0 {
		go t.env.freeze(fate)
	}
	if fate.Kill != Before {
		next.ServeHTTP(&unread{header: http.Header{}}, r)
	}
	if fate.Kill != Never {
		t.env.die(call)
	}
	<-t.env.process.Done()
	panic(http.ErrAbortHandler) // closes the connection without an answer
}

// underWay returns the current invocation, or nil while the process starts.
func (e *environment) underWay() *invocation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current
}

func (e *environment) call(inv *invocation, kind string, body []byte) Call {
	c := Call{Function: e.function.ID, Event: e.first, Kind: kind, Body: body}
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

// freeze pauses the process until its time is up.
func (e *environment) freeze(fault Fault) {
	<-e.started
	e.process.Pause()
	select {
	case <-time.After(fault.Freeze):
		e.timeOut()
	case <-fault.Over:
		e.timeOut()
	case <-e.process.Done():
	}
}

// die kills the process. Nobody learns of that before Faults have made its claims expire.
func (e *environment) die(c Call) {
	<-e.started
	e.dying.Lock()
	defer e.dying.Unlock()
	e.process.Kill()
	e.service.options.Faults.Dying(c)
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
