package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/model/demo"
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

// spokenTo is a request in a form that all vendors share.
type spokenTo struct {
	model  string
	said   []model.Message
	tools  []string
	schema json.RawMessage // for the answer
	tokens int             // the most that the answer may have
}

func text(said ...model.Message) string {
	var all strings.Builder
	for _, m := range said {
		for _, p := range m.Parts {
			all.WriteString(p.Text)
			if p.Result != nil {
				all.WriteString(p.Result.Text)
			}
		}
	}
	return all.String()
}

// demo answers as the demo agent does.
func (q *spokenTo) demo() Script {
	r := model.Request{Messages: q.said}
	for _, name := range q.tools {
		r.Tools = append(r.Tools, model.Tool{Name: name})
	}
	got, err := demo.Agent{}.Say(context.Background(), r)
	if err != nil {
		return Script{Text: err.Error()}
	}
	s := Script{Text: got.Text}
	for _, c := range got.Calls {
		s.Calls = append(s.Calls, ScriptedCall{ID: c.ID, Name: c.Name, Input: string(c.Input)})
	}
	return s
}

// toolName is what all vendors accept as a tool's name, in definitions and in what was said before:
//   - https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
//   - https://developers.openai.com/api/reference (FunctionObject.name)
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// add adds parts to what was said, as one turn with those of the same speaker before.
func (q *spokenTo) add(role model.Role, parts ...model.Part) {
	if n := len(q.said); n > 0 && q.said[n-1].Role == role {
		q.said[n-1].Parts = append(q.said[n-1].Parts, parts...)
		return
	}
	q.said = append(q.said, model.Message{Role: role, Parts: parts})
}

// refused says why every vendor refuses a conversation: each tool has a name of its own, each call its result at the
// beginning of the next turn, no text is empty, and the user begins and ends.
func (q *spokenTo) refused() error {
	for i, name := range q.tools {
		if !toolName.MatchString(name) || slices.Contains(q.tools[:i], name) {
			return fmt.Errorf("tools.%d.name: %q is no name, or another's", i, name)
		}
	}
	if n := len(q.said); n == 0 || q.said[0].Role != model.User || q.said[n-1].Role != model.User {
		return errors.New("the user must begin and end a conversation")
	}
	seen, open := map[string]bool{}, map[string]bool{}
	for i, m := range q.said {
		spoke := false
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				if id := p.Call.ID; !toolName.MatchString(p.Call.Name) || id == "" || seen[id] || len(q.tools) == 0 ||
					!strings.HasPrefix(string(p.Call.Input), "{") {
					return fmt.Errorf("messages.%d: no vendor takes a call %q of %q", i, id, p.Call.Name)
				}
				seen[p.Call.ID], open[p.Call.ID] = true, true
			case p.Result != nil:
				if spoke || m.Role != model.User || !open[p.Result.CallID] {
					return fmt.Errorf("messages.%d: a result of %q, which nobody waits for here", i, p.Result.CallID)
				}
				delete(open, p.Result.CallID)
			case p.Image == nil && strings.TrimSpace(p.Text) == "":
				return fmt.Errorf("messages.%d: a text is empty", i)
			}
			spoke = spoke || p.Result == nil
		}
		if m.Role == model.User && len(open) > 0 {
			return fmt.Errorf("messages.%d: calls have no result: %v", i, open)
		}
	}
	return nil
}

// readAnthropic reads a request of the Messages API. On Bedrock the path has the model.
func readAnthropic(body []byte) (*spokenTo, error) {
	var q struct {
		Model        string
		MaxTokens    int `json:"max_tokens"`
		Tools        []struct{ Name string }
		OutputConfig struct {
			Format struct{ Schema json.RawMessage }
		} `json:"output_config"`
		Messages []struct {
			Role    model.Role
			Content []struct {
				Type, Text, ID, Name string
				ToolUseID            string `json:"tool_use_id"`
				Input                json.RawMessage
				Content              []block
			}
		}
	}
	if err := json.Unmarshal(body, &q); err != nil || q.MaxTokens == 0 {
		return nil, cmp.Or(err, errors.New("max_tokens: Field required"))
	}
	out := &spokenTo{model: q.Model, schema: q.OutputConfig.Format.Schema, tokens: q.MaxTokens}
	for _, t := range q.Tools {
		out.tools = append(out.tools, t.Name)
	}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				out.add(m.Role, model.Part{Call: &model.Call{ID: b.ID, Name: b.Name, Input: b.Input}})
			case "tool_result":
				out.add(m.Role, model.Part{Result: &model.Result{CallID: b.ToolUseID, Text: join(b.Content)}})
			case "image":
				out.add(m.Role, model.Part{Image: &model.Image{}})
			case "text":
				out.add(m.Role, model.Part{Text: b.Text})
			}
		}
	}
	return out, out.refused()
}

// readCompletions reads a request of Chat Completions.
func readCompletions(body []byte) (*spokenTo, error) {
	var q struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Most      int `json:"max_completion_tokens"`
		Tools     []struct{ Function struct{ Name string } }
		Form      struct {
			JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
		} `json:"response_format"`
		Turns []struct {
			Role      string
			Content   json.RawMessage
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	out := &spokenTo{model: q.Model, schema: q.Form.JSONSchema.Schema, tokens: max(q.MaxTokens, q.Most)}
	for _, t := range q.Tools {
		out.tools = append(out.tools, t.Function.Name)
	}
	for _, m := range q.Turns {
		var text string
		var blocks []block
		if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &blocks) == nil {
			text = join(blocks)
		}
		switch {
		case m.Role == "system":
		case m.Role == "tool":
			out.add(model.User, model.Part{Result: &model.Result{CallID: m.CallID, Text: text}})
		case text != "" || m.ToolCalls == nil:
			out.add(model.Role(m.Role), model.Part{Text: text})
		}
		for _, x := range m.ToolCalls {
			out.add(model.Role(m.Role), model.Part{Call: &model.Call{ID: x.ID, Name: x.Function.Name,
				Input: json.RawMessage(x.Function.Arguments)}})
		}
	}
	return out, out.refused()
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
