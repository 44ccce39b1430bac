package provider

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

// CompletionsConfig describes one model behind an endpoint with OpenAI's Chat Completions: Ollama, vLLM, Azure, Gemini.
type CompletionsConfig struct {
	Endpoint string // its name in the model secret
	BaseURL  string // /chat/completions is appended; no slash at its end
	Model    string
	Key      string // may be empty
	Provider string // the provider's name in usages; empty: compatible.<Endpoint>
	HTTP     *http.Client
}

// Completions is a model.Wire. It makes the HTTP calls itself: the protocol is small, and the SDK would double a
// function's size.
type Completions struct{ config CompletionsConfig }

// NewCompletions makes a client without calling anything.
func NewCompletions(c CompletionsConfig) *Completions { return &Completions{c} }

func (c *Completions) provider() string {
	return cmp.Or(c.config.Provider, aggregate.ModelName{Provider: aggregate.Compatible,
		Endpoint: c.config.Endpoint}.Vendor())
}

func (c *Completions) problem(e *model.Error, request string) *model.Error {
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
func (c *Completions) from() string { return "completions " + c.provider() + " " + c.config.Model }

// signs reports whether the model wants signatures back.
func (c *Completions) signs() bool {
	return c.config.Endpoint == aggregate.Gemini && !strings.HasPrefix(c.config.Model, "gemini-1") &&
		!strings.HasPrefix(c.config.Model, "gemini-2")
}

// calls adds calls to a message, each with what the server hung on it.
func (c *Completions) calls(m *message, call *model.Call) {
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
func (c *Completions) read(res *http.Response, r model.Request, out *model.Response) error {
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

// Say makes one call. Models of OpenAI's that think know the limit of answers by another name than most servers; a
// server that says so is asked by that name.
func (c *Completions) Say(ctx context.Context, r model.Request) (model.Response, error) {
	newer := c.config.Provider == aggregate.OpenAI
	return model.Simpler(r, func(r model.Request) (model.Response, error) {
		for {
			out, why, err := c.say(ctx, r, newer)
			if err == nil || newer || !strings.Contains(why.said, "'max_completion_tokens' instead") {
				return out, err
			}
			newer = true
		}
	})
}

func (c *Completions) say(ctx context.Context, r model.Request, newer bool) (out model.Response, why refusal,
	err error) {
	out.Usage = model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}
	q := c.request(r)
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	if q.MaxTokens = out.Tokens; newer {
		q.MaxTokens, q.MaxCompletionTokens = 0, out.Tokens
	}
	res, why, err := c.open(ctx, q)
	if res != nil {
		out.Usage.RequestID = model.RequestID(res.Header.Get("X-Request-Id"))
	}
	switch {
	case err == nil:
		defer res.Body.Close()
		return out, why, c.read(res, r, &out)
	case res != nil && slices.ContainsFunc(why.codes, func(c string) bool { return slices.Contains(filters, c) }) &&
		res.StatusCode >= 400 && res.StatusCode < 500 &&
		res.StatusCode != http.StatusTooManyRequests:
		out.Stop, err = model.StopRefused, nil
	}
	return out, why, err
}

// open sends a request. With an error, the response has no body, and why says what the server refused.
func (c *Completions) open(ctx context.Context, q request) (res *http.Response, why refusal, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, why, fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.BaseURL+"/chat/completions",
		bytes.NewReader(body))
	if err != nil { // the administrator's address may be malformed
		return nil, why, c.problem(&model.Error{Kind: model.Misplaced}, "")
	}
	req.Header.Set("Content-Type", "application/json")
	if c.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	model.Sent(ctx, body)
	if res, err = c.config.HTTP.Do(req); err != nil {
		return nil, why, c.problem(model.FromTransport(c.provider(), err), "")
	}
	if res.StatusCode == http.StatusOK {
		return res, why, nil
	}
	defer res.Body.Close()
	id := model.RequestID(res.Header.Get("X-Request-Id"))
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res, why, c.problem(model.FromTransport(c.provider(), err), id)
	}
	if bytes.Contains(text, []byte(keyInvalid)) {
		res.StatusCode = http.StatusUnauthorized
	}
	why = refusalIn(text)
	e := model.FromStatus(c.provider(), res.StatusCode, res.Header, why.said, why.codes...)
	if e.Retryable {
		e.RetryAfter = cmp.Or(e.RetryAfter, model.WaitIn(string(text)))
	}
	return res, why, c.problem(e, id)
}

// keyInvalid is Google's reason for refusing a key. Its status is 400.
const keyInvalid = "API_KEY_INVALID"

// request is a request to any of these servers. A server knows at least one of the two names of the token limit; it
// may not know response_format.
type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Tools               []any     `json:"tools,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	ResponseFormat      any       `json:"response_format,omitempty"`
	sampling
}

type sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int     `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

type message struct {
	Role      string     `json:"role"`
	Content   any        `json:"content"` // a text, parts, or null
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"` // DeepSeek's thoughts before calls
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
	Extra    any      `json:"extra_content,omitempty"` // Gemini's
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// request translates a request. A single question also has its schema in words, because a server may accept
// response_format and ignore it.
func (c *Completions) request(r model.Request) request {
	q := request{
		Model:    c.config.Model,
		sampling: sampling{r.Sampling.Temperature, r.Sampling.TopP, r.Sampling.Seed, r.Sampling.StopSequences},
	}
	system := r.System
	if r.Once && r.Schema != nil {
		system += "\n\n" + model.SchemaPrompt(r.Schema)
	}
	q.Messages = append(q.Messages, message{Role: "system", Content: system})
	for i, m := range r.Messages {
		if i == 0 && r.Standing != "" { // some servers refuse two messages of one role in a row
			m.Parts = append([]model.Part{{Text: r.Standing + "\n" + m.Parts[0].Text}}, m.Parts[1:]...)
		}
		for _, one := range c.messagesOf(m) {
			if n := len(q.Messages); one.Role == "user" && q.Messages[n-1].Role == "tool" { // Mistral refuses that
				q.Messages = append(q.Messages, message{Role: "assistant", Content: "…"})
			}
			q.Messages = append(q.Messages, one)
		}
	}
	if r.Schema != nil {
		q.ResponseFormat = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": "answer", "strict": true, "schema": r.Schema}}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, map[string]any{"type": "function",
			"function": map[string]any{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	return q
}

// messagesOf translates a message. Each result of a call becomes a message of its own.
func (c *Completions) messagesOf(m model.Message) (out []message) {
	if m.Role == model.Assistant {
		one := message{Role: "assistant"}
		var text []string
		for _, part := range m.Parts {
			if part.Call != nil {
				c.calls(&one, part.Call)
				continue
			}
			text = append(text, part.Text)
		}
		if text != nil {
			one.Content = strings.Join(text, "\n\n")
		}
		return []message{one}
	}
	var parts []map[string]any
	images := false
	for _, part := range m.Parts {
		switch {
		case part.Result != nil:
			out = append(out, message{Role: "tool", CallID: idOf(part.Result.CallID), Content: part.Result.Text})
		case part.Image != nil:
			images = true
			parts = append(parts, map[string]any{"type": "image_url",
				"image_url": map[string]string{"url": "data:" + part.Image.Type + ";base64," +
					base64.StdEncoding.EncodeToString(part.Image.Data)}})
		default:
			parts = append(parts, map[string]any{"type": "text", "text": part.Text})
		}
	}
	switch {
	case images: // only for images, since some servers don't read content in parts
		out = append(out, message{Role: "user", Content: parts})
	case parts != nil:
		var text []string
		for _, p := range parts {
			text = append(text, p["text"].(string))
		}
		out = append(out, message{Role: "user", Content: strings.Join(text, "\n\n")})
	}
	return out
}
