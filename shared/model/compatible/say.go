package compatible

import (
	"bytes"
	"cmp"
	"context"
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

// Say makes one call. Models of OpenAI's that think know the limit of answers by another name than most servers; a
// server that says so is asked by that name.
func (c *Client) Say(ctx context.Context, r model.Request) (model.Response, error) {
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

func (c *Client) say(ctx context.Context, r model.Request, newer bool) (out model.Response, why refusal, err error) {
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
func (c *Client) open(ctx context.Context, q request) (res *http.Response, why refusal, err error) {
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
func (c *Client) request(r model.Request) request {
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
func (c *Client) messagesOf(m model.Message) (out []message) {
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
