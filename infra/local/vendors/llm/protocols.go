package llm

import (
	"encoding/json"
	"net/http"
	"strings"
)

// object is JSON on its way out.
type object map[string]any

// block is a part of a turn.
type block struct {
	Text string `json:"text"`
}

func join(blocks []block) string {
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.Text)
	}
	return all.String()
}

var anthropic = wire{
	vendor: "anthropic",
	key:    func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
	read: func(body []byte) (asked, error) {
		var q struct {
			Model        string `json:"model"`
			OutputConfig struct {
				Format struct {
					Schema json.RawMessage `json:"schema"`
				} `json:"format"`
			} `json:"output_config"`
			Messages []struct {
				Content []block `json:"content"`
			} `json:"messages"`
		}
		err := json.Unmarshal(body, &q)
		a := asked{model: q.Model, schema: q.OutputConfig.Format.Schema}
		for _, m := range q.Messages {
			a.turns = append(a.turns, join(m.Content))
		}
		return a, err
	},
	write: func(model, text string, input, output int) any {
		return object{
			"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []object{{"type": "text", "text": text}},
			"stop_reason": "end_turn", "usage": object{"input_tokens": input, "output_tokens": output},
		}
	},
}

var responses = wire{
	vendor: "openai", key: bearer,
	read: func(body []byte) (asked, error) {
		var q struct {
			Model string `json:"model"`
			Text  struct {
				Format struct {
					Schema json.RawMessage `json:"schema"`
				} `json:"format"`
			} `json:"text"`
			Input []struct {
				Role    string `json:"role"`
				Content string `json:"content"`
			} `json:"input"`
		}
		err := json.Unmarshal(body, &q)
		a := asked{model: q.Model, schema: q.Text.Format.Schema}
		last := "assistant"
		for _, m := range q.Input {
			if m.Role == last {
				a.turns[len(a.turns)-1] += m.Content
				continue
			}
			a.turns, last = append(a.turns, m.Content), m.Role
		}
		return a, err
	},
	write: func(model, text string, input, output int) any {
		return object{
			"id": "resp_1", "object": "response", "model": model, "status": "completed",
			"output": []object{{"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": text, "annotations": []any{}}}}},
			"usage":  object{"input_tokens": input, "output_tokens": output, "total_tokens": input + output},
		}
	},
}

var completions = wire{
	vendor: "compatible", key: bearer,
	read: func(body []byte) (asked, error) {
		var q struct {
			Model          string `json:"model"`
			ResponseFormat struct {
				JSONSchema struct {
					Schema json.RawMessage `json:"schema"`
				} `json:"json_schema"`
			} `json:"response_format"`
			Messages []struct {
				Role    string `json:"role"`
				Content string `json:"content"`
			} `json:"messages"`
		}
		err := json.Unmarshal(body, &q)
		a := asked{model: q.Model, schema: q.ResponseFormat.JSONSchema.Schema}
		for _, m := range q.Messages {
			if m.Role != "system" {
				a.turns = append(a.turns, m.Content)
			}
		}
		return a, err
	},
	write: func(model, text string, input, output int) any {
		return object{
			"id": "chatcmpl-1", "object": "chat.completion", "model": model,
			"choices": []object{{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": text}}},
			"usage":   object{"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output},
		}
	},
}

var converse = wire{
	vendor: "bedrock",
	read: func(body []byte) (asked, error) {
		var q struct {
			OutputConfig struct {
				TextFormat struct {
					Structure struct {
						JSONSchema struct {
							Schema string `json:"schema"`
						} `json:"jsonSchema"`
					} `json:"structure"`
				} `json:"textFormat"`
			} `json:"outputConfig"`
			Messages []struct {
				Content []block `json:"content"`
			} `json:"messages"`
		}
		err := json.Unmarshal(body, &q)
		a := asked{schema: json.RawMessage(q.OutputConfig.TextFormat.Structure.JSONSchema.Schema)}
		for _, m := range q.Messages {
			a.turns = append(a.turns, join(m.Content))
		}
		return a, err
	},
	write: func(_, text string, input, output int) any {
		return object{
			"output": object{"message": object{"role": "assistant", "content": []object{{"text": text}}}}, "stopReason": "end_turn",
			"usage": object{"inputTokens": input, "outputTokens": output, "totalTokens": input + output}, "metrics": object{"latencyMs": 1},
		}
	},
}
