package models_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/shared"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"ringi/infra/local/vendors"
	"ringi/infra/local/vendors/models"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// failure is the body of OpenAI's errors.
type failure struct {
	Error openai.Error `json:"error"`
}

const (
	schema = `{"type":"object","additionalProperties":false,"properties":{"task_type":{"type":"string"}}}`
	text   = `"<data>{\"message\":\"従業員一覧を取得して\",\"now\":\"2026-04-01T09:00+09:00\",\"locale\":\"ja\"}</data>"`
)

// vendor is a call to one vendor. answer and failure compare the bodies with what the vendor publishes.
type vendor struct {
	name, path, body, id string
	key                  func(h http.Header, key string)
	answer, failure      func(body string) []string
	unauthorized         int
}

func (v vendor) ask(t *testing.T, url, key string, want int, differences func(string) []string) {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, url+v.path, strings.NewReader(v.body)))(t)
	v.key(r.Header, key)
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	expect.That(t, err == nil && res.StatusCode == want && res.Header.Get(v.id) != "",
		"%d, not %d; %v %s", res.StatusCode, want, err, body)
	for _, d := range differences(string(body)) {
		t.Errorf("%d: %s", res.StatusCode, d)
	}
}

// The answers of the stand-in must have the members that each vendor publishes.
func TestAnswersAreAsTheVendorsPublishThem(t *testing.T) {
	bedrock := expect.Value(vendors.Published("bedrock"))(t)
	quoted, _ := json.Marshal(schema) // marshaling a string can't fail
	for _, v := range []vendor{
		{
			"anthropic", "/anthropic/v1/messages",
			`{"model":"m","max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":` + text + `}]}],"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`,
			"Request-Id", func(h http.Header, key string) { h.Set("X-Api-Key", key) },
			modeltest.Differences[anthropic.Message], modeltest.Differences[shared.ErrorResponse], 401,
		},
		{
			"openai", "/openai/v1/responses",
			`{"model":"m","input":[{"role":"user","content":` + text + `}],"text":{"format":{"type":"json_schema","name":"answer","schema":` + schema + `}}}`,
			"X-Request-Id", bearer, modeltest.Differences[responses.Response], modeltest.Differences[failure], 401,
		},
		{
			"compatible", "/compatible/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":` + text + `}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + schema + `}}}`,
			"X-Request-Id", bearer, modeltest.Differences[openai.ChatCompletion], modeltest.Differences[failure], 401,
		},
		{
			"bedrock", "/bedrock/model/m/converse",
			`{"messages":[{"role":"user","content":[{"text":` + text + `}]}],"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":` + string(quoted) + `}}}}}`,
			"X-Amzn-Requestid", signed,
			func(body string) []string { return bedrock.Check("ConverseResponse", body) },
			func(body string) []string { return bedrock.Check("Exception", body) }, 403,
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			m := models.NewModels()
			s := httptest.NewServer(m.Handler())
			defer s.Close()
			v.ask(t, s.URL, m.Key, 200, v.answer)
			v.ask(t, s.URL, "", v.unauthorized, v.failure)
			for _, status := range []int{400, 402, 403, 404, 429, 500, 503, 529} {
				m.Fail(models.Failure{Status: status})
				v.ask(t, s.URL, m.Key, status, v.failure)
			}
		})
	}
}

// signed adds an AWS signature instead of a bearer token.
func signed(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a")
	}
}

// eventsIn returns a stream's events as JSON. An event in AWS's framing becomes the member with its name.
func eventsIn(t *testing.T, body string) (events []string) {
	t.Helper()
	frames := strings.NewReader(body)
	for !strings.Contains(body, "data: ") && frames.Len() > 0 {
		m := expect.Value(eventstream.NewDecoder().Decode(frames, nil))(t)
		events = append(events, `{"`+m.Headers.Get(":event-type").String()+`":`+string(m.Payload)+`}`)
	}
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if ok && data != "[DONE]" && data != `{"type":"ping"}` {
			events = append(events, data)
		}
	}
	return events
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// toolOf is a tool as each vendor's description has it.
var toolOf = map[string]string{
	"anthropic":  `"tools":[{"name":"t","input_schema":{"type":"object"}}]`,
	"openai":     `"tools":[{"type":"function","name":"t","parameters":{"type":"object"},"strict":false}]`,
	"compatible": `"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}]`,
}

// All streams must have the members that each vendor publishes.
func TestStreamsAreAsTheVendorsPublishThem(t *testing.T) {
	scripts := []models.Script{
		{Texts: []string{"a", "b"}},
		{Texts: []string{"a"}, Calls: []models.ScriptedCall{{ID: "c1", Name: "t", Input: []string{`{"a"`, `:1}`}},
			{ID: "c2", Name: "t", Input: []string{`{}`}}}},
		{Texts: []string{"a"}, Stop: "length"}, {Stop: "refused"},
	}
	bedrock := expect.Value(vendors.Published("bedrock"))(t)
	for _, v := range []vendor{
		{"anthropic", "/anthropic/v1/messages", `{"model":"m","max_tokens":10,"stream":true,` + toolOf["anthropic"] + `,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, "Request-Id",
			func(h http.Header, key string) { h.Set("X-Api-Key", key) }, modeltest.Differences[anthropic.MessageStreamEventUnion], nil, 0},
		{"openai", "/openai/v1/responses", `{"model":"m","stream":true,` + toolOf["openai"] + `,"input":[{"role":"user","content":"x"}]}`, "X-Request-Id", bearer, modeltest.Differences[responses.ResponseStreamEventUnion], nil, 0},
		{"compatible", "/compatible/v1/chat/completions", `{"model":"m","stream":true,` + toolOf["compatible"] + `,"messages":[{"role":"user","content":"x"}]}`, "X-Request-Id", bearer, modeltest.Differences[openai.ChatCompletionChunk], nil, 0},
		{"bedrock", "/bedrock/model/m/converse-stream", `{"toolConfig":{"tools":[{"toolSpec":{"name":"t"}}]},"messages":[{"role":"user","content":[{"text":"x"}]}]}`, "X-Amzn-Requestid", signed,
			func(event string) []string { return bedrock.Check("ConverseStreamOutput", event) }, nil, 0},
	} {
		t.Run(v.name, func(t *testing.T) {
			m := models.NewModels()
			s := httptest.NewServer(m.Handler())
			defer s.Close()
			for _, script := range scripts {
				m.Strictly(models.Rules{Signed: v.name != "compatible"}) // OpenAI itself publishes no thoughts in Chat Completions
				m.Scripted(script)
				v.ask(t, s.URL, m.Key, 200, func(body string) (found []string) {
					events := eventsIn(t, body)
					for _, data := range events {
						found = append(found, v.answer(data)...)
					}
					if len(events) < 3 {
						found = append(found, "there are no events: "+body)
					}
					return found
				})
			}
		})
	}
}

// The stand-in must refuse what vendors refuse, or tests could not show that a client sends it.
func TestConversationsThatVendorsRefuse(t *testing.T) {
	m := models.NewModels()
	s := httptest.NewServer(m.Handler())
	defer s.Close()
	a := vendor{path: "/anthropic/v1/messages", id: "Request-Id", key: func(h http.Header, key string) { h.Set("X-Api-Key", key) }}
	o := vendor{path: "/openai/v1/responses", id: "X-Request-Id", key: bearer}
	c := vendor{path: "/compatible/v1/chat/completions", id: "X-Request-Id", key: bearer}
	user, use := `{"role":"user","content":[{"type":"text","text":"x"}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":{}}]}`
	result := `{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}`
	asks := map[string]struct {
		v    vendor
		body string
		want int
	}{
		"a call and its result":             {a, user + "," + use + `,{"role":"user","content":[` + result + `]}`, 200},
		"a call without a result":           {a, user + "," + use + "," + user, 400},
		"a result behind a text":            {a, user + "," + use + `,{"role":"user","content":[{"type":"text","text":"x"},` + result + `]}`, 400},
		"a result without a call":           {a, `{"role":"user","content":[` + result + `]}`, 400},
		"an empty text":                     {a, `{"role":"user","content":[{"type":"text","text":""}]}`, 400},
		"the assistant has the last word":   {a, user + `,{"role":"assistant","content":[{"type":"text","text":"x"}]}`, 400},
		"the assistant begins":              {a, `{"role":"assistant","content":[{"type":"text","text":"x"}]},` + user, 400},
		"a function's call without output":  {o, `{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"role":"user","content":"x"}`, 400},
		"a function's output without call":  {o, `{"role":"user","content":"x"},{"type":"function_call_output","call_id":"c","output":"x"}`, 400},
		"a function's call and output":      {o, `{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}`, 200},
		"a tool's call without its message": {c, `{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"user","content":"x"}`, 400},
		"a tool's call with its message":    {c, `{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}`, 200},
	}
	for about, x := range asks {
		t.Run(about, func(t *testing.T) {
			of := map[string]string{a.path: "anthropic", o.path: "openai", c.path: "compatible"}[x.v.path]
			list := `max_tokens":10,"messages`
			if of == "openai" {
				list = "input"
			}
			x.v.body = `{"model":"m","stream":true,` + toolOf[of] + `,"` + list + `":[` + x.body + `]}`
			x.v.ask(t, s.URL, m.Key, x.want, func(string) []string { return nil })
		})
	}
}

// The refusals of models that think, in the words of each vendor.
func TestThoughtsThatVendorsRefuse(t *testing.T) {
	m := models.NewModels()
	s := httptest.NewServer(m.Handler())
	defer s.Close()
	a := vendor{path: "/anthropic/v1/messages", id: "Request-Id", key: func(h http.Header, key string) { h.Set("X-Api-Key", key) }}
	o := vendor{path: "/openai/v1/responses", id: "X-Request-Id", key: bearer}
	g := vendor{path: "/gemini/chat/completions", id: "X-Request-Id", key: bearer}
	c := vendor{path: "/compatible/v1/chat/completions", id: "X-Request-Id", key: bearer}
	b := vendor{path: "/bedrock/model/m/converse-stream", id: "X-Amzn-Requestid", key: signed}
	says := func(words ...string) func(string) []string {
		return func(body string) (missing []string) {
			for _, word := range words {
				if !strings.Contains(body, word) {
					missing = append(missing, word+" is not in "+body)
				}
			}
			return missing
		}
	}
	call := `{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}%s}]},{"role":"tool","tool_call_id":"c","content":"x"}`
	gemini := func(extra, after string) string {
		return `{"model":"m","stream":true,"max_tokens":10,` + toolOf["compatible"] + `,"messages":[` + strings.Replace(call, "%s", extra, 1) + after + `]}`
	}
	claude := func(before string) string {
		return `{"model":"m","stream":true,"max_tokens":10,` + toolOf["anthropic"] + `,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":[` +
			before + `{"type":"tool_use","id":"c","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}]}]}`
	}
	for about, x := range map[string]struct {
		v     vendor
		rules models.Rules
		body  string
		want  int
		says  []string
	}{
		"a call without its signature": {g, models.Rules{Signed: true}, gemini("", ""), 400,
			[]string{`[{"error":{"code":400`, "missing a thought_signature", "INVALID_ARGUMENT"}},
		"a signature of nobody's": {g, models.Rules{Signed: true},
			gemini(`,"extra_content":{"google":{"thought_signature":"x"}}`, ""), 400, []string{"thought_signature"}},
		"Google's substitute": {g, models.Rules{Signed: true},
			gemini(`,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`, ""), 200, nil},
		"a call of an earlier turn": {g, models.Rules{Signed: true}, gemini("", `,{"role":"user","content":"y"}`), 200,
			nil},
		"too many tokens for Gemini": {g, models.Rules{Most: 9}, gemini("", ""), 400,
			[]string{"from 1 (inclusive) to 10 (exclusive)"}},
		"Gemini's rate limit": {g, models.Rules{Limited: 1, Wait: "18s"}, gemini("", ""), 429,
			[]string{`"retryDelay":"18s"`, "google.rpc.RetryInfo", "RESOURCE_EXHAUSTED"}},
		"a call without its thoughts": {a, models.Rules{Signed: true}, claude(""), 400, []string{"Expected `thinking`"}},
		"too many tokens for Claude": {a, models.Rules{Most: 9}, claude(""), 400,
			[]string{"max_tokens: 10", "which is the maximum allowed number of output tokens"}},
		"Anthropic's rate limit": {a, models.Rules{Limited: 1}, claude(""), 429, []string{"rate_limit_error"}},
		"a call without its reasoning": {o, models.Rules{Signed: true},
			`{"model":"m","stream":true,` + toolOf["openai"] + `,"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}]}`, 400, []string{"without its required 'reasoning' item"}},
		"reasoning that nobody wrote": {o, models.Rules{Signed: true},
			`{"model":"m","stream":true,"input":[{"role":"user","content":"x"},{"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":"x"},{"role":"user","content":"x"}]}`, 400, []string{"could not be verified"}},
		"OpenRouter's without it": {c, models.Rules{Signed: true}, gemini("", ""), 400,
			[]string{"reasoning details to be preserved"}},
		"Mistral's id of a call": {c, models.Rules{Mistral: true}, gemini("", ""), 400,
			[]string{"a length of 9", "3280"}},
		"Mistral's order": {c, models.Rules{Mistral: true},
			strings.NewReplacer(`"id":"c"`, `"id":"abcdefgh1"`, `call_id":"c"`,
				`call_id":"abcdefgh1"`).Replace(gemini("",
				`,{"role":"user","content":"y"}`)), 400, []string{"after role 'tool'", "3230"}},
		"too many tokens for OpenAI": {o, models.Rules{Most: 9},
			`{"model":"m","stream":true,"max_output_tokens":10,"input":[{"role":"user","content":"x"}]}`, 400, []string{"Expected a value", "max_output_tokens"}},
		"too many tokens for Bedrock": {b, models.Rules{Most: 9},
			`{"inferenceConfig":{"maxTokens":10},"messages":[{"role":"user","content":[{"text":"x"}]}]}`, 400, []string{"exceeds the model limit of 9"}},
		"a call there without reasoning": {b, models.Rules{Signed: true},
			`{"toolConfig":{"tools":[{"toolSpec":{"name":"t"}}]},"messages":[{"role":"user","content":[{"text":"x"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"t","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"x"}]}}]}]}`, 400, []string{"thinking"}},
		"too many tokens for vLLM's window": {c, models.Rules{Window: 9}, gemini("", ""), 400,
			[]string{"max_tokens=10 cannot be greater than max_model_len=max_total_tokens=9"}},
		"a request beside them": {c, models.Rules{Window: 12}, gemini("", ""), 400,
			[]string{"You passed 3 input tokens and requested 10 output tokens", "context length is only 12 tokens"}},
	} {
		t.Run(about, func(t *testing.T) {
			m.Strictly(x.rules)
			x.v.body = x.body
			x.v.ask(t, s.URL, m.Key, x.want, says(x.says...))
		})
	}
}

// Requests that the vendors' published schemas don't allow are refused as the vendors refuse them.
func TestRequestsThatVendorsRefuse(t *testing.T) {
	m := models.NewModels()
	s := httptest.NewServer(m.Handler())
	defer s.Close()
	said := `{"role":"user","content":[{"type":"text","text":"x"}]}`
	a := vendor{path: "/anthropic/v1/messages", id: "Request-Id", key: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		body: `{"model":"m","max_tokens":10,"stream":true,` + toolOf["anthropic"] + `,"messages":[` + said + `,{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}]}]}`}
	o := vendor{path: "/openai/v1/responses", id: "X-Request-Id", key: bearer,
		body: `{"model":"m","stream":true,` + toolOf["openai"] + `,"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}]}`}
	c := vendor{path: "/compatible/v1/chat/completions", id: "X-Request-Id", key: bearer,
		body: `{"model":"m","stream":true,` + toolOf["compatible"] + `,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]}`}
	b := vendor{path: "/bedrock/model/m/converse-stream", id: "X-Amzn-Requestid", key: signed,
		body: `{"toolConfig":{"tools":[{"toolSpec":{"name":"t"}}]},"messages":[{"role":"user","content":[{"text":"x"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"t","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"x"}]}}]}]}`}
	g := c
	g.path = "/gemini/chat/completions"
	called := `"name":"t","input"`
	for about, x := range map[string]struct {
		v         vendor
		old, with string
		says      string
	}{
		"Anthropic: a call's name":         {a, called, strings.Replace(called, "t", "brain</arg_value>", 1), "tool_use.name: String should match pattern"},
		"Anthropic: a name that is long":   {a, called, strings.Replace(called, "t", strings.Repeat("x", 65), 1), "tool_use.name: String should match pattern"},
		"Anthropic: a tool's name":         {a, `[{"name":"t"`, `[{"name":"t.u"`, "tools.0.name"},
		"Anthropic: two of one name":       {a, `"tools":[`, `"tools":[{"name":"t","input_schema":{"type":"object"}},`, "unique"},
		"Anthropic: no limit":              {a, `"max_tokens":10,`, "", "max_tokens: Field required"},
		"Anthropic: an unknown member":     {a, `"model"`, `"seed":1,"model"`, "seed: Extra inputs are not permitted"},
		"Anthropic: no content":            {a, `[{"type":"text","text":"x"}]},{"role":"assistant"`, `[]},{"role":"assistant"`, "non-empty content"},
		"Anthropic: another role":          {a, `{"role":"user"`, `{"role":"system"`, "system"},
		"OpenAI: a call's name":            {o, `"name":"t","arguments"`, `"name":"brain</arg_value>","arguments"`, "does not match pattern"},
		"OpenAI: an unknown member":        {o, `"model"`, `"max_tokens":1,"model"`, "Unknown parameter: 'max_tokens'"},
		"OpenAI: no input":                 {o, `"input"`, `"instructions"`, "'input'"},
		"Chat Completions: a call's name":  {c, `"name":"t","arguments"`, `"name":"","arguments"`, "does not match pattern"},
		"Chat Completions: unknown member": {c, `"model"`, `"max_output_tokens":1,"model"`, "Unknown parameter"},
		"Chat Completions: no words":       {c, `"content":"x"},{"role":"assistant"`, `"content":null},{"role":"assistant"`, "expected a string, got null"},
		"Chat Completions: another role":   {c, `{"role":"user"`, `{"role":"model"`, "Supported values"},
		"Anthropic: unknown, deep":         {a, `"text","text":"x"}]},{"role":"assistant"`, `"text","text":"x","markdown":true}]},{"role":"assistant"`, "messages.0.content.0.markdown: Extra inputs are not permitted"},
		"Anthropic: missing, deep":         {a, `"tool_use_id":"c",`, "", "messages.2.content.0.tool_use_id: Field required"},
		"Anthropic: another type":          {a, `"max_tokens":10`, `"max_tokens":"10"`, "max_tokens: Input should be"},
		"Anthropic: an open schema":        {a, `"model"`, `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}}}}},"model"`, "'additionalProperties' must be explicitly set to false"},
		"Anthropic: a limit in a schema":   {a, `"model"`, `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"array","items":{"type":"integer","maximum":3}}}}}},"model"`, "'maximum' is not supported"},
		"OpenAI: unknown, deep":            {o, `"output":"x"`, `"output":"x","is_error":true`, "Unknown parameter: 'input[2].is_error'"},
		"OpenAI: a schema that lacks one":  {o, `"model"`, `"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}},"required":[]}}},"model"`, "Missing 'a'"},
		"OpenAI: an open schema, deep":     {o, `"model"`, `"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"object"}},"required":["a"]}}},"model"`, "'additionalProperties' is required"},
		"Chat Completions: unknown, deep":  {c, `"tool_call_id":"c"`, `"tool_call_id":"c","is_error":true`, "Unknown parameter: 'messages[2].is_error'"},
		"Chat Completions: open schema":    {c, `"model"`, `"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object","properties":{}}}},"model"`, "'additionalProperties' is required"},
		"Bedrock: a call's name":           {b, called, strings.Replace(called, "t", "brain</arg_value>", 1), "[a-zA-Z0-9_-]+"},
		"Bedrock: two of one role":         {b, `"messages":[`, `"messages":[{"role":"user","content":[{"text":"x"}]},`, "must alternate"},
		"Bedrock: no content":              {b, `[{"text":"x"}]},{"role":"assistant"`, `[]},{"role":"assistant"`, "content field in the Message object"},
		"Chat Completions: a long description": {c, `"name":"t"`,
			`"description":"` + strings.Repeat("長", 1025) + `","name":"t"`,
			"maximum length 1024, but got a string with length 1025"},
		"Gemini: values that are numbers": {g, `"parameters":{"type":"object"`,
			`"parameters":{"type":"object","properties":{"top":{"type":"integer","enum":[1]}}`,
			"parameters.properties[top].enum: only allowed for STRING type"},
		"Gemini: an object of nothing": {g, `"parameters":{"type":"object"`,
			`"parameters":{"type":"object","properties":{"q":{"type":"object"}}`, "should be non-empty for OBJECT type"},
		"Gemini: required, and no property": {g, `"parameters":{"type":"object"`,
			`"parameters":{"type":"object","required":["q"]`, "property is not defined"},
	} {
		t.Run(about, func(t *testing.T) {
			none := func(string) []string { return nil }
			x.v.ask(t, s.URL, m.Key, 200, none)
			x.v.body = strings.Replace(x.v.body, x.old, x.with, 1)
			x.v.ask(t, s.URL, m.Key, 400, func(body string) []string {
				if strings.Contains(strings.ReplaceAll(body, `\u003c`, "<"), x.says) {
					return nil
				}
				return []string{body}
			})
		})
	}
}
