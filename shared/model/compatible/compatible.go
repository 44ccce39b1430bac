// Package compatible calls models behind an endpoint with OpenAI's Chat Completions: Ollama, vLLM, Azure, Gemini. It
// makes the HTTP calls itself: the protocol is small, and the SDK would double a function's size.
package compatible

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
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

// filtered is the error code and the finish reason of a content filter.
const filtered = "content_filter"

// reason is a reason to stop in the protocol's words. Some gateways say end, or have a dash in it, as the words of the
// AI SDK do (vercel/ai: tool-calls, content-filter).
func (s scalar) reason() string {
	if s == "end" {
		return "stop"
	}
	return strings.ReplaceAll(string(s), "-", "_")
}

// filters are the error codes of content filters: Azure's and Moonshot's, OpenAI's, DashScope's, Zhipu's.
var filters = []string{filtered, "content_policy_violation", "invalid_prompt", "data_inspection_failed",
	"datainspectionfailed", "1301"}

// flagging are parts of the sentences of filters that have the code of a key without permission: OpenRouter's, xAI's.
var flagging = []string{"input was flagged", "content violates usage guidelines"}

func (r refusal) filters() bool {
	said := strings.ToLower(r.said)
	return r.flagged ||
		slices.ContainsFunc(flagging, func(s string) bool { return strings.Contains(said, s) }) ||
		slices.ContainsFunc(r.codes, func(c string) bool { return slices.Contains(filters, strings.ToLower(c)) })
}

// judged returns the code with which the server refused the model's answer, as Groq does where a call or JSON doesn't
// fit (https://console.groq.com/docs/tool-use: tool_use_failed); empty: it refused something else.
func (r refusal) judged() string {
	for _, code := range r.codes {
		if code == "tool_use_failed" || code == "json_validate_failed" {
			return code
		}
	}
	return ""
}

// details is what a server says of an error: in the member error, or in its place. The code may be a number (Gemini,
// OpenRouter), and so may the status (Azure).
type details struct {
	Code   scalar `json:"code"`
	Type   scalar `json:"type"`
	Status scalar `json:"status"`
	Param  scalar `json:"param"`
	Said   words  `json:"message"`
	Detail words  `json:"detail"` // FastAPI's
	// Details are Google's. One of them is a google.rpc.RetryInfo.
	Details  json.RawMessage `json:"details"`
	Metadata json.RawMessage `json:"metadata"` // OpenRouter's
}

// base is how MiniMax ends every answer, also one of status 200 that has nothing else.
type base struct {
	Code scalar `json:"status_code"`
	Said words  `json:"status_msg"`
}

func (b base) failed() bool { return b.Code != "" && b.Code != "0" }

// code returns an error code of the others for MiniMax's, if there is one
// (https://platform.minimax.io/docs/api-reference/errorcode).
func (b base) code() scalar {
	const internal, often, key, unpaid = "internal_error", "rate_limit", "invalid_api_key", "insufficient_quota"
	return cmp.Or(map[scalar]scalar{
		"1000": internal, "1024": internal, "1033": internal, "1001": "timeout",
		"1002": often, "1039": often, "1041": often, "2045": often, "1004": key, "2049": key,
		"1008": unpaid, "2056": unpaid, "1026": filtered, "1027": filtered,
	}[b.Code], b.Code)
}

// refusal is what an error says. Its text is only looked through for numbers and known words.
type refusal struct {
	codes     []string // which may be in any of three members
	parameter string   // the one that the error names
	wait      time.Duration
	flagged   bool // it says what a filter found in the request
	said      string
}

// errorIn returns the error in a body; nil: none. It stands at the top, or where an answer breaks off, beside any
// reason to stop, in the choice (https://openrouter.ai/docs/api-reference/overview: NonStreamingChoice) or within.
func errorIn(body []byte) json.RawMessage {
	type failing struct {
		Error json.RawMessage `json:"error"`
	}
	var x struct {
		failing
		Choices []struct {
			failing
			Delta   failing `json:"delta"`
			Message failing `json:"message"`
		} `json:"choices"`
		Groq failing `json:"x_groq"` // beside any reason to stop, too
	}
	_ = json.Unmarshal(body, &x) // what is no object has no such member
	all := []failing{x.failing, x.Groq}
	for _, c := range x.Choices {
		all = append(all, c.failing, c.Delta, c.Message)
	}
	for _, f := range all {
		if len(f.Error) > 0 && model.Says(f.Error) {
			return f.Error
		}
	}
	return nil
}

func refusalIn(text []byte) refusal {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 { // Gemini's
		text = list[0]
	}
	var body struct {
		Base base `json:"base_resp"`
	}
	_ = json.Unmarshal(text, &body) // what is no object has no such member
	inner := text
	if said := errorIn(text); said != nil {
		inner = said
	}
	var d details
	if json.Unmarshal(inner, &d) != nil {
		d = details{}
		_ = json.Unmarshal(inner, &d.Said.said) // else it is no text either
	}
	if body.Base.failed() {
		d.Code, d.Said = body.Base.code(), body.Base.Said
	}
	why := refusal{parameter: string(d.Param), said: cmp.Or(d.Said.said, d.Detail.said, string(text))}
	for _, code := range []scalar{d.Code, d.Status, d.Type} {
		if code != "" {
			why.codes = append(why.codes, string(code))
		}
	}
	var found struct {
		Input *string `json:"flagged_input"`
	}
	_ = json.Unmarshal(d.Metadata, &found) // others have none
	why.flagged = found.Input != nil
	why.wait = model.WaitIn(why.said, d.Details)
	return why
}

// hung is what a server hangs on a call: Gemini a signature, which Gemini 3 wants back on the first call of each
// answer (https://ai.google.dev/gemini-api/docs/thought-signatures); DeepSeek, on an answer with calls, its thoughts
// (https://api-docs.deepseek.com/guides/thinking_mode).
type hung struct {
	ID        string          `json:"id,omitempty"` // as the server named the call
	Extra     json.RawMessage `json:"extra_content,omitempty"`
	Reasoning string          `json:"reasoning_content,omitempty"`
	Details   []detail        `json:"reasoning_details,omitempty"`
}

// detail is a block of an answer's thoughts, signed or sealed, which OpenRouter wants back with the answer's calls,
// whole and in their order (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens).
type detail map[string]any

// opaque are the details in a piece of an answer. Anything else than objects is not theirs.
type opaque []detail

func (o *opaque) UnmarshalJSON(b []byte) error {
	var list []detail
	if json.Unmarshal(b, &list) == nil {
		*o = slices.DeleteFunc(list, func(d detail) bool { return d == nil })
	}
	return nil
}

// detail adds details. Pieces of one have one index, and one type.
func (h *hearing) detail(pieces []detail) {
	for _, d := range pieces {
		n := len(h.details) - 1
		if d["index"] == nil || n < 0 || h.details[n]["index"] != d["index"] || h.details[n]["type"] != d["type"] {
			h.details = append(h.details, d)
			continue
		}
		for name, value := range d {
			was, begun := h.details[n][name].(string)
			more, text := value.(string)
			switch {
			case slices.Contains([]string{"text", "summary", "data", "signature"}, name) && begun && text:
				h.details[n][name] = was + more
			case value != nil:
				h.details[n][name] = value
			}
		}
	}
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
		for _, d := range h.Details {
			if d["id"] == h.ID && h.ID != "" { // Gemini's signature of this call
				d["id"] = made.ID
			}
			m.Details = append(m.Details, d)
		}
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

// hang hangs on the calls what the server sent with them.
func (h *hearing) hang(from string) {
	for i := range h.out.Calls {
		x := h.hung[i]
		x.ID = h.out.Calls[i].ID
		for _, d := range h.details {
			// one that names another call goes with that
			of := slices.IndexFunc(h.out.Calls, func(c model.Call) bool { return c.ID != "" && c.ID == d["id"] })
			if max(0, of) == i {
				x.Details = append(x.Details, d)
			}
		}
		if i == 0 {
			x.Reasoning = h.reasoning.String()
		}
		if x.Extra != nil || x.Reasoning != "" || x.Details != nil {
			h.out.Calls[i].Opaque = model.Hang(from, x)
		}
	}
}
