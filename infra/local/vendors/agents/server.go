// Package agents stands in for Claude Managed Agents: it speaks their wire, and its
// agent asks for the calls that the message names, one after the other, or does as a
// test's script says.
package agents

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is the vendor. Its one key is its own.
type Server struct {
	Key string
	// Script is what the agent of a session does; nil: what it is told.
	Script func(told []Step) []Act
	// Before is called before a request is handled, by the name of what it does; may be nil.
	Before func(op string)
	// Thinks is how often a session is looked at before its agent does the next thing.
	Thinks int
	// Twice lists every event twice.
	Twice bool
	// Page is how many events or sessions a page has.
	Page int

	mu       sync.Mutex
	made     map[string]int // by kind
	known    map[string]bool
	sessions []*Session
	faults   map[string][]Fault
}

// The names of what requests do.
const (
	MakeAgent       = "make agent"
	MakeEnvironment = "make environment"
	MakeSession     = "make session"
	ListSessions    = "list sessions"
	GetSession      = "get session"
	Send            = "send"
	ListEvents      = "list events"
	Archive         = "archive"
)

// Fault is what happens to one request.
type Fault struct {
	Status     int // instead of handling it
	RetryAfter string
	Lost       bool          // it is handled, and the connection cut in place of an answer
	Half       bool          // it is handled, and half of the answer comes
	Hang       time.Duration // before it is handled
}

// New makes a vendor with a key.
func New() *Server {
	return &Server{Key: "agents-" + rand.Text(), Page: 100, made: map[string]int{}, known: map[string]bool{}, faults: map[string][]Fault{}}
}

// Fail lets the next requests of a kind fail, one after the other.
func (s *Server) Fail(op string, f ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[op] = append(s.faults[op], f...)
}

// Made counts the requests of a kind that were handled.
func (s *Server) Made(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[op]
}

// Sessions are all of them, oldest first.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Session(nil), s.sessions...)
}

// ServeHTTP serves /v1/agents, /v1/environments and /v1/sessions.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := http.NewServeMux()
	m.Handle("POST /v1/agents", s.op(MakeAgent, s.makeNamed("agent")))
	m.Handle("POST /v1/environments", s.op(MakeEnvironment, s.makeNamed("env")))
	m.Handle("POST /v1/sessions", s.op(MakeSession, s.makeSession))
	m.Handle("GET /v1/sessions", s.op(ListSessions, s.listSessions))
	m.Handle("GET /v1/sessions/{id}", s.op(GetSession, s.of(func(x *Session, r *http.Request) (int, any) {
		x.work() // it goes on, whether or not anybody reads its events
		return http.StatusOK, x.row()
	})))
	m.Handle("POST /v1/sessions/{id}/events", s.op(Send, s.of(s.send)))
	m.Handle("GET /v1/sessions/{id}/events", s.op(ListEvents, s.of(s.listEvents)))
	m.Handle("POST /v1/sessions/{id}/archive", s.op(Archive, s.of(func(x *Session, r *http.Request) (int, any) {
		x.archived = true
		return http.StatusOK, x.row()
	})))
	for _, kind := range []string{"agents", "environments"} {
		m.Handle("POST /v1/"+kind+"/{id}/archive", s.op(Archive, func(r *http.Request) (int, any) {
			delete(s.known, r.PathValue("id"))
			return http.StatusOK, map[string]any{"id": r.PathValue("id")}
		}))
	}
	m.ServeHTTP(w, r)
}

type handler func(r *http.Request) (status int, answer any)

func (s *Server) op(name string, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Before != nil {
			s.Before(name)
		}
		s.mu.Lock()
		var f Fault
		if queue := s.faults[name]; len(queue) > 0 {
			f, s.faults[name] = queue[0], queue[1:]
		}
		s.mu.Unlock()
		if f.Hang > 0 {
			select {
			case <-time.After(f.Hang):
			case <-r.Context().Done():
				return
			}
		}
		status, answer := f.Status, refusal("asked_for")
		switch {
		case status != 0:
		case r.Header.Get("X-Api-Key") != s.Key:
			status, answer = http.StatusUnauthorized, refusal("authentication_error")
		case !strings.Contains(r.Header.Get("Anthropic-Beta"), "managed-agents-2026-04-01"):
			status, answer = http.StatusBadRequest, refusal("invalid_request_error")
		default:
			s.mu.Lock()
			if status, answer = h(r); status == http.StatusOK {
				s.made[name]++
			}
			s.mu.Unlock()
		}
		body, err := json.Marshal(answer)
		if err != nil || f.Lost {
			panic(http.ErrAbortHandler)
		}
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_1")
		if f.Half {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			body = body[:len(body)/2]
		}
		w.WriteHeader(status)
		_, _ = w.Write(body) // else nobody is left to answer
	})
}

func refusal(code string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": code, "message": "この要求は受け付けられません"}}
}

func (s *Server) makeNamed(kind string) handler {
	return func(r *http.Request) (int, any) {
		var in struct{ Name string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Name == "" {
			return http.StatusBadRequest, refusal("invalid_request_error")
		}
		id := fmt.Sprintf("%s_%d", kind, len(s.known)+1)
		s.known[id] = true
		return http.StatusOK, map[string]any{"id": id, "type": kind, "name": in.Name, "a_new_field": 1}
	}
}

// Forget loses every agent and environment, as for another workspace's key.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = map[string]bool{"gone": true}
}

func (s *Server) makeSession(r *http.Request) (int, any) {
	body, err := io.ReadAll(r.Body)
	x := &Session{ID: fmt.Sprintf("sesn_%d", len(s.sessions)+1), at: time.Now().UTC(), status: "idle"}
	if err != nil || json.NewDecoder(bytes.NewReader(body)).Decode(&x.Made) != nil || !x.Made.valid() {
		return http.StatusBadRequest, refusal("invalid_request_error")
	}
	if !s.known[x.Made.Agent.ID] || !s.known[x.Made.EnvironmentID] {
		return http.StatusNotFound, refusal("not_found_error")
	}
	s.sessions = append(s.sessions, x)
	return http.StatusOK, x.row()
}

func (s *Server) listSessions(r *http.Request) (int, any) {
	since, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("created_at[gte]"))
	if err != nil {
		return http.StatusBadRequest, refusal("invalid_request_error")
	}
	var all []any
	for _, x := range s.sessions {
		if !x.archived && x.Made.Agent.ID == r.URL.Query().Get("agent_id") && !x.at.Before(since) {
			all = append(all, x.row())
		}
	}
	return s.page(r, all)
}

func (s *Server) page(r *http.Request, all []any) (int, any) {
	from, _ := strconv.Atoi(r.URL.Query().Get("page")) // empty is the first
	to := min(len(all), from+s.Page)
	out := map[string]any{"data": append([]any{}, all[min(from, to):to]...), "next_page": nil}
	if to < len(all) {
		out["next_page"] = strconv.Itoa(to)
	}
	return http.StatusOK, out
}

func (s *Server) of(h func(*Session, *http.Request) (int, any)) handler {
	return func(r *http.Request) (int, any) {
		for _, x := range s.sessions {
			if x.ID == r.PathValue("id") {
				return h(x, r)
			}
		}
		return http.StatusNotFound, refusal("not_found_error")
	}
}
