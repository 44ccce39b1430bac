package llm

import (
	"cmp"
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
	vendor: "anthropic", id: "Request-Id", speech: speech{readAnthropic, streamAnthropic},
	key: func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
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
			"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []object{{"type": "text", "text": text, "citations": nil}},
			"stop_reason": "end_turn", "stop_sequence": nil, "stop_details": nil, "container": nil, "diagnostics": nil,
			"usage": object{
				"input_tokens": input, "output_tokens": output, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "service_tier": "standard",
				"cache_creation": nil, "inference_geo": nil, "output_tokens_details": nil, "server_tool_use": nil, "speed": nil,
			},
		}
	},
	refuse: func(status int) object {
		kind := map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
			429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
		}[status]
		return object{"type": "error", "error": object{"type": cmp.Or(kind, "api_error"), "message": http.StatusText(status)}, "request_id": requestID}
	},
}

var responses = wire{
	vendor: "openai", id: "X-Request-Id", key: bearer, speech: speech{readResponses, streamResponses},
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
			"id": "resp_1", "object": "response", "created_at": 1_790_000_000, "model": model, "status": "completed", "error": nil, "incomplete_details": nil,
			"output": []object{{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": text, "annotations": []any{}}}}},
			"usage": object{
				"input_tokens": input, "input_tokens_details": object{"cached_tokens": 0, "cache_write_tokens": 0},
				"output_tokens": output, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": input + output,
			},
			"access_programs": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": true, "temperature": 1, "tool_choice": "auto", "tools": []any{}, "top_p": 1,
		}
	},
	refuse: refuseAsOpenAI,
}

var completions = wire{
	vendor: "compatible", id: "X-Request-Id", key: bearer, speech: speech{readCompletions, streamCompletions},
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
			"id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": model, "service_tier": "default", "system_fingerprint": "fp_1",
			"choices": []object{{"index": 0, "finish_reason": "stop", "logprobs": nil, "message": object{"role": "assistant", "content": text, "refusal": nil, "annotations": []any{}}}},
			"usage": object{
				"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output, "prompt_tokens_details": object{"cached_tokens": 0, "audio_tokens": 0},
				"completion_tokens_details": object{"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
			},
		}
	},
	refuse: refuseAsOpenAI,
}

// refuseAsOpenAI is the error of both of OpenAI's wires.
func refuseAsOpenAI(status int) object {
	said := map[int][2]string{ // type and code
		401: {"invalid_request_error", "invalid_api_key"}, 402: {"insufficient_quota", "billing_not_active"}, 404: {"invalid_request_error", "model_not_found"},
		429: {"requests", "rate_limit_exceeded"},
	}[status]
	if said[0] == "" {
		said[0] = "invalid_request_error"
	}
	if status >= 500 {
		said = [2]string{"server_error", "server_error"}
	}
	e := object{"message": http.StatusText(status), "type": said[0], "param": nil, "code": nil}
	if said[1] != "" {
		e["code"] = said[1]
	}
	return object{"error": e}
}

var converse = wire{
	vendor: "bedrock", id: "X-Amzn-Requestid",
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
	// Of Converse's own errors and those that all of AWS gives; the word is in a header.
	refuse: func(status int) object { return object{"message": http.StatusText(status)} },
}

// amazonError is AWS's word for a status, in the header X-Amzn-ErrorType.
func amazonError(status int) string {
	return cmp.Or(map[int]string{
		400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException", 404: "ResourceNotFoundException", 408: "ModelTimeoutException",
		424: "ModelErrorException", 429: "ThrottlingException", 503: "ServiceUnavailableException",
	}[status], "InternalServerException")
}
