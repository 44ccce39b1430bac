package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
)

func open(at string) model.Wire {
	u, err := url.Parse(at)
	if err != nil {
		panic(err)
	}
	return provider.NewCompletions(provider.CompletionsConfig{Endpoint: "box", BaseURL: at + "/v1", Model: "llama3.2:3b",
		Key: modeltest.Secret, HTTP: outbound.Dialer{Allow: []string{u.Host}}.Client()})
}

// completion is an answer with the members that OpenAI's schema of Chat Completions requires. Its input is 2112 tokens:
// 2000 read from the cache, 100 written to it, and 12 others.
func completion(content, refusal, finish string) string {
	return `{"id":"c_1","object":"chat.completion","created":1790000000,"model":"llama3.2:3b-q4",
		"choices":[{"index":0,"finish_reason":"` + finish + `","logprobs":null,
		"message":{"role":"assistant","content":` + content + `,"refusal":` + refusal + `}}],
		"usage":{"prompt_tokens":2112,"completion_tokens":7,"total_tokens":2119,
		"prompt_tokens_details":{"cached_tokens":2000,"cache_write_tokens":100}}}`
}

var good = completion("%TEXT%", "null", "stop")

func TestTheContractOfChatCompletions(t *testing.T) {
	modeltest.Run(t, modeltest.Vendor{
		New:  open,
		Key:  func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") },
		ID:   "X-Request-Id",
		Path: "/v1/chat/completions",
		Sent: `{
			"model": "llama3.2:3b", "max_tokens": 17384,
			"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true,
				"schema": {"type": "object", "additionalProperties": false, "required": ["a"],
					"properties": {"a": {"type": "string"}}}}},
			"messages": [
				{"role": "system", "content": "the rules\n\nAnswer with one JSON value of this schema and nothing else:\n` +
			`{\"type\":\"object\",\"additionalProperties\":false,` +
			`\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"string\"}}}"},
				{"role": "user", "content": "<data>the tools</data>\nhimitsu no irai"},
				{"role": "assistant", "content": "{}"}, {"role": "user", "content": "again"}
			]
		}`,
		Good:    good,
		CutOff:  completion("%TEXT%", "null", "length"),
		Refused: completion("null", `"I can't."`, "stop"),
		Usage: model.Usage{Provider: "compatible.box", Model: "llama3.2:3b-q4", Input: 112, Cached: 2000, Written: 100,
			Output: 7},
		Error:    `{"error":{"message":"himitsu no irai","type":"t","param":null,"code":"%CODE%"}}`,
		Codes:    map[int]string{401: "invalid_api_key", 429: "rate_limit_exceeded"},
		NoCredit: 429, NoCreditCode: "insufficient_quota",
		Form: "response_format", Formless: `This response_format type is unavailable now`,
		Published: modeltest.Completion, PublishedError: modeltest.ChatFailure,
	})
}

// The contract's check of what is published finds what isn't.
func TestWhatOpenAIDoesNotPublishIsFound(t *testing.T) {
	body := completion(`"x"`, "null", "stop")
	expect.That(t, len(modeltest.Completion(body)) == 0, "%v", modeltest.Completion(body))
	for was, is := range map[string]string{`"id":"c_1",`: ``, `"created":1790000000`: `"created":"1"`,
		`"index":0`: `"index":0,"more":1`, `chat.completion`: `chat`, `"llama3.2:3b-q4"`: `null`, `,"refusal":null`: ``,
		`"content":"x"`: `"content":"x","tool_calls":[{"id":"c"}]`} {
		broken := strings.Replace(body, was, is, 1)
		expect.That(t, len(modeltest.Completion(broken)) > 0, "%s is taken", broken)
	}
	body = `{"error":{"message":"m","type":"t","param":null}}`
	expect.That(t, len(modeltest.ChatFailure(body)) > 0, "an error without a code")
}

// A request stays the same when it is decoded into a type that others wrote and encoded again.
func TestRequestsAreAsPublished(t *testing.T) {
	s := answers(t, good)
	expect.Value(open(s.url).Say(t.Context(), modeltest.Request()))(t)
	var again map[string]any
	var params openai.ChatCompletionRequest
	expect.NoError(t, json.Unmarshal([]byte(s.texts[0]), &params))
	written := expect.Value(json.Marshal(params))(t)
	expect.NoError(t, json.Unmarshal(written, &again))
	delete(again, "stream") // the type always writes it
	expect.Same(t, again, s.asked[0])
}

// Each of these servers refuses the parameters that it does not know.
func TestAServerThatKnowsLess(t *testing.T) {
	var asked []map[string]any
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q map[string]any
		err := json.NewDecoder(r.Body).Decode(&q)
		expect.That(t, err == nil, "%v", err)
		asked = append(asked, q)
		for unknown, said := range map[string]string{"response_format": "no", "max_tokens": "Unsupported parameter: " +
			"'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."} {
			if q[unknown] != nil {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w,
					`{"error":{"message":"`+said+`","code":"unsupported_parameter","param":"`+unknown+`"}}`)
				return
			}
		}
		io.WriteString(w, strings.ReplaceAll(good, "%TEXT%", `"{}"`))
	}))
	r, err := open(s.URL).Say(t.Context(), modeltest.Request())
	expect.That(t, err == nil && r.Text == "{}" && len(asked) == 3 && asked[2]["max_completion_tokens"] == 17384.0,
		"%+v, %v, asked %v", r, err, asked)
}

func TestAServerWithoutKeys(t *testing.T) {
	s := answers(t, good)
	expect.Value(s.wire("box", "m").Say(t.Context(), modeltest.Request()))(t)
	expect.Is(t, len(s.heads[0]["Authorization"]), 0, "keys that are sent")
}

// An endpoint in a private network is not called, and people are told that its address is not allowed.
func TestAnEndpointThatIsNotPublic(t *testing.T) {
	for _, at := range []string{"http://127.0.0.1:9001", "https://169.254.169.254", "https://10.0.0.1",
		"http://example.com", "https://user:pass@example.com", "::"} {
		c := provider.NewCompletions(provider.CompletionsConfig{Endpoint: "box", BaseURL: at, Model: "m",
			Key: modeltest.Secret, HTTP: outbound.Dialer{}.Client()})
		_, err := c.Say(t.Context(), modeltest.Request())
		f := model.Failure(err)
		expect.That(t, f.Reason == "model_misplaced" && f.Detail == "compatible.box" && !f.Transient &&
			!strings.Contains(err.Error(), "pass"), "%s: %v", at, err)
	}
}

// FuzzAnswer checks that no answer of a server breaks the client, and that no part of it gets into an error.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{strings.ReplaceAll(good, "%TEXT%", `"{}"`), `{"choices":[{}]}`,
		`[{"error":{"code":404,"status":"NOT_FOUND"}}]`, `{"error":{"code":7}}`, `{"error":"no"}`, `{`, `null`, `[]`} {
		f.Add(200, body)
		f.Add(400, body)
	}
	var status int
	var body string
	s := expect.Server(f, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	c := open(s.URL)
	f.Fuzz(func(t *testing.T, code int, text string) {
		if code < 200 || code > 599 || code == 204 || code == 304 || code/100 == 3 {
			return // an answer with this status has no body
		}
		status, body = code, text
		r, err := c.Say(t.Context(), modeltest.Request())
		expect.That(t, (err == nil) != (r.Stop == ""), "%+v, %v", r, err)
	})
}

// Vendors charge thoughts as output. Gemini and xAI have them in the total alone, not in the tokens of the completion.
func TestThoughtsBesideTheCompletionAreCounted(t *testing.T) {
	for about, tt := range map[string]struct {
		usage  string
		output int64
	}{
		"xAI's": {`{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"prompt_tokens_details":{"cached_tokens":6},
			"completion_tokens_details":{"reasoning_tokens":94}}`, 103},
		"Gemini's": {`{"prompt_tokens":6,"completion_tokens":9,"total_tokens":735}`, 729},
		"OpenAI's, in the completion": {`{"prompt_tokens":32,"completion_tokens":103,"total_tokens":135,
			"completion_tokens_details":{"reasoning_tokens":94}}`, 103},
		"no total":             {`{"prompt_tokens":32,"completion_tokens":9}`, 9},
		"a total that is less": {`{"prompt_tokens":32,"completion_tokens":9,"total_tokens":-40}`, 9},
	} {
		s := answers(t, `{"model":"m","choices":[{"finish_reason":"stop","message":{"content":"x"}}],"usage":`+
			tt.usage+`}`)
		got := expect.Value(s.wire("box", "m").Say(t.Context(), modeltest.Request()))(t)
		expect.That(t, got.Usage.Output == tt.output && got.Usage.Input+got.Usage.Cached <= 32, "%s: %+v", about,
			got.Usage)
	}
}

// Gemini's signatures and DeepSeek's thoughts go back with the calls that they came with.
func TestWhatHangsOnCallsIsSentBack(t *testing.T) {
	const calls = `"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}%s},` +
		`{"id":"b","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}}]}}]}`
	r := model.Request{System: "s", MaxTokens: 10, Messages: []model.Message{model.Words(model.User, "x")},
		Parallel: true}
	for name, tt := range map[string]struct{ endpoint, answer, reasoning, first string }{
		"gemini-3.5-flash": {"gemini", `{"choices":[{"finish_reason":"tool_calls","message":{"content":null,` +
			fmt.Sprintf(calls, `,"extra_content":{"google":{"thought_signature":"SIG"}}`), "",
			`{"google":{"thought_signature":"SIG"}}`},
		"deepseek-chat": {"deepseek",
			`{"choices":[{"finish_reason":"tool_calls","message":{"reasoning_content":"I think",` +
				fmt.Sprintf(calls, ""), "I think", ""},
	} {
		s := answers(t, tt.answer, good)
		w := s.wire(tt.endpoint, name)
		got := expect.Value(w.Say(t.Context(), r))(t)
		expect.Must(t, len(got.Calls) == 2 && string(got.Calls[1].Input) == `{"a":1}` && got.Calls[0].Opaque != nil &&
			got.Calls[1].Opaque == nil, "%s: %+v", name, got.Calls)
		again := r
		again.Once, again.Schema = true, modeltest.Request().Schema
		again.Messages = append(again.Messages,
			model.Message{Role: model.Assistant, Parts: []model.Part{{Call: &got.Calls[0]}, {Call: &got.Calls[1]}}},
			model.Message{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "a", Text: "1"}},
				{Result: &model.Result{CallID: "b", Text: "2"}}}})
		expect.Value(w.Say(t.Context(), again))(t)
		said := s.asked[1]["messages"].([]any)[2].(map[string]any)
		sent := said["tool_calls"].([]any)
		extra, _ := json.Marshal(sent[0].(map[string]any)["extra_content"])
		reasoning, _ := said["reasoning_content"].(string)
		expect.That(t, reasoning == tt.reasoning && (tt.first == "" || string(extra) == tt.first) &&
			sent[1].(map[string]any)["extra_content"] == nil, "%s: %v", name, said)
	}
}

// Servers without schemas refuse one in words of their own. The question is asked in words then.
func TestAServerWithoutSchemasIsAskedInWords(t *testing.T) {
	for about, body := range map[string]string{
		"DeepSeek": `{"error":{"message":"This response_format type is unavailable ` +
			`now","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		"LM Studio": `{"error":"'response_format.type' must be 'json_object' or 'text'"}`,
		"DashScope": `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Json mode response is not ` +
			`supported when enable_thinking is ` +
			`true","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}`,
		"Groq": `{"error":{"message":"This model does not support it. See supported ` +
			`models at https://console.groq.com/docs/structured-outputs#supported-models","type":"invalid_request_error",` +
			`"param":"response_format"}}`,
		"SGLang": `{"detail":[{"type":"literal_error","loc":["body","response_format","type"],"msg":"Input should ` +
			`be 'text' or 'json_object'","input":"json_schema"}]}`,
	} {
		for _, once := range []bool{true, false} {
			s := answers(t, map[bool]string{true: "422 ", false: "400 "}[about == "SGLang"]+body, good)
			r, warm := modeltest.Request(), 0.7
			r.Once, r.Sampling.Temperature = once, &warm
			_, err := s.wire("box", "m").Say(t.Context(), r)
			expect.Must(t, err == nil && len(s.asked) == 2, "%s, once %t: %v after %d calls", about, once, err,
				len(s.asked))
			first, second := s.asked[0], s.asked[1]
			expect.That(t, first["response_format"] != nil && second["response_format"] == nil &&
				second["temperature"] == warm,
				"%s, once %t: %v", about, once, second)
		}
	}
}

// answered is what a server's answer is taken for.
func answered(t *testing.T, body string) (got model.Response, err error) {
	t.Helper()
	own := model.Priced(open(answers(t, body).url), []tenancy.ModelPrice{{Model: "compatible:box/llama3.2:3b", Input: "1",
		Output: "1"}})
	r := model.Request{System: "s", MaxTokens: 100, Messages: []model.Message{model.Words(model.User, "x")},
		Tools: []model.Tool{{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}}
	return model.Say(t.Context(), own, r, "p")
}

func whole(message string) string {
	return `{"choices":[{"index":0,"message":` + message +
		`,"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`
}

func TestAnAnswerIsRead(t *testing.T) {
	for about, tt := range map[string]struct{ body, want string }{
		"thoughts beside it": {whole(`{"content":"Hello","reasoning":"SECRET","refusal":null,
			"tool_calls":null,"function_call":null}`), "Hello"},
		"thoughts in tags": {whole(`{"content":"<think>SECRET</think>\n\nHello"}`), "Hello"},
		"thoughts beside it and in tags": {
			whole(`{"reasoning_content":"SECRET","content":"<think>SECRET</think>Hello"}`), "Hello"},
		"an error of nothing": {strings.Replace(whole(`{"content":"Hello"}`), `{`, `{"error":null,`, 1), "Hello"},
		"a call": {strings.Replace(whole(`{"content":null,"tool_calls":[{"id":"A","type":"function",`+
			`"function":{"name":"f","arguments":"{\"a\":1}"}}]}`), `"stop"`, `"tool_calls"`, 1), `f{"a":1}`},
	} {
		got, err := answered(t, tt.body)
		said := got.Text
		for _, c := range got.Calls {
			said += c.Name + string(c.Input)
		}
		expect.That(t, err == nil && said == tt.want && got.Stop == model.StopEnd && got.Usage.Input == 5 &&
			got.Usage.Output == 3, "%s: %+v, %v", about, got, err)
	}
}

// What is no whole answer is none, and a sentence says what came.
func TestWhatIsNoAnswerIsSaid(t *testing.T) {
	half := `{"content":"Never pay more than 1"}`
	for about, tt := range map[string]struct {
		body string
		kind model.Kind
		said string
	}{
		"an error as its reason": {strings.Replace(whole(half), `"stop"`, `"error"`, 1), model.BrokenOff, "error"},
		"a reason that is null":  {strings.Replace(whole(half), `"stop"`, "null", 1), model.BrokenOff, "no reason"},
		"a reason that promises": {strings.Replace(whole(half), `"stop"`, `"tool_calls"`, 1), model.BrokenOff,
			"a call that did not come"},
		"a call that isn't readable": {whole(`{"tool_calls":[{"id":"A","function":{"name":"f","arguments":"{}{himitsu"}}]}`),
			model.BrokenOff, "the arguments of f"},
		"arguments as an object": {whole(`{"tool_calls":[{"id":"A","function":{"name":"f","arguments":{"himitsu":1}}}]}`),
			model.Unreadable, "is object"},
		"an error": {`{"error":{"message":"himitsu","code":429}}`, model.Unreadable,
			"no choices, but an object with error"},
		"no choices":               {`{"choices":[],"himitsu no irai":1}`, model.Unreadable, "no choices"},
		"events":                   {"data: {\"choices\":[]}\n\ndata: [DONE]\n\n", model.Unreadable, "no JSON"},
		"a page":                   {"<html>himitsu", model.Unreadable, "no JSON"},
		"content that is a number": {whole(`{"content":7}`), model.Unreadable, "choices.message.content is number"},
		"content in parts": {whole(`{"content":[{"type":"text","text":"himitsu"}]}`), model.Unreadable,
			"choices.message.content is array"},
		"half of its JSON": {whole(half)[:60], model.Unreadable, "no JSON"},
		"another protocol": {`{"candidates":[]}`, model.Unreadable, "candidates"},
		"nothing":          {"", model.Unreadable, "0 bytes"},
	} {
		got, err := answered(t, tt.body)
		e, is := errors.AsType[*model.Error](err)
		expect.That(t, is && e.Kind == tt.kind && !e.Retryable && got.Usage.Cost > 0 && !strings.Contains(err.Error(),
			"himitsu"), "%s: %+v, %v", about, got.Usage, err)
		f := model.Failure(err)
		expect.That(t, strings.Contains(f.Detail, tt.said) && !f.Transient, "%s: people are told %+v", about, f)
	}
}

// A filter of requests answers with a code: OpenAI's, and Azure's in the form that learn.microsoft.com shows under
// content filtering, with the status as a number. Waiting doesn't help an account without money, whatever the status.
func TestRefusalsAreToldApart(t *testing.T) {
	for about, x := range map[string]struct {
		status int
		body   string
		kind   model.Kind // of the error; empty: it is a refusal
	}{
		"OpenAI's filter": {400, `{"error":{"message":"Invalid prompt: your prompt was flagged ` +
			`as potentially violating our usage policy.","type":"invalid_request_error","code":"invalid_prompt"}}`, ""},
		"Azure's filter": {400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt",` +
			`"code":"content_filter","status":400}}`, ""},
		"a length by its code": {400, `{"error":{"message":"x","type":null,"param":"prompt",` +
			`"code":"context_length_exceeded","status":400}}`, model.TooLong},
		"OpenAI's length": {400, `{"error":{"message":"This model's maximum context length is 128000 tokens.",` +
			`"type":"invalid_request_error","param":null,"code":null}}`, model.TooLong},
		"vLLM's length": {400, `{"object":"error","message":"This model's maximum context length is 8192 ` +
			`tokens. However, you requested 24000 tokens","type":"BadRequestError","param":null,"code":400}`, model.TooLong},
		"Gemini's length": {400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds ` +
			`the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, model.TooLong},
		"a key, not a filter": {403, `{"error":{"message":"Your account was flagged","code":403}}`, model.Forbidden},
		"Moonshot's money": {429, `{"error":{"message":"Your account org-x <ak-y> is suspended due to insufficient ` +
			`balance, please recharge your account or check your plan and billing ` +
			`details","type":"exceeded_current_quota_error"}}`, model.NoCredit},
		"DeepSeek's money": {402, `{"error":{"message":"Insufficient ` +
			`Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, model.NoCredit},
		"OpenRouter's money": {402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You ` +
			`requested up to 32384 tokens, but can only afford 4201.","code":402}}`, model.NoCredit},
		"Gemini waits": {429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your ` +
			`plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"18s"}]}}]`, model.RateLimited},
		"a key that Google refuses": {400, `[{"error":{"code":400,"message":"API key expired.",` +
			`"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`, model.Unauthorized},
	} {
		s := answers(t, fmt.Sprint(x.status, " ", x.body))
		got, err := open(s.url).Say(t.Context(), modeltest.Request())
		e, is := errors.AsType[*model.Error](err)
		expect.That(t, is == (x.kind != "") && (is && e.Kind == x.kind || got.Stop == model.StopRefused),
			"%s: %+v, %v", about, got, err)
		waits := x.kind == model.RateLimited
		expect.That(t, !is || e.Retryable == waits && (e.RetryAfter == 18*time.Second) == waits &&
			(len(s.asked) == 1 || x.kind == model.TooLong) && !strings.Contains(err.Error(), " token"), // a code may have it
			"%s: %+v after %d calls", about, e, len(s.asked))
	}
}
