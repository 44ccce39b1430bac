package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
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
	vendor: "anthropic", id: "Request-Id", read: readAnthropic, whole: messageOf, events: streamAnthropic,
	key: func(r *http.Request) string { return r.Header.Get("X-Api-Key") },
	refuse: func(status int) object {
		kind := map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
			404: "not_found_error",
			429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
		}[status]
		return object{"type": "error",
			"error": object{"type": cmp.Or(kind, "api_error"), "message": http.StatusText(status)}, "request_id": requestID}
	},
}

var responses = wire{
	vendor: "openai", id: "X-Request-Id", key: bearer, read: readResponses, whole: responseOf, events: streamResponses,
	refuse: refuseAsOpenAI,
}

var completions = wire{
	vendor: "compatible", id: "X-Request-Id", key: bearer, whole: completionOf,
	read:   func(body []byte) (spokenTo, error) { return readCompletions("compatible", body) },
	events: streamCompletions, refuse: refuseAsOpenAI,
}

// refuseAsOpenAI returns the error body of both OpenAI APIs.
func refuseAsOpenAI(status int) object {
	said := map[int][2]string{ // type and code
		401: {"invalid_request_error", "invalid_api_key"}, 402: {"insufficient_quota",
			"billing_not_active"}, 404: {"invalid_request_error", "model_not_found"},
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
	vendor: "bedrock", id: "X-Amzn-Requestid", read: readConverse, whole: converseOf, events: streamConverse,
	// Converse's own errors and AWS's general errors have this body. The error code is in a header.
	refuse: func(status int) object { return object{"message": http.StatusText(status)} },
}

// amazonError returns AWS's error code for a status, which is sent in the header X-Amzn-ErrorType.
func amazonError(status int) string {
	return cmp.Or(map[int]string{
		400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException",
		404: "ResourceNotFoundException", 408: "ModelTimeoutException",
		424: "ModelErrorException", 429: "ThrottlingException", 503: "ServiceUnavailableException",
	}[status], "InternalServerException")
}

// converseOf formats an answer for Converse.
func converseOf(s Script) object {
	return object{
		"output": object{"message": object{"role": "assistant",
			"content": []object{{"text": strings.Join(s.Texts, "")}}}},
		"stopReason": converseStop(s), "usage": converseUsage(s), "metrics": object{"latencyMs": 1},
	}
}

func converseStop(s Script) string {
	return stopOf(s, "end_turn", "max_tokens", "content_filtered", "tool_use")
}

func converseUsage(s Script) object {
	return object{
		"inputTokens": s.used.input, "outputTokens": s.used.output, "totalTokens": s.used.prompt() + s.used.output,
		"cacheReadInputTokens": s.used.read, "cacheWriteInputTokens": s.used.written,
	}
}

// streamConverse formats an answer as the events of ConverseStream.
func streamConverse(s Script) (out []event) {
	add := func(name string, fields object) { out = append(out, event{name, fields}) }
	add("messageStart", object{"role": "assistant"})
	if s.Odd {
		add("brandNew", object{"a": []int{1}})
	}
	index := 0
	if s.thoughts != nil {
		for _, piece := range halves(s.thoughts.text) {
			add("contentBlockDelta", object{"contentBlockIndex": index,
				"delta": object{"reasoningContent": object{"text": piece}}})
		}
		add("contentBlockDelta", object{"contentBlockIndex": index,
			"delta": object{"reasoningContent": object{"signature": s.signature}}})
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
		add("contentBlockDelta", object{"contentBlockIndex": index,
			"delta": object{"reasoningContent": object{"redactedContent": []byte(s.signature)}}})
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	for _, text := range s.Texts {
		add("contentBlockDelta", object{"contentBlockIndex": index, "delta": object{"text": text}})
	}
	if len(s.Texts) > 0 {
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	for _, c := range s.Calls {
		add("contentBlockStart", object{"contentBlockIndex": index,
			"start": object{"toolUse": object{"toolUseId": c.ID, "name": c.Name}}})
		for _, piece := range c.Input {
			add("contentBlockDelta", object{"contentBlockIndex": index, "delta": object{"toolUse": object{"input": piece}}})
		}
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	if s.Error != "" {
		name := map[string]string{"rate_limit_error": "throttlingException",
			"overloaded_error": "serviceUnavailableException"}[s.Error]
		add(name, object{"message": "secret words"})
		return out
	}
	add("messageStop", object{"stopReason": converseStop(s)})
	add("metadata", object{"usage": converseUsage(s), "metrics": object{"latencyMs": 1}})
	return out
}

// writeFrame writes an event in AWS's event stream encoding.
func writeFrame(w io.Writer, e event) {
	body, err := json.Marshal(e.data)
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	kind, name := eventstreamapi.EventMessageType, eventstreamapi.EventTypeHeader
	if strings.HasSuffix(e.name, "Exception") {
		kind, name = eventstreamapi.ExceptionMessageType, eventstreamapi.ExceptionTypeHeader
	}
	frame := eventstream.Message{Payload: body}
	for header, value := range map[string]string{eventstreamapi.MessageTypeHeader: kind, name: e.name,
		eventstreamapi.ContentTypeHeader: "application/json"} {
		frame.Headers.Set(header, eventstream.StringValue(value))
	}
	_ = eventstream.NewEncoder().Encode(w, frame) // a failure means that the client has disconnected
}

// converseBlock is a block of a message of Bedrock's Converse API.
type converseBlock struct {
	Text, CachePoint, Image, ReasoningContent json.RawMessage
	ToolUse                                   *struct {
		ToolUseID, Name string
		Input           json.RawMessage
	}
	ToolResult *struct {
		ToolUseID string
		Content   []block
	}
}

// parts returns what a block says: one part, or none.
func (b converseBlock) parts() ([]model.Part, error) {
	var text string
	switch {
	case b.ToolUse != nil:
		return []model.Part{{Call: &model.Call{ID: b.ToolUse.ToolUseID, Name: b.ToolUse.Name, Input: b.ToolUse.Input}}}, nil
	case b.ToolResult != nil:
		return []model.Part{{Result: &model.Result{CallID: b.ToolResult.ToolUseID, Text: join(b.ToolResult.Content)}}}, nil
	case b.Image != nil:
		return []model.Part{{Image: &model.Image{}}}, nil
	case json.Unmarshal(b.Text, &text) == nil:
		return []model.Part{{Text: text}}, nil
	case b.CachePoint == nil && b.ReasoningContent == nil:
		return nil, errors.New("a content block of no known kind")
	}
	return nil, nil
}

// readConverse reads a request of Converse or ConverseStream, which have the model in the path.
func readConverse(body []byte) (spokenTo, error) {
	var q struct {
		ToolConfig struct {
			Tools []struct {
				ToolSpec struct {
					Name        string
					InputSchema struct{ JSON map[string]any }
				}
			}
		}
		OutputConfig struct {
			TextFormat struct {
				Structure struct{ JSONSchema struct{ Schema string } }
			}
		}
		Messages []struct {
			Role    model.Role
			Content []converseBlock
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return spokenTo{}, err
	}
	schema := json.RawMessage(q.OutputConfig.TextFormat.Structure.JSONSchema.Schema)
	if err := complete("bedrock", body, &format{Schema: schema}); err != nil {
		return spokenTo{}, err
	}
	c := begun("bedrock", "", schema)
	for _, t := range q.ToolConfig.Tools {
		if err := cmp.Or(c.offer(t.ToolSpec.Name), c.takes(t.ToolSpec.InputSchema.JSON)); err != nil { // as Claude there
			return c.spokenTo, err
		}
	}
	for _, m := range q.Messages {
		var parts []model.Part
		for _, b := range m.Content {
			said, err := b.parts()
			if err != nil {
				return c.spokenTo, err
			}
			parts = append(parts, said...)
		}
		if len(m.Content) == 0 {
			return c.spokenTo, fmt.Errorf("The content field in the Message object at messages.%d is empty. Add a "+
				"ContentBlock object to the content field and try again.", len(c.said))
		}
		if err := c.strictly(m.Role, parts); err != nil {
			return c.spokenTo, err
		}
	}
	return c.end()
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
