// Package models stands in for the vendors of models. It speaks the protocol of each, and answers as the demo model
// does or as a test's script says. Server stands in for Claude Managed Agents: its agent makes the tool calls that the
// message names, one after the other. Sample has files of contests: teams, a contest's file and an evaluator.
package models

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"ringi/shared/model"
	"ringi/shared/model/demo"
)

// Models stands in for all vendors, which accept the same key.
type Models struct {
	Key string

	mu       sync.Mutex
	calls    map[string]int
	failures []int // statuses
	scripts  []Script
	asked    []string // bodies of the conversations' requests
	rules    Rules
	signed   int // how many answers were
}

// Rules are what else the stand-in does.
type Rules struct {
	// Signed says that a signature hangs on the first call of each answer. The client sends it back.
	Signed bool
	// Thinks is how many tokens thoughts take. An answer with fewer ends within them.
	Thinks int
	// Answer makes the answers of conversations. It is called by several requests at once.
	Answer func(said []model.Message, tools []string) Script
}

// Strictly sets the rules of all later requests.
func (m *Models) Strictly(r Rules) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules = r
}

// Script is an answer in a conversation.
type Script struct {
	Text  string
	Calls []ScriptedCall
	Stop  string // length, refused, or a vendor's own word; "" means the usual reason
	Cut   bool   // the connection breaks within it
	Model string

	used      tokens
	signature string // empty: none
}

// tokens is the usage that an answer reports. input counts tokens that were neither read from the cache nor written to
// it.
type tokens struct{ input, read, written, output int }

func (t tokens) prompt() int { return t.input + t.read + t.written }

// ScriptedCall is a tool call. Its input is JSON.
type ScriptedCall struct{ ID, Name, Input string }

// Scripted sets the answers to the next requests of conversations, one for each. Later requests get the demo's answers.
func (m *Models) Scripted(s ...Script) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts = append(m.scripts, s...)
}

// Asked returns the bodies of the conversations' requests so far.
func (m *Models) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

// script returns the answer to a request of a conversation.
func (m *Models) script(q *spokenTo, body []byte) Script {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, string(body))
	if q.tokens > 0 && q.tokens < m.rules.Thinks {
		return Script{Stop: "length"}
	}
	s, ok := takeFirst(&m.scripts)
	switch {
	case ok:
	case m.rules.Answer != nil:
		s = m.rules.Answer(q.said, q.tools)
	default:
		s = q.demo()
	}
	if len(s.Calls) > 0 && m.rules.Signed {
		s.signature = fmt.Sprintf("sig+%d/==", m.signed)
		m.signed++
	}
	return s
}

func NewModels() *Models {
	return &Models{Key: "model-" + rand.Text(), calls: map[string]int{}}
}

// Handler serves Anthropic at /anthropic, its models on Bedrock at the root, and Chat Completions: OpenAI's at
// /openai/v1, Gemini's at /gemini and others at /compatible/v1.
func (m *Models) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /anthropic/v1/messages", m.serve(anthropic))
	mux.HandleFunc("POST /model/{model}/invoke", m.serve(bedrock))
	mux.HandleFunc("POST /openai/v1/chat/completions", m.serve(completions("openai")))
	mux.HandleFunc("POST /compatible/v1/chat/completions", m.serve(completions("compatible")))
	mux.HandleFunc("POST /gemini/chat/completions", m.serve(completions("gemini")))
	return mux
}

// Calls counts the requests that a vendor accepted. vendor is anthropic, bedrock, openai, gemini or
// compatible.
func (m *Models) Calls(vendor string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[vendor]
}

// Fail makes the next calls fail, each with one of these statuses.
func (m *Models) Fail(statuses ...int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures = append(m.failures, statuses...)
}

func (m *Models) next() (status int, fails bool) {
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

// wire describes a vendor's API: how requests carry the key, and the formats of requests and answers.
type wire struct {
	vendor string
	id     string                               // header of the request id
	key    func(*http.Request) string           // nil if requests are signed with AWS credentials instead
	read   func(body []byte) (*spokenTo, error) // returns an error if the vendor would refuse the body
	whole  func(Script) object
	refuse func(status int, said string) object // returns the body of an error
}

const requestID = "req_1"

func (m *Models) serve(of wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(of.id, requestID)
		if status, fails := m.next(); fails {
			of.fail(w, status, "")
			return
		}
		if of.key == nil && !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") ||
			of.key != nil && of.key(r) != m.Key {
			of.fail(w, http.StatusUnauthorized, "")
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
		if err != nil {
			return // the client has disconnected
		}
		q, err := of.read(body)
		if err != nil {
			of.fail(w, http.StatusBadRequest, err.Error())
			return
		}
		m.mu.Lock()
		m.calls[of.vendor]++
		m.mu.Unlock()
		var script Script
		if purpose := purpose(q.schema); purpose == "" {
			script = m.script(q, body)
			script.used = tokens{100, 300, 20, 30}
		} else {
			answer, err := generate(purpose, q)
			if err != nil {
				of.fail(w, http.StatusBadRequest, err.Error())
				return
			}
			script = Script{Text: answer, used: tokens{input: len(body) / 4, output: len(answer) / 4}}
		}
		script.Model = cmp.Or(script.Model, q.model)
		answer, _ := json.Marshal(of.whole(script)) // marshaling texts and numbers can't fail
		if script.Cut {
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			answer = answer[:len(answer)/2]
		}
		_, _ = w.Write(answer) // a failure means that the client has disconnected
	}
}

// generate returns the demo model's answer.
func generate(purpose string, q *spokenTo) (string, error) {
	got, err := demo.Layers{}.Say(context.Background(), model.Request{Purpose: model.Purpose(purpose), Try: 2,
		Messages: []model.Message{model.Words(model.User, text(q.said[0]))}})
	return got.Text, err
}

func (of wire) fail(w http.ResponseWriter, status int, said string) {
	if of.key == nil {
		w.Header().Set("X-Amzn-ErrorType", amazonError(status))
		if status == http.StatusUnauthorized { // AWS answers 403 to an invalid signature
			status = http.StatusForbidden
		}
	}
	w.WriteHeader(status)
	// a failure means that the client has disconnected
	_ = json.NewEncoder(w).Encode(of.refuse(status, cmp.Or(said, http.StatusText(status))))
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
	sub, _ := fs.Sub(files, "sample") // a valid path
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
