package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

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

func TestARateLimitSaysItsWaitInTheBody(t *testing.T) {
	const details = `"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.`
	for body, want := range map[string]time.Duration{
		`429 [{"error":{"code":429,"message":"quota",` + details + `QuotaFailure"},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"18s"}]}}]`: 18 * time.Second,
		`429 {"error":{"message":"Rate limit reached. Please try again in 2m3s.",` +
			`"code":"rate_limit_exceeded"}}`: 123 * time.Second,
		`429 {"error":{"message":"quota","details":"none"}}`: 0,
		`429 too many`: 0,
	} {
		s := answers(t, body)
		_, err := s.wire("gemini", "gemini-3.5-flash").Say(t.Context(), modeltest.Request())
		e := new(model.Error)
		expect.That(t, errors.As(err, &e) && e.Kind == model.RateLimited && e.Retryable && e.RetryAfter == want &&
			len(s.asked) == 1, "%s: %+v", body, e)
	}
}

// Google refuses a key that is wrong or expired with the status of a request that is wrong.
func TestAKeyThatGoogleRefusesIsNotTheRequestsFault(t *testing.T) {
	for _, said := range []string{"API key not valid. Please pass a valid API key.", "API key expired."} {
		s := answers(t, `400 [{"error":{"code":400,"message":"`+said+`","status":"INVALID_ARGUMENT","details":[
			{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]`)
		r, warm := modeltest.Request(), 0.7
		r.Sampling.Temperature = &warm
		_, err := s.wire("gemini", "gemini-2.5-flash").Say(t.Context(), r)
		e := new(model.Error)
		expect.That(t, errors.As(err, &e) && e.Kind == model.Unauthorized && !e.Retryable && len(s.asked) == 1,
			"%v after %d calls", err, len(s.asked))
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

// Waiting doesn't help an account without money, whatever the status.
func TestAnAccountWithoutMoney(t *testing.T) {
	for about, x := range map[string]struct {
		status int
		body   string
		kind   model.Kind
	}{
		"Moonshot": {429, `{"error":{"message":"Your account org-x <ak-y> is suspended due to insufficient ` +
			`balance, please recharge your account or check your plan and billing ` +
			`details","type":"exceeded_current_quota_error"}}`, model.NoCredit},
		"DeepSeek": {402, `{"error":{"message":"Insufficient ` +
			`Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, model.NoCredit},
		"OpenRouter": {402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You ` +
			`requested up to 32384 tokens, but can only afford 4201.","code":402}}`, model.NoCredit},
		"Gemini waits": {429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your ` +
			`plan and billing details. Please retry in 18.2s.","status":"RESOURCE_EXHAUSTED"}}]`, model.RateLimited},
	} {
		_, err := status(t, x.status, x.body)
		e, is := errors.AsType[*model.Error](err)
		expect.That(t, is && e.Kind == x.kind && e.Retryable == (x.kind == model.RateLimited), "%s: %v", about, err)
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
// content filtering, with the status as a number.
func TestFiltersOfRequestsAreRefusals(t *testing.T) {
	for about, x := range map[string]struct {
		status int
		body   string
		kind   model.Kind // of the error; empty: it is a refusal
	}{
		"OpenAI": {400, `{"error":{"message":"Invalid prompt: your prompt was flagged ` +
			`as potentially violating our usage policy.","type":"invalid_request_error","code":"invalid_prompt"}}`, ""},
		"Azure": {400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt",` +
			`"code":"content_filter","status":400}}`, ""},
		"a length": {400, `{"error":{"message":"x","type":null,"param":"prompt","code":"context_length_exceeded",` +
			`"status":400}}`, model.TooLong},
		"a key, not it": {403, `{"error":{"message":"Your account was flagged","code":403}}`, model.Forbidden},
	} {
		got, err := status(t, x.status, x.body)
		e, is := errors.AsType[*model.Error](err)
		expect.That(t, is == (x.kind != "") && (is && e.Kind == x.kind || got.Stop == model.StopRefused),
			"%s: %+v, %v", about,
			got, err)
	}
}

// status is what a server's answer of any status is taken for.
func status(t *testing.T, code int, body string) (model.Response, error) {
	return open(answers(t, fmt.Sprint(code, " ", body)).url).Say(t.Context(), modeltest.Request())
}
