package compatible_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// answered is what a server's answer is taken for.
func answered(t *testing.T, body string) (got model.Response, err error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}))
	defer s.Close()
	own := model.Priced(open(s.URL), []tenancy.ModelPrice{{Model: "compatible:box/llama3.2:3b", Input: "1",
		Output: "1"}})
	r := model.Request{System: "s", MaxTokens: 100, Messages: []model.Message{model.Words(model.User, "x")}}
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
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}))
	defer s.Close()
	return open(s.URL).Say(t.Context(), modeltest.Request())
}
