package compatible

import (
	"cmp"
	"encoding/json"
	"net/http"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

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
	h := model.Hear(out, r, c.from(), c.vendor())
	h.Tags = !c.separates()
	m := a.Choices[0].Message
	h.Thinks(cmp.Or(m.Reasoning, m.Thinking))
	h.Say(m.Content)
	for i, call := range m.ToolCalls {
		h.Call(call.ID, call.Function.Name, call.Function.Arguments)
		x := hung{Extra: call.Extra}
		if i == 0 {
			x.Reasoning = m.Reasoning
		}
		if x.Extra != nil || x.Reasoning != "" {
			out.Calls[i].Opaque = model.Hang(c.from(), x)
		}
	}
	h.Stops(a.Choices[0].FinishReason)
	if m.Refusal != "" {
		h.Stops("refusal")
	}
	h.End()
	return nil
}

// separates reports whether an endpoint's server is known to tell thoughts from text.
func (c *Client) separates() bool {
	return c.config.Provider == aggregate.OpenAI || c.config.Endpoint == aggregate.Gemini ||
		c.config.Endpoint == aggregate.Grok
}
