package compatible

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ringi/shared/model"
	"ringi/shared/words/lazy"
)

// chunk is a part of a streamed answer, or a whole answer.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int    `json:"index"`
		FinishReason string `json:"finish_reason"`
		Delta        said   `json:"delta"`
		Message      said   `json:"message"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type said struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Index    *int            `json:"index"`
		ID       string          `json:"id"`
		Function function        `json:"function"`
		Extra    json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
}

type usage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	TotalTokens         int64 `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens     int64 `json:"cached_tokens"`
		CacheWriteTokens int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// Say makes one call. When the server refuses a parameter that it does not know, Say calls again without it.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}}
	q := c.request(r)
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	q.ask(out.Tokens)
	for {
		res, refusal, err := c.open(ctx, q)
		unknown := refusal.parameter
		if res != nil {
			out.Usage.RequestID = model.RequestID(res.Header.Get("X-Request-Id"))
		}
		switch {
		case err != nil && refused(res) && fewer(refusal, r, &out):
			q.ask(out.Tokens)
			continue
		case err != nil && unknown == "max_tokens" && q.MaxTokens > 0:
			q.MaxTokens, q.MaxCompletionTokens = 0, out.Tokens
			continue
		case err != nil && strings.HasPrefix(unknown, "stream_options") && q.StreamOptions != nil:
			q.StreamOptions = nil
			continue
		case err != nil && q.ResponseFormat != nil &&
			(strings.HasPrefix(unknown, "response_format") || !r.Once && !q.set() && unknown != filtered && refused(res)):
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
		if r.Once {
			return c.whole(res.Body, out)
		}
		return c.hear(res.Body, out, onText)
	}
}

// whole reads an answer that was not streamed.
func (c *Client) whole(body io.Reader, out model.Response) (model.Response, error) {
	var x chunk
	text, err := io.ReadAll(body)
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err == nil && len(x.Choices) == 0 {
		err = errors.New("no choices")
	}
	if err != nil {
		return out, c.problem(model.FromTransport(c.provider(), err), out.Usage.RequestID)
	}
	x.Choices[0].Delta, x.Choices[0].FinishReason = x.Choices[0].Message, cmp.Or(x.Choices[0].FinishReason, "stop")
	h := hearing{out: &out, onText: func(string) {}, at: map[int]int{}}
	h.hear(x)
	out.Text = h.text.String()
	return out, nil
}

// fewer lowers the tokens to the limit that a refusal names, or takes the room for thoughts away where a server refuses
// the length of the request and its answer without such a number.
func fewer(why refusal, r model.Request, out *model.Response) bool {
	otherwise := 0
	if model.LengthRefused(why.said) && withAnswer.Get().MatchString(why.said) {
		otherwise = r.MaxTokens
	}
	return out.Lower(why.said, otherwise)
}

// withAnswer finds a refusal of the length of a request together with its answer, such as vLLM's.
var withAnswer = lazy.Regexp{Text: `(?i)you requested|completion|max_tokens`}

// refused reports whether the server rejected the request itself.
func refused(res *http.Response) bool {
	return res != nil && (res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusUnprocessableEntity)
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
	if q.Stream {
		req.Header.Set("Accept", "text/event-stream")
	}
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
	if res.StatusCode == http.StatusBadRequest && why.code == filtered {
		why.parameter = filtered
	}
	if refused(res) && model.LengthRefused(why.said) {
		why.code, why.parameter = model.CodeTooLong, ""
	}
	e := model.FromStatus(c.provider(), res.StatusCode, res.Header, why.code)
	if e.Retryable {
		e.RetryAfter = cmp.Or(e.RetryAfter, why.wait)
	}
	return res, why, c.problem(e, id)
}

// keyInvalid is Google's reason for refusing a key. Its status is 400.
const keyInvalid = "API_KEY_INVALID"

// maxEvent bounds a line of a stream, in bytes.
const maxEvent = 4 << 20

// hear reads a streamed answer. A finish reason makes it complete, because some servers close without [DONE].
func (c *Client) hear(body io.Reader, out model.Response, onText func(string)) (model.Response, error) {
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
			return out, c.broken(refusalIn(data), out.Usage.RequestID)
		}
		h.hear(x)
	}
	out.Text = h.text.String()
	h.hang(c.from())
	switch err := lines.Err(); {
	case h.out.Stop != "":
		return out, nil
	case err != nil:
		return out, c.problem(model.FromTransport(c.provider(), err), out.Usage.RequestID)
	}
	return out, c.problem(model.FromTransport(c.provider(), errors.New("no reason to stop")), out.Usage.RequestID)
}

type hearing struct {
	out    *model.Response
	onText func(string)
	text   strings.Builder
	at     map[int]int // the server's index -> index of the call
	hung   map[int]hung
	// reasoning are the thoughts of the answer.
	reasoning strings.Builder
}

// hang hangs on the calls what the server sent with them.
func (h *hearing) hang(from string) {
	for i := range h.out.Calls {
		x := h.hung[i]
		if i == 0 {
			x.Reasoning = h.reasoning.String()
		}
		if x.Extra != nil || x.Reasoning != "" {
			h.out.Calls[i].Opaque = model.Hang(from, x)
		}
	}
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
	h.reasoning.WriteString(said.Delta.Reasoning)
	for _, t := range said.Delta.ToolCalls {
		index := max(0, len(h.out.Calls)-1) // some servers name no index
		switch {
		case t.Index != nil:
			index = *t.Index
		case t.ID != "":
			index = len(h.out.Calls)
		}
		i, known := h.at[index]
		if known && t.ID != "" && h.out.Calls[i].ID != "" && t.ID != h.out.Calls[i].ID { // Gemini numbers each call 0
			known = false
		}
		if !known {
			i = len(h.out.Calls)
			h.at[index] = i
			h.out.Calls = append(h.out.Calls, model.Call{})
		}
		call := &h.out.Calls[i]
		if call.ID == "" {
			call.ID = t.ID
		}
		if call.Name == "" {
			call.Name = t.Function.Name
		}
		call.Input = append(call.Input, t.Function.Arguments...)
		if len(t.Extra) > 0 && string(t.Extra) != "null" {
			if h.hung == nil {
				h.hung = map[int]hung{}
			}
			h.hung[i] = hung{Extra: t.Extra}
		}
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

// use reads the token counts, which most servers send once, after the last choice. Gemini and xAI count thoughts, which
// are charged as output, in the total but not in the completion (https://docs.x.ai/docs/key-information/
// consumption-and-rate-limits: "counted separately from completion_tokens").
func (h *hearing) use(raw json.RawMessage) {
	var a usage
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &a) != nil {
		return
	}
	u := &h.out.Usage
	u.Cached = a.PromptTokensDetails.CachedTokens
	u.Input, u.Output = max(0, a.PromptTokens-u.Cached), max(a.CompletionTokens, a.TotalTokens-a.PromptTokens)
	u.Written = min(a.PromptTokensDetails.CacheWriteTokens, u.Input)
}
