package compatible

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ringi/shared/model"
	"ringi/shared/model/turn"
)

// spoken is a request of a conversation. A server may know only one of the two names of the limit, and may know neither the
// stream's options nor forms of answers.
type spoken struct {
	Model               string         `json:"model"`
	Messages            []turn         `json:"messages"`
	Tools               []tool         `json:"tools,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	ResponseFormat      *format        `json:"response_format,omitempty"`
	sampling
}

// sampling is how the model chooses its words.
type sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int     `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

func (s sampling) set() bool {
	return s.Temperature != nil || s.TopP != nil || s.Seed != nil || len(s.Stop) > 0
}

// without leaves out what a server refused by name, and all of it if it named nothing of it.
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

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type turn struct {
	Role      string     `json:"role"`
	Content   any        `json:"content"` // a text, parts, or null
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
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
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// chunk is a piece of an answer. What is not known in it is left.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int    `json:"index"`
		FinishReason string `json:"finish_reason"`
		Delta        struct {
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			ToolCalls []struct {
				Index    *int     `json:"index"`
				ID       string   `json:"id"`
				Function function `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// Say makes one call of a conversation, and another for each thing that the server says it does not know. It is a chat.Wire.
func (c *Client) Say(ctx context.Context, r chat.Request, onText func(string)) (chat.Response, error) {
	out := chat.Response{Usage: model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}}
	q := c.spoken(r)
	for {
		res, unknown, err := c.open(ctx, q)
		if res != nil {
			out.Usage.RequestID = model.RequestID(res.Header.Get("X-Request-Id"))
		}
		switch {
		case err != nil && unknown == "max_tokens" && q.MaxTokens > 0:
			q.MaxTokens, q.MaxCompletionTokens = 0, r.MaxTokens
			continue
		case err != nil && strings.HasPrefix(unknown, "stream_options") && q.StreamOptions != nil:
			q.StreamOptions = nil
			continue
		case err != nil && q.ResponseFormat != nil && (strings.HasPrefix(unknown, "response_format") || !q.set() && unknown != filtered && refused(res)):
			q.ResponseFormat = nil
			continue
		case err != nil && unknown == filtered:
			out.Stop = model.StopRefused
			return out, nil
		case err != nil && q.set() && refused(res):
			q.sampling = q.without(unknown)
			continue
		case err != nil:
			return out, err
		}
		defer res.Body.Close()
		return c.hear(res.Body, out, onText)
	}
}

// refused reports whether a server did not take a request as it was.
func refused(res *http.Response) bool {
	return res != nil && (res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusUnprocessableEntity)
}

// open sends a request. unknown is the parameter that a refusal names, or filtered; the response beside an error is read.
func (c *Client) open(ctx context.Context, q spoken) (res *http.Response, unknown string, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, "", fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil { // the address is the workspace's; it may hold anything
		return nil, "", c.problem(&model.Error{Kind: model.Misplaced}, "")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if c.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	model.Sent(ctx, body)
	if res, err = c.config.HTTP.Do(req); err != nil {
		return nil, "", c.problem(model.FromTransport(c.provider(), err), "")
	}
	if res.StatusCode == http.StatusOK {
		return res, "", nil
	}
	defer res.Body.Close()
	id := model.RequestID(res.Header.Get("X-Request-Id"))
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res, "", c.problem(model.FromTransport(c.provider(), err), id)
	}
	code, unknown := refusal(text)
	if res.StatusCode == http.StatusBadRequest && code == filtered {
		unknown = filtered
	}
	return res, unknown, c.problem(model.FromStatus(c.provider(), res.StatusCode, res.Header, code), id)
}

// maxEvent is how long a line of a stream may be, in bytes.
const maxEvent = 4 << 20

// hear reads an answer as it comes. It is whole when a reason to stop came: some servers close without [DONE].
func (c *Client) hear(body io.Reader, out chat.Response, onText func(string)) (chat.Response, error) {
	h := hearing{out: &out, onText: onText, at: map[int]int{}}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			break
		}
		var x chunk
		if err := json.Unmarshal(data, &x); err != nil {
			return out, c.problem(model.FromTransport(c.provider(), err), out.Usage.RequestID)
		}
		if len(x.Error) > 0 && string(x.Error) != "null" {
			code, _ := refusal(data)
			return out, c.problem(model.FromStatus(c.provider(), http.StatusInternalServerError, nil, code), out.Usage.RequestID)
		}
		h.hear(x)
	}
	out.Text = h.text.String()
	switch err := lines.Err(); {
	case h.out.Stop != "":
		return out, nil
	case err != nil:
		return out, c.problem(model.FromTransport(c.provider(), err), out.Usage.RequestID)
	}
	return out, c.problem(model.FromTransport(c.provider(), errors.New("no reason to stop")), out.Usage.RequestID)
}

// hearing is an answer as far as it has come.
type hearing struct {
	out    *chat.Response
	onText func(string)
	text   strings.Builder
	at     map[int]int // by the server's index: which call it is
}

func (h *hearing) hear(x chunk) {
	if x.Model != "" {
		h.out.Answered = x.Model
	}
	h.use(x.Usage)
	if len(x.Choices) == 0 || x.Choices[0].Index != 0 {
		return
	}
	said := x.Choices[0]
	if said.Delta.Content != "" {
		h.text.WriteString(said.Delta.Content)
		h.onText(h.text.String())
	}
	for _, t := range said.Delta.ToolCalls {
		index := max(0, len(h.out.Calls)-1) // some servers name no index
		switch {
		case t.Index != nil:
			index = *t.Index
		case t.ID != "":
			index = len(h.out.Calls)
		}
		i, known := h.at[index]
		if !known {
			i = len(h.out.Calls)
			h.at[index] = i
			h.out.Calls = append(h.out.Calls, chat.Call{})
		}
		call := &h.out.Calls[i]
		if call.ID == "" {
			call.ID = t.ID
		}
		if call.Name == "" {
			call.Name = t.Function.Name
		}
		call.Input = append(call.Input, t.Function.Arguments...)
	}
	switch {
	case said.FinishReason == filtered, said.Delta.Refusal != "":
		h.out.Stop = model.StopRefused
	case h.out.Stop == model.StopRefused:
	case said.FinishReason == "length":
		h.out.Stop = model.StopLength
	case said.FinishReason != "":
		h.out.Stop = model.StopEnd
	}
}

// use takes what a server says of tokens; most say so once, behind the last choice.
func (h *hearing) use(raw json.RawMessage) {
	var a answer
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &a.Usage) != nil {
		return
	}
	u := &h.out.Usage
	u.Cached = a.Usage.PromptTokensDetails.CachedTokens
	u.Input, u.Output = max(0, a.Usage.PromptTokens-u.Cached), a.Usage.CompletionTokens
	u.Written = min(a.Usage.PromptTokensDetails.CacheWriteTokens, u.Input)
}

// spoken is a conversation as these servers take it.
func (c *Client) spoken(r chat.Request) spoken {
	q := spoken{Model: c.config.Model, MaxTokens: r.MaxTokens, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true}, sampling: sampling{r.Sampling.Temperature, r.Sampling.TopP, r.Sampling.Seed, r.Sampling.StopSequences}}
	q.Messages = append(q.Messages, turn{Role: "system", Content: r.System})
	for _, t := range r.Said {
		q.Messages = append(q.Messages, turnsOf(t)...)
	}
	if r.Schema != nil {
		q.ResponseFormat = formOf(r.Schema)
	}
	for _, t := range r.Tools {
		x := tool{Type: "function"}
		x.Function.Name, x.Function.Description, x.Function.Parameters = t.Name, t.Description, t.Schema
		q.Tools = append(q.Tools, x)
	}
	return q
}

// turnsOf are the messages of a turn: results of calls are messages of their own.
func turnsOf(t chat.Said) (out []turn) {
	if t.Role == model.Assistant {
		one := turn{Role: "assistant"}
		var text []string
		for _, part := range t.Parts {
			if part.Call != nil {
				one.ToolCalls = append(one.ToolCalls, toolCall{part.Call.ID, "function", function{part.Call.Name, string(part.Call.Object())}})
				continue
			}
			text = append(text, part.Text)
		}
		if text != nil {
			one.Content = strings.Join(text, "\n\n")
		}
		return []turn{one}
	}
	var parts []map[string]any
	images := false
	for _, part := range t.Parts {
		switch {
		case part.Result != nil:
			out = append(out, turn{Role: "tool", CallID: part.Result.CallID, Content: part.Result.Text})
		case part.Image != nil:
			images = true
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]string{"url": "data:" + part.Image.Type + ";base64," + base64.StdEncoding.EncodeToString(part.Image.Data)}})
		default:
			parts = append(parts, map[string]any{"type": "text", "text": part.Text})
		}
	}
	switch {
	case images: // not all read content in parts
		out = append(out, turn{Role: "user", Content: parts})
	case parts != nil:
		var text []string
		for _, p := range parts {
			text = append(text, p["text"].(string))
		}
		out = append(out, turn{Role: "user", Content: strings.Join(text, "\n\n")})
	}
	return out
}
