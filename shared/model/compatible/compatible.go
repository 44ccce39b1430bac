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
	"strings"

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

// refusal is what an error says. Its text is only looked through for numbers and known words.
type refusal struct {
	codes []string // which may be in any of three members
	said  string   // the parameter that it names, and the sentence
}

// refusalIn reads the body of an error. The code may be a number (Gemini, OpenRouter), and so may the status (Azure).
func refusalIn(text []byte) (why refusal) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 { // Gemini's
		text = list[0]
	}
	var body struct {
		Error struct {
			Code, Status, Type any
			Param, Message     string
		}
	}
	_ = json.Unmarshal(text, &body) // what can't be read is looked through as a text
	e := body.Error
	why.said = e.Param + " " + cmp.Or(e.Message, string(text))
	for _, code := range []any{e.Code, e.Status, e.Type} {
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

// answer is a whole answer.
type answer struct {
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      said   `json:"message"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
}

type said struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	Reasoning string `json:"reasoning_content"`
	Thinking  string `json:"reasoning"` // OpenRouter's, vLLM's and Ollama's name
	ToolCalls []struct {
		ID       string          `json:"id"`
		Function function        `json:"function"`
		Extra    json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
}

type usage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	TotalTokens         int64 `json:"total_tokens"`
	CacheHits           int64 `json:"prompt_cache_hit_tokens"` // DeepSeek's
	PromptTokensDetails struct {
		CachedTokens     int64 `json:"cached_tokens"`
		CacheWriteTokens int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// use reads the token counts. Those that can't be read are none, because the answer is worth more. Gemini and xAI count
// thoughts, which are charged as output, in the total but not in the completion
// (https://docs.x.ai/docs/key-information/consumption-and-rate-limits: "counted separately from completion_tokens").
func use(u *model.Usage, counts json.RawMessage) {
	var a usage
	if json.Unmarshal(counts, &a) != nil {
		return
	}
	u.Cached = min(cmp.Or(a.PromptTokensDetails.CachedTokens, a.CacheHits), a.PromptTokens)
	u.Input, u.Output = max(0, a.PromptTokens-u.Cached), max(a.CompletionTokens, a.TotalTokens-a.PromptTokens)
	u.Written = min(a.PromptTokensDetails.CacheWriteTokens, u.Input)
}

// read reads an answer.
func (c *Client) read(res *http.Response, r model.Request, out *model.Response) error {
	var a answer
	body, err := model.Read(res)
	if err == nil {
		err = model.Decode(body, &a)
	}
	use(&out.Usage, a.Usage)
	if err == nil && len(a.Choices) == 0 {
		err = &model.UnreadableError{What: "no choices, but " + model.Members(body)}
	}
	if err != nil {
		return c.problem(model.FromTransport(c.provider(), err), out.Usage.RequestID)
	}
	out.Answered = a.Model
	m := a.Choices[0].Message
	out.Text, out.Thought = m.Content, model.Tokens(cmp.Or(m.Reasoning, m.Thinking))
	for i, call := range m.ToolCalls {
		x, made := hung{Extra: call.Extra}, model.Call{ID: call.ID, Name: call.Function.Name,
			Input: json.RawMessage(call.Function.Arguments)}
		if i == 0 {
			x.Reasoning = m.Reasoning
		}
		if x.Extra != nil || x.Reasoning != "" {
			made.Opaque = model.Hang(c.from(), x)
		}
		out.Calls = append(out.Calls, made)
	}
	reason := a.Choices[0].FinishReason
	if m.Refusal != "" {
		reason = "refusal"
	}
	separates := c.config.Provider == aggregate.OpenAI || c.config.Endpoint == aggregate.Gemini ||
		c.config.Endpoint == aggregate.Grok // known to tell thoughts from text
	out.Complete(reason, !separates)
	return nil
}
