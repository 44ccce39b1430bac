package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Session is a session and what happened in it.
type Session struct {
	ID   string
	Made Request
	// Answers are the tool results that were sent, oldest first.
	Answers []Answer
	// Messages are the texts that were sent. Interrupts counts the requests to stop.
	Messages   []string
	Interrupts int
	Refused    int // invalid requests, such as a second result of one call

	at       time.Time
	status   string
	archived *time.Time
	events   []map[string]any
	asked    map[string]bool // ids of calls without a result
	left     []Act
	thinking int
}

// Request is the request that creates a session.
type Request struct {
	Agent struct {
		ID     string
		Type   string
		System string
		Model  struct {
			ID string `json:"id"`
		}
		Tools []customTool
	}
	EnvironmentID string `json:"environment_id"`
	Title         *string
	Metadata      map[string]string
	Budget        *budget
}

type customTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        string          `json:"type"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type budget struct {
	Type        string `json:"type"`
	MaxListCost struct {
		Amount   string `json:"amount"`
		Currency string `json:"currency"`
	} `json:"max_list_cost"`
}

var (
	toolForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)
	// centsForm is an amount in minor units: an integer without leading zeros.
	centsForm = regexp.MustCompile(`^(?:0|[1-9][0-9]*)$`)
)

// odd reports whether the vendor's descriptions forbid a request beyond its types.
func (r Request) odd() bool {
	names := map[string]bool{}
	for _, t := range r.Agent.Tools {
		if !toolForm.MatchString(t.Name) || names[t.Name] || t.InputSchema == nil {
			return true
		}
		names[t.Name] = true
	}
	return r.Agent.Model.ID == "" || r.Budget != nil && !centsForm.MatchString(r.Budget.MaxListCost.Amount)
}

// Answer is the result of a tool call.
type Answer struct {
	Tool  string
	Text  string
	Error bool
}

// Step is a step that the session's message names.
type Step struct {
	StepID    string          `json:"stepId"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Done      bool            `json:"done"`
}

// Act is what an agent does next. It either calls tools and waits for their results, or says something and stops.
type Act struct {
	Asks []Ask
	Says string
	Stop string // such as end_turn, refusal or terminated
}

// Ask is a tool call by the agent.
type Ask struct{ Tool, Input string }

func (x *Session) row() map[string]any {
	calls := 0
	for _, e := range x.events {
		if e["type"] == "span.model_request_end" {
			calls++
		}
	}
	made := x.Made.Agent
	return row("session", map[string]any{
		"id": x.ID, "status": x.status, "title": x.Made.Title, "metadata": labels(x.Made.Metadata),
		"environment_id": x.Made.EnvironmentID, "created_at": x.at, "updated_at": x.at, "archived_at": x.archived,
		"budget": x.Made.Budget, "agent": row("session's agent", map[string]any{"id": made.ID, "model": made.Model,
			"system": made.System, "tools": append([]customTool{}, made.Tools...)}),
		"usage": map[string]any{
			"input_tokens": 100 * calls, "output_tokens": 10 * calls, "cache_read_input_tokens": 5 * calls,
			"active_seconds": 1.5,
			"cache_creation": map[string]any{"ephemeral_5m_input_tokens": 7, "ephemeral_1h_input_tokens": 0},
			"list_cost":      map[string]any{"amount": fmt.Sprint(calls), "currency": "USD"},
		},
	})
}

func (x *Session) emit(kind string, more map[string]any) string {
	id := fmt.Sprintf("sevt_%s_%d", x.ID, len(x.events)+1)
	e := map[string]any{"id": id, "type": kind, "processed_at": time.Now().UTC()}
	maps.Copy(e, more)
	x.events = append(x.events, e)
	return id
}

// sent is an event from the user. It is processed when the session is next read.
type sent struct {
	Type            string
	CustomToolUseID string `json:"custom_tool_use_id"`
	IsError         bool   `json:"is_error"`
	Content         []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
}

func (s *Server) send(x *Session, r *http.Request) (int, any) {
	var in struct{ Events []sent }
	odd := json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Events) == 0 || x.status == "terminated" ||
		x.archived != nil
	for _, e := range in.Events {
		odd = odd || e.Type == "user.custom_tool_result" && !x.asked[e.CustomToolUseID] ||
			e.Type == "user.message" && len(e.Content) == 0
	}
	if odd {
		x.Refused++
		return refusal(http.StatusBadRequest)
	}
	queued := []any{}
	for _, e := range in.Events {
		text := ""
		for _, block := range e.Content {
			text += block.Text
		}
		switch e.Type {
		case "user.message":
			x.Messages = append(x.Messages, text)
			x.left, x.asked = s.acts(text), map[string]bool{}
		case "user.custom_tool_result":
			delete(x.asked, e.CustomToolUseID)
			i := slices.IndexFunc(x.events, func(o map[string]any) bool { return o["id"] == e.CustomToolUseID })
			x.Answers = append(x.Answers, Answer{x.events[i]["name"].(string), text, e.IsError})
		case "user.interrupt":
			x.Interrupts++
			x.left, x.asked = []Act{{Stop: "end_turn"}}, nil
		}
		event := map[string]any{"processed_at": nil}
		if e.Type != "user.interrupt" {
			event["content"] = e.Content
		}
		if e.CustomToolUseID != "" {
			event["custom_tool_use_id"], event["is_error"] = e.CustomToolUseID, e.IsError
		}
		x.emit(e.Type, event)
		queued = append(queued, maps.Clone(x.events[len(x.events)-1]))
	}
	x.status, x.thinking = "running", s.Thinks
	if in.Events[len(in.Events)-1].Type == "user.interrupt" {
		x.thinking = 0
	}
	if len(x.asked) > 0 { // some calls have no result yet
		x.idle("requires_action")
	}
	return http.StatusOK, map[string]any{"data": queued}
}

// acts returns the agent's acts after a message.
func (s *Server) acts(text string) []Act {
	var told struct{ Steps []Step }
	text = strings.TrimSuffix(strings.TrimPrefix(text, "<data>"), "</data>")
	if json.Unmarshal([]byte(text), &told) != nil {
		return []Act{{Says: "I can't read that.", Stop: "end_turn"}}
	}
	if s.Script != nil {
		return s.Script(told.Steps)
	}
	return Obey(told.Steps)
}

// Obey returns the acts of an agent that calls the tool of every step that is not done.
func Obey(told []Step) (acts []Act) {
	for _, t := range told {
		if !t.Done {
			acts = append(acts, Act{Asks: []Ask{{t.Tool, string(t.Arguments)}}})
		}
	}
	return append(acts, Act{Says: "すべてのステップを実行しました。", Stop: "end_turn"})
}

// work does the next act, if there is one and its thinking time is over.
func (x *Session) work() {
	if x.status != "running" || len(x.asked) > 0 {
		return
	}
	for _, e := range x.events {
		if e["processed_at"] == nil {
			e["processed_at"] = time.Now().UTC()
		}
	}
	if x.thinking--; x.thinking >= 0 || len(x.left) == 0 {
		return
	}
	act := x.left[0]
	x.left = x.left[1:]
	x.emit("session.status_running", nil)
	x.emit("session.status_rescheduled", nil)
	x.emit("agent.something_new", map[string]any{"content": "?"})
	began := x.emit("span.model_request_start", nil)
	x.emit("span.model_request_end", map[string]any{"is_error": false, "model_request_start_id": began,
		"model_usage": map[string]any{
			"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 7,
		}})
	if act.Says != "" {
		x.emit("agent.message", map[string]any{"content": []any{map[string]any{"type": "text", "text": act.Says}}})
	}
	x.asked = map[string]bool{}
	for _, ask := range act.Asks {
		x.asked[x.emit("agent.custom_tool_use", map[string]any{"name": ask.Tool, "input": json.RawMessage(ask.Input)})] = true
	}
	switch {
	case act.Stop == "terminated":
		x.status = "terminated"
		x.emit("session.status_terminated", nil)
	case act.Stop != "":
		x.idle(act.Stop)
	default:
		x.idle("requires_action")
	}
}

func (x *Session) idle(why string) {
	x.status = "idle"
	reason := map[string]any{"type": why}
	if why == "requires_action" {
		reason["event_ids"] = slices.Sorted(maps.Keys(x.asked))
	}
	x.emit("session.status_idle", map[string]any{"stop_details": nil, "stop_reason": reason})
}

func (s *Server) listEvents(x *Session, r *http.Request) (int, any) {
	if r.URL.Query().Get("page") == "" {
		x.work()
	}
	types := r.URL.Query()["types[]"]
	var all []any
	for _, e := range x.events {
		// The vendor's filters let kinds of events pass that are newer than the filter.
		if kind := e["type"].(string); len(types) > 0 && !slices.Contains(types, kind) && kind != "agent.something_new" {
			continue
		}
		copied := maps.Clone(e)
		if all = append(all, copied); s.Twice {
			all = append(all, copied)
		}
	}
	return s.page(r, all, "asc")
}
