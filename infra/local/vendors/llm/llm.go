// Package llm stands in for the vendors of models: it speaks the wire of each and
// answers as the demo model does.
package llm

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"ringi/shared/model/demo"
)

// Models stands in for all vendors, which share a key.
type Models struct {
	Key string

	mu       sync.Mutex
	calls    map[string]int
	heard    []string // the first turn of each call
	failures []Failure
	obey     func(purpose, answer string) string
	scripts  []Script
	asked    []string // bodies of the requests of conversations
}

// Failure is an answer in place of the next one.
type Failure struct {
	Status     int
	RetryAfter string
	Param      string // what of the request is refused; Anthropic says it in words
}

func (f Failure) words() []string {
	if f.Param == "" {
		return nil
	}
	return []string{f.Param + ": Extra inputs are not permitted", f.Param}
}

// New makes vendors with a key.
func New() *Models { return &Models{Key: "model-" + rand.Text(), calls: map[string]int{}} }

// Handler serves Anthropic below /anthropic, OpenAI below /openai/v1, Chat Completions
// below /compatible/v1 and Bedrock below /bedrock.
func (m *Models) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /anthropic/v1/messages", m.serve(anthropic))
	mux.HandleFunc("POST /openai/v1/responses", m.serve(responses))
	mux.HandleFunc("POST /compatible/v1/chat/completions", m.serve(completions))
	mux.HandleFunc("POST /bedrock/model/{model}/converse", m.serve(converse))
	mux.HandleFunc("POST /bedrock/model/{model}/converse-stream", m.serve(converse))
	return mux
}

// Calls counts the answers of a vendor: anthropic, openai, compatible, bedrock.
func (m *Models) Calls(vendor string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[vendor]
}

// Heard reports whether a text was part of a request to any vendor.
func (m *Models) Heard(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.heard, func(s string) bool { return strings.Contains(s, text) })
}

// Fail makes the next calls fail, one after the other.
func (m *Models) Fail(f ...Failure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = append(m.failures, f...)
}

// Obey lets a function replace the demo model's answers to extract, draft, plan and summarize; nil ends that.
func (m *Models) Obey(say func(purpose, answer string) string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.obey = say
}

func (m *Models) next() (f Failure, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return takeFirst(&m.failures)
}

func takeFirst[T any](of *[]T) (first T, ok bool) {
	if len(*of) == 0 {
		return first, false
	}
	first, *of = (*of)[0], (*of)[1:]
	return first, true
}

// wire describes a vendor's requests, how they carry the key, and its answers, whole and streamed.
type wire struct {
	vendor string
	id     string                              // the header that names a request
	key    func(*http.Request) string          // nil: signed by AWS credentials instead
	read   func(body []byte) (spokenTo, error) // an error for what the vendor would refuse
	whole  func(Script) object
	events func(Script) []event
	refuse func(status int) object // the body of an error
}

const requestID = "req_1"

func (m *Models) serve(of wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(of.id, requestID)
		if f, ok := m.next(); ok {
			if f.RetryAfter != "" {
				w.Header().Set("Retry-After", f.RetryAfter)
			}
			of.fail(w, f.Status, f.words()...)
			return
		}
		if of.key == nil && !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") ||
			of.key != nil && of.key(r) != m.Key {
			of.fail(w, http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
		if err != nil {
			return // nobody is left to answer
		}
		q, err := of.read(body)
		if err != nil {
			of.fail(w, http.StatusBadRequest, err.Error())
			return
		}
		m.mu.Lock()
		m.calls[of.vendor]++
		m.heard = append(m.heard, text(q.said...))
		m.mu.Unlock()
		if streams(r, body) {
			m.stream(w, of, q, body)
			return
		}
		answer, err := m.generate(q)
		if err != nil {
			of.fail(w, http.StatusBadRequest)
			return
		}
		used := tokens{input: len(body) / 4, output: len(answer) / 4}
		// else nobody is left to answer
		_ = json.NewEncoder(w).Encode(of.whole(Script{Texts: []string{answer}, Model: q.model, used: used}))
	}
}

// generate answers as the demo model does, or as Obey says.
func (m *Models) generate(q spokenTo) (string, error) {
	purpose := purpose(q.schema)
	answer, err := demo.Answer(demo.Question{Purpose: purpose, Try: 2, Repair: len(q.said) > 1, Text: text(q.said[0])})
	m.mu.Lock()
	obey := m.obey
	m.mu.Unlock()
	if err == nil && obey != nil {
		answer = obey(purpose, answer)
	}
	return answer, err
}

// streams reports whether a request asks for a stream, as those of conversations do.
func streams(r *http.Request, body []byte) bool {
	var q struct{ Stream bool }
	return strings.HasSuffix(r.URL.Path, "-stream") || json.Unmarshal(body, &q) == nil && q.Stream
}

func (of wire) fail(w http.ResponseWriter, status int, why ...string) {
	if of.key == nil {
		w.Header().Set("X-Amzn-ErrorType", amazonError(status))
		if status == http.StatusUnauthorized { // AWS says so of a signature with 403
			status = http.StatusForbidden
		}
	}
	w.WriteHeader(status)
	body := of.refuse(status)
	if e, ok := body["error"].(object); why != nil && !ok {
		body["message"] = why[0]
	} else if why != nil {
		e["message"] = why[0]
		if _, has := e["param"]; has && len(why) > 1 {
			e["param"] = why[1]
		}
	}
	_ = json.NewEncoder(w).Encode(body) // else nobody is left to answer
}

// purpose finds out from the schema of the answer which generation a call is.
func purpose(schema json.RawMessage) string {
	var s struct {
		Properties map[string]any `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // then it has none
	for member, purpose := range map[string]string{"task_type": "extract", "policy": "draft", "steps": "plan", "summary": "summarize"} {
		if _, ok := s.Properties[member]; ok {
			return purpose
		}
	}
	return ""
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}
