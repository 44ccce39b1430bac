package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model/teamconfig"
)

// object is JSON to be sent.
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
	vendor: "anthropic", id: "Request-Id", whole: messageOf, read: readAnthropic,
	key: func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
	refuse: func(status int, said string) object {
		kind := map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
			404: "not_found_error",
			429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
		}[status]
		return object{"type": "error",
			"error": object{"type": cmp.Or(kind, "api_error"), "message": said}, "request_id": requestID}
	},
}

// bedrock is Amazon's InvokeModel, which has the model in the path. The code of an error is in a header.
var bedrock = wire{
	vendor: "bedrock", id: "X-Amzn-Requestid", whole: messageOf, read: readAnthropic,
	refuse: func(status int, said string) object { return object{"message": said} },
}

// amazonError returns AWS's error code for a status, which is sent in the header X-Amzn-ErrorType.
func amazonError(status int) string {
	return cmp.Or(map[int]string{
		400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException",
		404: "ResourceNotFoundException", 408: "ModelTimeoutException",
		424: "ModelErrorException", 429: "ThrottlingException", 503: "ServiceUnavailableException",
	}[status], "InternalServerException")
}

// completions are Chat Completions.
func completions(vendor string) wire {
	return wire{
		vendor: vendor, id: "X-Request-Id", key: bearer, whole: completionOf, read: readCompletions,
		refuse: func(status int, said string) object {
			code := map[int]string{401: "invalid_api_key", 402: "billing_not_active", 404: "model_not_found",
				429: "rate_limit_exceeded"}[status]
			return object{"error": object{"message": said, "type": "invalid_request_error", "param": nil,
				"code": cmp.Or(code, "server_error")}}
		},
	}
}

// messageOf formats an answer for Anthropic's Messages API.
func messageOf(s Script) object {
	content := []object{}
	if s.signature != "" {
		content = append(content, object{"type": "thinking", "thinking": "I think", "signature": s.signature})
	}
	if s.Text != "" {
		content = append(content, object{"type": "text", "text": s.Text, "citations": nil})
	}
	for _, c := range s.Calls {
		input := json.RawMessage(c.Input)
		if !json.Valid(input) { // cut off
			input = json.RawMessage("{}")
		}
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input,
			"caller": object{"type": "direct"}})
	}
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": s.Model, "content": content,
		"stop_reason": stopOf(s, "end_turn", "max_tokens", "refusal", "tool_use"), "stop_sequence": nil,
		"stop_details": nil, "container": nil, "diagnostics": nil, "usage": object{
			"input_tokens": s.used.input, "output_tokens": s.used.output, "cache_creation_input_tokens": s.used.written,
			"cache_read_input_tokens": s.used.read, "service_tier": "standard", "cache_creation": nil, "inference_geo": nil,
			"output_tokens_details": nil, "server_tool_use": nil, "speed": nil,
		},
	}
}

// stopOf selects the vendor's reason for the end of an answer.
func stopOf(s Script, end, length, refused, calls string) string {
	switch {
	case s.Stop == "length":
		return length
	case s.Stop == "refused":
		return refused
	case s.Stop != "":
		return s.Stop
	case len(s.Calls) > 0:
		return calls
	}
	return end
}

// completionOf formats an answer for Chat Completions. Of calls in parallel Gemini signs the first.
func completionOf(s Script) object {
	said := object{"role": "assistant", "content": s.Text, "refusal": nil, "annotations": []any{}}
	var calls []object
	for i, c := range s.Calls {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Input}}
		if s.signature != "" && i == 0 {
			call["extra_content"] = object{"google": object{"thought_signature": s.signature}}
		}
		calls = append(calls, call)
	}
	if calls != nil {
		said["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": s.Model,
		"service_tier": "default", "system_fingerprint": "fp_1", "choices": []object{{"index": 0, "logprobs": nil,
			"finish_reason": stopOf(s, "stop", "length", "content_filter", "tool_calls"), "message": said}},
		"usage": object{
			"prompt_tokens": s.used.prompt(), "completion_tokens": s.used.output,
			"total_tokens": s.used.prompt() + s.used.output,
			"prompt_tokens_details": object{"cached_tokens": s.used.read, "audio_tokens": 0,
				"cache_write_tokens": s.used.written},
			"completion_tokens_details": object{"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0,
				"rejected_prediction_tokens": 0},
		},
	}
}

// vendor has the environment variables that a model needs.
type vendor struct {
	keys       []string // names of the key's variables; the first that is set counts
	base       string   // name of the variable that overrides the usual address
	usual      string
	parameter  string
	keyIsAMust bool
}

func vendorOf(n aggregate.ModelName, env func(string) string) vendor {
	switch n.Provider {
	case aggregate.Compatible:
		prefix := strings.ToUpper(strings.ReplaceAll(n.Endpoint, "-", "_"))
		v := vendor{keys: []string{prefix + "_API_KEY"}, base: prefix + "_BASE_URL",
			usual: teamconfig.EndpointAddress(n.Endpoint)}
		switch n.Endpoint {
		case aggregate.Gemini:
			v.keys, v.keyIsAMust = append(v.keys, "GOOGLE_API_KEY"), true
		case aggregate.Grok:
			v.keys, v.keyIsAMust = append(v.keys, "XAI_API_KEY"), true
		}
		return v
	case aggregate.Anthropic:
		return vendor{[]string{"ANTHROPIC_API_KEY"}, "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "AnthropicBaseUrl",
			true}
	case aggregate.OpenAI:
		return vendor{[]string{"OPENAI_API_KEY"}, "OPENAI_BASE_URL", "https://api.openai.com/v1", "OpenAiBaseUrl", true}
	case aggregate.Bedrock: // the stack has no role, so it needs a key
		region := cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1")
		return vendor{[]string{"AWS_BEARER_TOKEN_BEDROCK"}, "BEDROCK_BASE_URL",
			"https://bedrock-runtime." + region + ".amazonaws.com", "BedrockBaseUrl", true}
	}
	return vendor{keyIsAMust: true}
}

type Access struct {
	Key       string
	Address   string // https://host/v1
	Host      string // host of the address, with its port if it has one
	Dial      string // host:port
	Parameter string // template parameter for the address; empty for a compatible model
}

// Of parses the name of a model and reads what is needed to call it from the environment. If a variable is missing, the
// error names it. The demo model needs no variables.
func ModelOf(name string, env func(string) string) (n aggregate.ModelName, a Access, err error) {
	if n, err = aggregate.ParseModelName(name); err != nil {
		return n, a, fmt.Errorf("%q: %w", name, err)
	}
	if n.Provider == aggregate.Demo {
		return n, a, nil
	}
	v := vendorOf(n, env)
	for _, variable := range v.keys {
		a.Key = cmp.Or(a.Key, env(variable))
	}
	a.Address, a.Parameter = strings.TrimRight(cmp.Or(env(v.base), v.usual), "/"), v.parameter
	if v.keyIsAMust && a.Key == "" {
		return n, a, fmt.Errorf("%s needs %s in the environment; -model demo needs nothing", name,
			strings.Join(v.keys, " or "))
	}
	if a.Address == "" {
		return n, a, fmt.Errorf("%s needs %s in the environment, such as http://127.0.0.1:11434/v1, and %s if it "+
			"wants a key", name, v.base, v.keys[0])
	}
	u, err := url.Parse(a.Address)
	if err != nil || u.Host == "" {
		return n, a, fmt.Errorf("%s: %s must be an address such as https://example.com/v1", name, v.base)
	}
	a.Host, a.Dial = u.Host,
		net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443"))
	return n, a, nil
}
