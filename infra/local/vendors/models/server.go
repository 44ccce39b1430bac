package models

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server stands in for the vendor. It accepts one key, which New generates.
type Server struct {
	Key string
	// Script returns an agent's acts for the given steps; nil means Obey.
	Script func(told []Step) []Act
	// Before is called with the operation's name before each request is handled; may be nil.
	Before func(op string)
	// Thinks is how many polls of a session pass before its agent acts.
	Thinks int
	// Twice repeats each event in every list of events.
	Twice bool
	// Page is the number of events or sessions per page.
	Page int

	mu       sync.Mutex
	made     map[string]int // handled requests by operation
	known    map[string]bool
	sessions []*Session
	faults   map[string][]Fault
}

// The operations' names.
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
	Status     int // is answered instead of handling the request
	RetryAfter string
	Half       bool // the request is handled, but only half of the answer is sent
}

func NewAgents() *Server {
	return &Server{Key: "agents-" + rand.Text(), Thinks: 1, Page: 100, made: map[string]int{}, known: map[string]bool{},
		faults: map[string][]Fault{}}
}

// Fail adds faults for the next requests of an operation, one for each.
func (s *Server) Fail(op string, f ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[op] = append(s.faults[op], f...)
}

// Made counts the handled requests of an operation.
func (s *Server) Made(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[op]
}

// Sessions returns all sessions, oldest first.
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
		x.work() // the agent works even if nobody reads its events
		return http.StatusOK, x.row()
	})))
	m.Handle("POST /v1/sessions/{id}/events", s.op(Send, s.of(s.send)))
	m.Handle("GET /v1/sessions/{id}/events", s.op(ListEvents, s.of(s.listEvents)))
	m.Handle("POST /v1/sessions/{id}/archive", s.op(Archive, s.of(func(x *Session, r *http.Request) (int, any) {
		x.archived = new(time.Now().UTC())
		return http.StatusOK, x.row()
	})))
	for kind, of := range map[string]string{"agents": "agent", "environments": "env"} {
		m.Handle("POST /v1/"+kind+"/{id}/archive", s.op(Archive, func(r *http.Request) (int, any) {
			id := r.PathValue("id")
			delete(s.known, id)
			return http.StatusOK, row(of, map[string]any{"id": id, "archived_at": time.Now().UTC()})
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
		status, answer := refusal(f.Status)
		switch {
		case status != 0:
		case r.Header.Get("X-Api-Key") != s.Key:
			status, answer = refusal(http.StatusUnauthorized)
		case !strings.Contains(r.Header.Get("Anthropic-Beta"), "managed-agents-2026-04-01"):
			status, answer = refusal(http.StatusBadRequest)
		default:
			s.mu.Lock()
			if status, answer = h(r); status == http.StatusOK {
				s.made[name]++
			}
			s.mu.Unlock()
		}
		body, _ := json.Marshal(answer) // marshaling texts and numbers can't fail
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
		_, _ = w.Write(body) // a failure means that the client has disconnected
	})
}

func refusal(status int) (int, any) { return status, anthropic.refuse(status, http.StatusText(status)) }

//go:embed rows.json
var rows []byte

// row returns what the vendor shows of an agent, an environment or a session, with these members of its own.
func row(kind string, own map[string]any) map[string]any {
	var all map[string]map[string]any
	if err := json.Unmarshal(rows, &all); err != nil {
		panic(err) // it is part of the binary
	}
	maps.Copy(all[kind], own)
	return all[kind]
}

// labels replaces nil by an empty object, as the vendor does.
func labels(of map[string]string) map[string]string {
	if of == nil {
		return map[string]string{}
	}
	return of
}

// makeNamed makes an agent or an environment.
func (s *Server) makeNamed(kind string) handler {
	return func(r *http.Request) (int, any) {
		var in struct {
			Name     string
			Model    map[string]any
			Metadata map[string]string
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Name == "" {
			return refusal(http.StatusBadRequest)
		}
		at := time.Now().UTC()
		own := map[string]any{"id": fmt.Sprintf("%s_%d", kind, len(s.known)+1), "name": in.Name,
			"metadata": labels(in.Metadata), "created_at": at, "updated_at": at}
		if in.Model != nil {
			own["model"] = in.Model
		}
		s.known[own["id"].(string)] = true
		return http.StatusOK, row(kind, own)
	}
}

// Forget deletes every agent and environment, as if the key now belonged to another workspace.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = map[string]bool{"gone": true}
}

func (s *Server) makeSession(r *http.Request) (int, any) {
	x := &Session{ID: fmt.Sprintf("sesn_%d", len(s.sessions)+1), at: time.Now().UTC(), status: "idle"}
	if json.NewDecoder(r.Body).Decode(&x.Made) != nil || x.Made.odd() {
		return refusal(http.StatusBadRequest)
	}
	if !s.known[x.Made.Agent.ID] || !s.known[x.Made.EnvironmentID] {
		return refusal(http.StatusNotFound)
	}
	s.sessions = append(s.sessions, x)
	return http.StatusOK, x.row()
}

// listSessions lists the newest first, unless it is told otherwise.
func (s *Server) listSessions(r *http.Request) (int, any) {
	q := r.URL.Query()
	since, err := time.Parse(time.RFC3339Nano, cmp.Or(q.Get("created_at[gte]"), time.Time{}.Format(time.RFC3339Nano)))
	if err != nil {
		return refusal(http.StatusBadRequest)
	}
	var all []any
	for _, x := range s.sessions {
		if x.archived == nil && (q.Get("agent_id") == "" || x.Made.Agent.ID == q.Get("agent_id")) && !x.at.Before(since) {
			all = append(all, x.row())
		}
	}
	return s.page(r, all, "desc")
}

// page answers with one page of a list, which is in its ascending order.
func (s *Server) page(r *http.Request, all []any, usual string) (int, any) {
	q := r.URL.Query()
	limit, err1 := strconv.Atoi(cmp.Or(q.Get("limit"), strconv.Itoa(s.Page)))
	from, err2 := strconv.Atoi(cmp.Or(q.Get("page"), "0"))
	order := cmp.Or(q.Get("order"), usual)
	if err1 != nil || err2 != nil || limit < 1 || from < 0 || order != "asc" && order != "desc" {
		return refusal(http.StatusBadRequest)
	}
	if order == "desc" {
		slices.Reverse(all)
	}
	to := min(len(all), from+min(s.Page, limit))
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
		return refusal(http.StatusNotFound)
	}
}
