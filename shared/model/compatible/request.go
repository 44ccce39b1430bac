package compatible

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/tool/schema"
)

// request is a request to any of these servers. A server knows at least one of the two names of the token limit; it
// may know neither stream_options nor response_format.
type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Tools               []tool         `json:"tools,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	ResponseFormat      *format        `json:"response_format,omitempty"`
	sampling
}

type sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int     `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

func (s sampling) set() bool {
	return s.Temperature != nil || s.TopP != nil || s.Seed != nil || len(s.Stop) > 0
}

// without removes the parameter that a server refused by name, or all of them if the server named none.
func (s sampling) without(unknown string) sampling {
	switch {
	case unknown == "temperature" && s.Temperature != nil:
		s.Temperature = nil
	case unknown == "top_p" && s.TopP != nil:
		s.TopP = nil
	case unknown == "seed" && s.Seed != nil:
		s.Seed = nil
	case unknown == "stop" && s.Stop != nil:
		s.Stop = nil
	default:
		return sampling{}
	}
	return s
}

// ask sets how many tokens are asked for, under the name of the limit that the server knows.
func (q *request) ask(tokens int) {
	if q.MaxCompletionTokens > 0 {
		q.MaxCompletionTokens = tokens
	} else {
		q.MaxTokens = tokens
	}
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role      string     `json:"role"`
	Content   any        `json:"content"` // a text, parts, or null
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"` // DeepSeek's thoughts before calls
	Details   []detail   `json:"reasoning_details,omitempty"` // OpenRouter's
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
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

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

func formOf(schema json.RawMessage) *format {
	f := &format{Type: "json_schema"}
	f.JSONSchema.Name, f.JSONSchema.Strict, f.JSONSchema.Schema = "answer", true, schema
	return f
}

// request translates a request. A single question also has its schema in words, because a server may accept
// response_format and ignore it.
func (c *Client) request(r model.Request) request {
	q := request{
		Model:    c.config.Model,
		sampling: sampling{r.Sampling.Temperature, r.Sampling.TopP, r.Sampling.Seed, r.Sampling.StopSequences},
	}
	system := r.System
	if r.Once {
		system += "\n\n" + model.SchemaPrompt(r.Schema)
	} else {
		q.Stream, q.StreamOptions = true, &streamOptions{IncludeUsage: true}
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
		q.ResponseFormat = formOf(r.Schema)
	}
	for _, t := range model.Takeable(r.Tools, c.vendor()) {
		x := tool{Type: "function"}
		x.Function.Name, x.Function.Description, x.Function.Parameters = t.Name, t.Description, t.Schema
		q.Tools = append(q.Tools, x)
	}
	return q
}

// vendor is for whom schemas are written. A Gemini may stand behind a gateway.
func (c *Client) vendor() string {
	if c.config.Endpoint == aggregate.Gemini || strings.Contains(c.config.Model, "gemini-") {
		return schema.Gemini
	}
	return schema.OpenAI
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
				"image_url": map[string]string{"url": "data:" + part.Image.Type + ";base64," + base64.StdEncoding.EncodeToString(part.Image.Data)}})
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
