// Package models stands in for the vendors of models. It speaks the protocol of each, and answers as the demo model
// does or as a test's script says. Server stands in for Claude Managed Agents: its agent makes the tool calls that the
// message names, one after the other. What vendors publish of their APIs is held beside it, so that a mistake that
// clients and stand-ins share shows. Sample has files of contests: teams, a contest's file, an evaluator and a judge.
package models

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ringi/shared/model/demo"
)

// Models stands in for all vendors, which accept the same key.
type Models struct {
	Key string

	mu       sync.Mutex
	calls    map[string]int
	heard    []string // text of each call
	failures []Failure
	obey     func(purpose, answer string) string
	scripts  []Script
	asked    []string // bodies of the conversations' requests
	rules    Rules
	signed   map[string]string // what each signature covers: the thoughts, and the request before them
}

// Failure is an error that replaces the next answer.
type Failure struct {
	Status     int
	RetryAfter string
	Param      string // the refused parameter, which Anthropic names in the message only
}

func (f Failure) words() []string {
	if f.Param == "" {
		return nil
	}
	return []string{f.Param + ": Extra inputs are not permitted", f.Param}
}

func NewModels() *Models {
	return &Models{Key: "model-" + rand.Text(), calls: map[string]int{}, signed: map[string]string{}}
}

// Handler serves Anthropic at /anthropic, OpenAI at /openai/v1, Chat Completions at /compatible/v1, Gemini's at /gemini
// and Bedrock at /bedrock.
func (m *Models) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /anthropic/v1/messages", m.serve(anthropic))
	mux.HandleFunc("POST /openai/v1/responses", m.serve(responses))
	mux.HandleFunc("POST /compatible/v1/chat/completions", m.serve(completions))
	mux.HandleFunc("POST /gemini/chat/completions", m.serve(gemini))
	mux.HandleFunc("POST /bedrock/model/{model}/converse", m.serve(converse))
	mux.HandleFunc("POST /bedrock/model/{model}/converse-stream", m.serve(converse))
	return mux
}

// Calls counts the requests that a vendor accepted. vendor is anthropic, openai, compatible or bedrock.
func (m *Models) Calls(vendor string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[vendor]
}

func (m *Models) Heard(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.heard, func(s string) bool { return strings.Contains(s, text) })
}

// Fail makes the next calls fail, each with one of these failures.
func (m *Models) Fail(f ...Failure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = append(m.failures, f...)
}

// Obey lets say replace the demo model's answers to extract, draft, plan and summarize. nil restores the demo model's
// answers.
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

// wire describes a vendor's API: how requests carry the key, and the formats of requests, answers and streams.
type wire struct {
	vendor string
	id     string                              // header of the request id
	key    func(*http.Request) string          // nil if requests are signed with AWS credentials instead
	read   func(body []byte) (spokenTo, error) // returns an error if the vendor would refuse the body
	whole  func(Script) object
	events func(Script) []event
	refuse func(status int) object // returns the body of an error
	listed bool                    // the body is a list of one
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
			return // the client has disconnected
		}
		if wait, refused := m.limited(); refused {
			of.limit(w, wait)
			return
		}
		q, err := of.read(body)
		if err != nil {
			of.fail(w, http.StatusBadRequest, err.Error())
			return
		}
		if !m.obeys(w, of, body) {
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
		// A failure means that the client has disconnected.
		_ = json.NewEncoder(w).Encode(of.whole(Script{Texts: []string{answer}, Model: q.model, used: used}))
	}
}

// generate returns the demo model's answer, or Obey's.
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
		if status == http.StatusUnauthorized { // AWS answers 403 to an invalid signature
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
	if of.listed {
		_ = json.NewEncoder(w).Encode([]object{body}) // a failure means that the client has disconnected
		return
	}
	_ = json.NewEncoder(w).Encode(body) // a failure means that the client has disconnected
}

// purpose tells from the schema of the answer what is to be generated.
func purpose(schema json.RawMessage) string {
	var s struct {
		Properties map[string]any `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // an invalid schema has no properties
	for member, purpose := range map[string]string{"task_type": "extract", "policy": "draft", "steps": "plan",
		"summary": "summarize"} {
		if _, ok := s.Properties[member]; ok {
			return purpose
		}
	}
	return ""
}

func bearer(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

//go:embed sample
var files embed.FS

// SampleFile is the path of the contest's file within the sample.
const SampleFile = "configs/contest.toml"

func Sample() fs.FS {
	sub, err := fs.Sub(files, "sample")
	if err != nil { // the folder is embedded, so it exists
		panic(err)
	}
	return sub
}

// englishName is a name in the sample, and the English one behind it.
var englishName = regexp.MustCompile(`"[^"\n]*" # (.*)`)

// WriteSample writes the sample to a folder, with its names in a language, ja or en.
func WriteSample(folder, language string) error {
	return fs.WalkDir(Sample(), ".", func(path string, d fs.DirEntry, err error) error {
		to := filepath.Join(folder, path)
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(to, 0o755))
		}
		text, err := fs.ReadFile(Sample(), path)
		if language == "en" {
			text = englishName.ReplaceAll(text, []byte(`"$1"`))
		}
		return errors.Join(err, os.WriteFile(to, text, 0o644))
	})
}
