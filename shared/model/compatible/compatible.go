// Package compatible calls models behind an endpoint with OpenAI's Chat Completions: Ollama, vLLM, Azure, Gemini. It
// makes the HTTP calls itself: the protocol is small, and the SDK would double a function's size.
package compatible

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

// Config describes one model behind an endpoint.
type Config struct {
	Endpoint string // its name in the model secret
	BaseURL  string // /chat/completions is appended; no slash at its end
	Model    string
	Key      string // may be empty
	Provider string // the provider's name in usages; empty: compatible.<Endpoint>
	HTTP     *http.Client
}

// Client is a model.Wire.
type Client struct{ config Config }

// New makes a client without calling anything.
func New(c Config) *Client { return &Client{c} }

func (c *Client) provider() string {
	return cmp.Or(c.config.Provider, aggregate.ModelName{Provider: aggregate.Compatible,
		Endpoint: c.config.Endpoint}.Vendor())
}

func (c *Client) problem(e *model.Error, request string) *model.Error {
	e.Provider, e.Model, e.RequestID = c.provider(), c.config.Model, request
	return e
}

// filters are the error codes of content filters.
var filters = []string{"content_filter", "content_policy_violation", "invalid_prompt"}

// details is what a server says of an error. The code may be a number (Gemini, OpenRouter), and so may the status
// (Azure).
type details struct {
	Code    any             `json:"code"`
	Type    any             `json:"type"`
	Status  any             `json:"status"`
	Param   string          `json:"param"`
	Said    string          `json:"message"`
	Details json.RawMessage `json:"details"` // Google's. One of them is a google.rpc.RetryInfo.
}

// refusal is what an error says. Its text is only looked through for numbers and known words.
type refusal struct {
	codes     []string // which may be in any of three members
	parameter string   // the one that the error names
	wait      time.Duration
	said      string
}

func (r refusal) filters() bool {
	return slices.ContainsFunc(r.codes, func(c string) bool { return slices.Contains(filters, c) })
}

func refusalIn(text []byte) refusal {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 { // Gemini's
		text = list[0]
	}
	var body struct{ Error details }
	_ = json.Unmarshal(text, &body) // what can't be read is looked through as a text
	d := body.Error
	why := refusal{parameter: d.Param, said: cmp.Or(d.Said, string(text)), wait: model.WaitIn(d.Said, d.Details)}
	for _, code := range []any{d.Code, d.Status, d.Type} {
		if code != nil {
			why.codes = append(why.codes, fmt.Sprint(code))
		}
	}
	return why
}

// hung is what a server hangs on a call: Gemini a signature, which Gemini 3 wants back on the first call of each
// answer (https://ai.google.dev/gemini-api/docs/thought-signatures); DeepSeek, on an answer with calls, its thoughts
// (https://api-docs.deepseek.com/guides/thinking_mode).
type hung struct {
	Extra     json.RawMessage `json:"extra_content,omitempty"`
	Reasoning string          `json:"reasoning_content,omitempty"`
}

// unsigned is Google's substitute for the signature of a call that Gemini did not make, such as one that another model
// made before.
var unsigned = map[string]any{"google": map[string]string{"thought_signature": "skip_thought_signature_validator"}}

// from names where what hangs on a call comes from.
func (c *Client) from() string { return "completions " + c.provider() + " " + c.config.Model }

// signs reports whether the model wants signatures back.
func (c *Client) signs() bool {
	return c.config.Endpoint == aggregate.Gemini && !strings.HasPrefix(c.config.Model, "gemini-1") &&
		!strings.HasPrefix(c.config.Model, "gemini-2")
}

// calls adds calls to a message, each with what the server hung on it.
func (c *Client) calls(m *message, call *model.Call) {
	made := toolCall{ID: idOf(call.ID), Type: "function", Function: function{call.Name, string(call.Object())}}
	var h hung
	switch {
	case call.Opaque.Read(c.from(), &h):
		m.Reasoning += h.Reasoning
		if h.Extra != nil {
			made.Extra = h.Extra
		}
	case c.signs() && m.ToolCalls == nil:
		made.Extra = unsigned
	}
	m.ToolCalls = append(m.ToolCalls, made)
}

// idOf returns the id that is sent for a call: Mistral takes none but those of nine letters and digits
// (https://github.com/mistralai/mistral-common: InstructRequestValidator).
func idOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base32.HexEncoding.EncodeToString(sum[:])[:9]
}
