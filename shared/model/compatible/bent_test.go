package compatible_test

import (
	"errors"
	"fmt"
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

// answered is what a server's answer is taken for, whether a stream was asked for or not.
func answered(t *testing.T, body string, once bool) (got model.Response, shown string, err error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json") // some say so of streams
		io.WriteString(w, body)
	}))
	defer s.Close()
	own := model.Priced(open(s.URL), []tenancy.ModelPrice{{Model: "compatible:box/llama3.2:3b", Input: "1", Output: "1", Date: "2026-11-20"}})
	r := model.Request{System: "s", MaxTokens: 100, Once: once, Messages: []model.Message{model.Words(model.User, "x")}}
	got, err = model.Say(t.Context(), own, r, "p", func(text string) { shown += text + "|" })
	return got, shown, err
}

// streamed makes chunks of a stream, each of a delta; one that begins with ! is a chunk as it stands.
func streamed(deltas ...string) (body string) {
	for _, d := range deltas {
		chunk, raw := strings.CutPrefix(d, "!")
		if !raw {
			chunk = `{"choices":[{"index":0,"delta":` + d + `}]}`
		}
		body += "data: " + chunk + "\n\n"
	}
	return body + "data: [DONE]\n\n"
}

const ended = `!{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`

func whole(message string) string {
	return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`
}

// Servers that speak the protocol in their own way: LiteLLM, Mistral, vLLM, SGLang, Ollama, Groq, OpenRouter, Moonshot.
func TestAnAnswerInAnyFormIsRead(t *testing.T) {
	for about, tt := range map[string]struct{ body, want string }{
		"content in parts":             {whole(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"SECRET"}]},{"type":"text","text":"Hello"}]}`), "Hello"},
		"thoughts as a text":           {whole(`{"content":[{"type":"thinking","thinking":"SECRET"},{"type":"text","text":"Hel"},"lo"]}`), "Hello"},
		"a source between parts":       {whole(`{"content":[{"type":"text","text":"Hel"},{"type":"reference","reference_ids":[1]},{"type":"text","text":"lo"}]}`), "Hello"},
		"a part alone":                 {whole(`{"content":{"type":"text","text":"Hello"}}`), "Hello"},
		"thoughts beside it":           {whole(`{"content":"Hello","reasoning":"SECRET","refusal":null,"tool_calls":null,"function_call":null}`), "Hello"},
		"thoughts in tags":             {whole(`{"content":"<think>SECRET</think>\n\nHello"}`), "Hello"},
		"thoughts without a beginning": {whole(`{"content":"SECRET</think>\n\nHello"}`), "Hello"},
		"parts in a stream":            {streamed(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"SECRET"}]}]}`, `{"content":[{"type":"text","text":"Hel"}]}`, `{"content":"lo"}`, ended), "Hello"},
		"no beginning in a stream":     {streamed(`{"content":"SECRET"}`, `{"content":"</thi"}`, `{"content":"nk>Hello"}`, ended), "Hello"},
		"nulls":                        {streamed(`{"role":"assistant","content":null,"tool_calls":null,"reasoning_content":null}`, `{"content":"Hello"}`, `!{"choices":null,"usage":null,"error":null}`, ended), "Hello"},
		"an index as a text":           {streamed(`!{"choices":[{"index":"0","delta":{"content":"Hello"}}]}`, ended), "Hello"},
		"a second choice":              {streamed(`!{"choices":[{"index":1,"delta":{"content":"Bye"}},{"index":0,"delta":{"content":"Hello"}}]}`, ended), "Hello"},
		"arguments as an object":       {whole(`{"content":"","tool_calls":[{"id":7,"function":{"name":"f","arguments":{"a":1}}},{"id":7,"index":0,"function":{"name":"f","arguments":"{\"a\":2}"}}]}`), `f{"a":1}f{"a":2}`},
		"in a stream":                  {streamed(`{"tool_calls":[{"index":"0","id":1,"function":{"name":"f","arguments":{"a":1}}}]}`, ended), `f{"a":1}`},
		"an id that changes":           {streamed(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"code_generate","arguments":""}}]}`, `{"tool_calls":[{"index":0,"id":"B","function":{"name":null,"arguments":"{\"a\":1}"}}]}`, ended), `code_generate{"a":1}`},
		"calls of two, interleaved":    {streamed(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","arguments":"{\"a\""}},{"index":1,"id":"B","function":{"name":"g","arguments":"{\"b\""}}]}`, `{"tool_calls":[{"index":1,"function":{"arguments":":2}"}},{"index":0,"function":{"arguments":":1}"}}]}`, ended), `f{"a":1}g{"b":2}`},
		"a call of the old form":       {streamed(`{"function_call":{"name":"f","arguments":"{\"a\""}}`, `{"function_call":{"arguments":":1}"}}`, ended), `f{"a":1}`},
		"a message beside each delta":  {streamed(`!{"choices":[{"message":{"content":"Hel"},"delta":{"content":"Hel"},"finish_reason":null}]}`, `!{"object":"chat.completion.done","choices":[{"message":{"content":"Hello"},"delta":{"content":"lo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`), "Hello"},
		"and behind them":              {streamed(`{"content":"Hel"}`, `{"content":"lo"}`, `!{"choices":[{"message":{"content":"Hello"},"delta":{"role":"assistant","content":""}}]}`, `!{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`), "Hello"},
		"beside an empty delta":        {streamed(`!{"choices":[{"message":{"content":"Hello"},"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`), "Hello"},
		"each delta repeats all":       {streamed(`{"content":"The limit"}`, `{"content":"The limit is 50"}`, `{"content":"The limit is 50 yen."}`, ended), "The limit is 50 yen."},
		"deltas that only look so":     {streamed(`{"content":"ha"}`, `{"content":"haha"}`, `{"content":"hahaha"}`, ended), "hahahahahaha"},
		"a line of equal deltas":       {streamed(`{"content":"--------------------"}`, `{"content":"--------------------"}`, `{"content":"--------------------"}`, ended), strings.Repeat("-", 60)},
		"a word for no end so far":     {streamed(`!{"choices":[{"delta":{"content":"Hello"},"finish_reason":"null"}]}`, ended), "Hello"},
		"a gateway's word for it":      {strings.Replace(whole(`{"content":"Hello"}`), `"stop"`, `"end"`, 1), "Hello"},
		"another word for its end":     {strings.Replace(whole(`{"content":"Hello"}`), `"stop"`, `"eos_token"`, 1), "Hello"},
		"usage as text":                {strings.ReplaceAll(strings.Replace(whole(`{"content":"Hello"}`), `:5`, `:"5"`, 1), `:3}`, `:3.0}`), "Hello"},
		"a dash in it": {streamed(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","arguments":"{}"}}]}`,
			`!{"choices":[{"delta":{},"finish_reason":"tool-calls"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`),
			`f{}`},
		"half an emoji": {streamed(`{"content":"Hello\ud83d"}`, `{"content":"\ude00\uD83D"}`,
			`{"content":"\uDE00"}`, ended), "Hello😀😀"},
		"half an emoji in arguments": {
			streamed(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":\"\ud83d"}}]}`,
				`{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]}`, ended), `f{"a":"😀"}`},
		"a half that stays one": {streamed(`{"content":"Hello\ud83d"}`, `{"content":"!"}`, ended), "Hello\ufffd!"},
		"an empty error": {streamed(`!{"error":{},"choices":[{"delta":{"content":"Hel"}}]}`,
			`!{"error":"","choices":[{"delta":{"content":"lo"}}]}`, ended), "Hello"},
		"empty errors within": {streamed(`!{"choices":[{"error":null,"delta":{"content":"Hel","error":{}}}]}`,
			`!{"choices":[{"error":{"code":0,"message":""},"delta":{"content":"lo"}}]}`, ended), "Hello"},
		"an error of nothing": {strings.Replace(whole(`{"content":"Hello"}`), `{`,
			`{"error":{"message":"","type":"","param":null,"code":0},`, 1), "Hello"},
		"a text that is null": {
			whole(`{"content":[null,{"type":"text","text":null},{"type":"output_text","text":"Hello"},{"type":"text"}]}`),
			"Hello",
		},
		"thoughts beside it and in tags": {
			whole(`{"reasoning_content":"SECRET","content":"<think>SECRET</think>Hello"}`), "Hello"},
		"both in a stream": {streamed(`{"reasoning_content":"SECRET"}`, `{"content":"<thi"}`,
			`{"content":"nk>SECRET</think>"}`, `{"content":"Hello"}`, ended), "Hello"},
		"the end of thoughts in the text": {streamed(`{"reasoning":"SECRET"}`, `{"content":"</thi"}`,
			`{"content":"nk>\n\nHello"}`, ended), "Hello"},
		"a quoted end in the text": {
			whole(`{"reasoning":"SECRET","content":"Write</think>"}`), "Write</think>"},
		"a text with its value": {
			whole(`{"content":[{"type":"text","text":{"value":"Hello","annotations":[]}},{"type":"text","text":null}]}`),
			"Hello"},
		"empty arguments before the arguments": {
			streamed(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","arguments":"{}"}}]}`,
				`{"tool_calls":[{"index":0,"id":"B","function":{"arguments":"{\"a\":1}"}}]}`, ended), `f{"a":1}`},
		"an index that goes on": {
			streamed(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","arguments":""}}]}`,
				`{"tool_calls":[{"index":1,"id":"A","function":{"arguments":"{\"a\":1}"}}]}`, ended), `f{"a":1}`},
		"a part that is a thought": {
			whole(`{"content":[{"type":"text","text":"SECRET","thought":true},{"type":"text","text":"Hello","thought":false}]}`),
			"Hello"},
		"a text in the choice": {streamed(`!{"object":"text_completion","choices":[{"text":"Hel"}]}`,
			`!{"choices":[{"text":"lo","finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`), "Hello"},
		"Gemini's thoughts": {streamed(`{"content":"SECRET","extra_content":{"google":{"thought":true}}}`,
			`{"content":"Hello","extra_content":{"google":{"thought_signature":"x"}}}`, ended), "Hello"},
		"Gemini's calls": {
			streamed(`{"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`,
				`{"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{\"a\":2}"}}]}`, ended),
			`f{"a":1}f{"a":2}`},
		"MiniMax's": {strings.Replace(whole(`{"content":"Hello"}`), `{`,
			`{"input_sensitive":false,"output_sensitive_int":0,"base_resp":{"status_code":0,"status_msg":""},`, 1), "Hello"},
		"usage of Responses": {strings.NewReplacer("prompt_tokens", "input_tokens", "completion_tokens",
			"output_tokens").Replace(whole(`{"content":"Hello"}`)), "Hello"},
		"usage in the choice": {streamed(`{"content":"Hello"}`,
			`!{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":3}}]}`), "Hello"},
		"arguments beside the function": {streamed(
			`{"tool_calls":[{"index":0,"id":"A","function":{"name":"f"},"arguments":"{\"a\":1}"}]}`, ended), `f{"a":1}`},
		"and empty ones in it": {streamed(
			`{"tool_calls":[{"id":"A","function":{"name":"f","arguments":"{}"},"arguments":{"a":1}}]}`, ended), `f{"a":1}`},
		"arguments as parameters": {streamed(
			`{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","parameters":{"a":1}}}]}`, ended), `f{"a":1}`},
		"a call without a function": {whole(`{"tool_calls":[{"id":"A","type":"function","name":"f","input":{"a":1}}]}`),
			`f{"a":1}`},
		"a call in the last message alone": {streamed(`{"content":"Hello"}`, `!{"choices":[{"delta":{},"message":{"content":`+
			`"Hello","tool_calls":[{"id":"A","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":5,"completion_tokens":3}}`), `Hellof{"a":1}`},
		"and no delta beside it": {streamed(`{"content":"Hello"}`, `!{"choices":[{"message":{"content":`+
			`"Hello","tool_calls":[{"id":"A","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":5,"completion_tokens":3}}`), `Hellof{"a":1}`},
		"the vendor's own word for its end": {streamed(`{"content":"Hello"}`, `!{"choices":[{"delta":{},"finish_reason":`+
			`"stop","native_finish_reason":"COMPLETE"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`), "Hello"},
		"usage beside": {streamed(`{"content":"Hello"}`,
			`!{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":3}}}`),
			"Hello"},
	} {
		for _, once := range []bool{true, false} {
			got, shown, err := answered(t, tt.body, once)
			said := got.Text
			for _, c := range got.Calls {
				said += c.Name + string(c.Input)
			}
			expect.That(t, err == nil && said == tt.want && got.Stop == model.StopEnd && !strings.Contains(shown, "SECRET") && got.Usage.Input == 5 && got.Usage.Output == 3,
				"%s (once: %v): %+v, shown %q, %v", about, once, got, shown, err)
		}
	}
}

// What is no whole answer is none. It isn't paid for five times either, and what it cost is counted.
func TestWhatIsNoAnswerIsSaid(t *testing.T) {
	half := `{"content":"Never pay more than 1"}`
	reason := func(r string) string { return `!{"choices":[{"delta":{},"finish_reason":` + r + `}]}` }
	for about, tt := range map[string]struct {
		body  string
		kind  model.Kind
		again bool
		paid  bool
	}{
		"a worse reason of the vendor behind it": {streamed(half, `!{"choices":[{"delta":{},"finish_reason":"stop",`+
			`"native_finish_reason":"MALFORMED_FUNCTION_CALL"}]}`), model.BrokenOff, false, true},
		"Groq's error beside a reason": {streamed(half, `!{"choices":[{"delta":{},"finish_reason":"stop"}],`+
			`"x_groq":{"id":"1","error":"over capacity"}}`), model.Overloaded, true, true},
		"an end that takes back a call": {streamed(half, reason(`"tool_calls"`), reason(`"stop"`)), model.BrokenOff, false,
			true},
		"an error as its reason":      {streamed(half, reason(`"error"`)), model.BrokenOff, false, true},
		"a reason that is null":       {strings.Replace(whole(half), `"stop"`, "null", 1), model.BrokenOff, false, true},
		"a stream without a reason":   {streamed(half), model.BrokenOff, false, true},
		"nor an end":                  {strings.TrimSuffix(streamed(half), "data: [DONE]\n\n"), model.BrokenOff, false, true},
		"a reason that promises more": {streamed(half, reason(`"tool_calls"`)), model.BrokenOff, false, true},
		"an error after the end":      {streamed(half, reason(`"stop"`), `!{"error":{"code":502,"message":"x"}}`), model.Overloaded, true, true},
		"a status inside":             {`{"error":{"message":"x","code":429}}`, model.RateLimited, true, false},
		"a key that is refused":       {`{"error":{"message":"x","code":401}}`, model.Unauthorized, false, false},
		"in a stream, after words":    {streamed(half, `!{"choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":400,"message":"invalid"}}`), model.BadRequest, false, true},
		"in the choice": {strings.Replace(whole(half), `"stop"`, `"stop","error":{"code":502,"message":"himitsu"}`, 1),
			model.Overloaded, true, true},
		"in the choice, without words": {strings.Replace(whole(`{"content":""}`), `"stop"`,
			`"error","error":{"code":429,"message":"x"}`, 1), model.RateLimited, true, true},
		"in the choice of a stream": {streamed(half,
			`!{"choices":[{"delta":{"content":"himitsu"},"finish_reason":"stop","error":{"code":401,"message":"x"}}]}`),
			model.Unauthorized, false, true},
		"in a delta": {streamed(half, `{"content":"himitsu","error":{"code":"503","message":"x"}}`, ended),
			model.Overloaded, true, true},
		"in a message": {whole(`{"content":"himitsu","error":"rate_limit_exceeded"}`), model.Unreadable, false, true},
		"MiniMax's rate limit": {`{"id":"1","choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`,
			model.RateLimited, true, false},
		"MiniMax's key": {`{"base_resp":{"status_code":1004,"status_msg":"login fail: himitsu"}}`, model.Unauthorized,
			false, false},
		"MiniMax's balance": {streamed(`!{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`),
			model.NoCredit, false, false},
		"MiniMax's parameters": {`{"choices":[],"base_resp":{"status_code":"2013","status_msg":"invalid params"}}`,
			model.BadRequest, false, false},
		"MiniMax's, after words": {streamed(half, `!{"choices":null,"base_resp":{"status_code":1033,"status_msg":"x"}}`),
			model.Overloaded, true, true},
		"an error that is a text": {`{"error":"overloaded"}`, model.Overloaded, true, false},
		"one that says nothing":   {`{"error":"himitsu"}`, model.Unreadable, false, true},
		"vLLM's": {streamed(`!{"object":"error","message":"x","type":"InternalServerError","code":500}`),
			model.Overloaded, true, false},
		"an event of an error": {"event: error\ndata: {\"message\":\"x\",\"code\":\"rate_limit_exceeded\"}\n\n",
			model.RateLimited, true, false},
		"a call that isn't readable": {
			whole(`{"tool_calls":[{"id":"A","function":{"name":"f","arguments":"{}{himitsu"}}]}`), model.BrokenOff, false,
			true},
		"a call without a name": {streamed(`{"tool_calls":[{"index":0,"id":"A","function":{"name":"f","arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":1,"id":"B","function":{"arguments":"{\"himitsu\":1}"}}]}`, ended), model.BrokenOff,
			false, true},
		"a page":                   {"<html>himitsu", model.Unreadable, false, true},
		"content that is a number": {whole(`{"content":7}`), model.Unreadable, false, true},
		"a part of an unknown kind": {whole(`{"content":[{"type":"audio","himitsu no irai":1}]}`), model.Unreadable, false,
			true},
		"half of its JSON": {whole(half)[:60], model.Unreadable, false, true},
		"another protocol": {`{"candidates":[]}`, model.Unreadable, false, true},
		"nothing":          {"", model.Overloaded, true, false},
	} {
		for _, once := range []bool{true, false} {
			got, shown, err := answered(t, tt.body, once)
			e, is := errors.AsType[*model.Error](err)
			expect.That(t, is && e.Kind == tt.kind && e.Retryable == tt.again && (got.Usage.Cost > 0) == tt.paid && !strings.Contains(err.Error()+shown, "himitsu"),
				"%s (once: %v): %+v, %v", about, once, got.Usage, err)
			if f := model.Failure(err); is && tt.kind == model.Unreadable {
				expect.That(t, f.Reason == "model_bad_output" && f.Detail != "" && len(f.Detail) < 200 && !f.Transient, "%s: people are told %+v", about, f)
			}
		}
	}
}

// The words that vendors publish for their filters mean a refusal, which nobody asks for again.
func TestFiltersAreRefusals(t *testing.T) {
	for reason, want := range map[string]model.Stop{
		"SAFETY": model.StopRefused, "PROHIBITED_CONTENT": model.StopRefused, "RECITATION": model.StopRefused, "BLOCKLIST": model.StopRefused,
		"SPII": model.StopRefused, "IMAGE_SAFETY": model.StopRefused, "content_filter: PROHIBITED_CONTENT": model.StopRefused, "sensitive": model.StopRefused,
		"function_call_filter: MALFORMED_FUNCTION_CALL": model.StopBroken,
	} {
		got, _, err := answered(t, strings.Replace(whole(`{"content":""}`), `"stop"`, `"`+reason+`"`, 1), true)
		expect.That(t, got.Stop == want && (err == nil) == (want == model.StopRefused), "%s: %s %q, %v", reason, got.Stop, got.Why, err)
	}
}

// MiniMax's filters answer with status 200 and a code of their own.
func TestMiniMaxsFiltersAreRefusals(t *testing.T) {
	for _, code := range []string{"1026", "1027"} {
		for _, once := range []bool{true, false} {
			got, _, err := answered(t,
				`{"choices":null,"output_sensitive":true,"base_resp":{"status_code":`+code+`,"status_msg":"new_sensitive"}}`,
				once)
			expect.That(t, err == nil && got.Stop == model.StopRefused, "%s: %s, %v", code, got.Stop, err)
		}
	}
}

// Filters of requests answer with codes that others have for keys.
func TestFiltersOfRequestsAreRefusals(t *testing.T) {
	for about, x := range map[string]struct {
		status int
		body   string
	}{
		"OpenRouter": {403, `{"error":{"message":"Input was flagged by moderation","code":403,` +
			`"metadata":{"reasons":["violence"],"flagged_input":"himitsu"}}}`},
		"in a stream": {200, streamed(`!{"error":{"code":403,"message":"moderation",` +
			`"metadata":{"reasons":["violence"],"flagged_input":"himitsu"}},"choices":[{"delta":{},"finish_reason":"error"}]}`)},
		"xAI": {403, `{"code":"The caller does not have permission to execute the specified operation",` +
			`"error":"Content violates usage guidelines. Team: t, API key ID: k, Failed check: SAFETY_CHECK_TYPE_BIO"}`},
		"OpenAI": {400, `{"error":{"message":"Invalid prompt: your prompt was flagged ` +
			`as potentially violating our usage policy.","type":"invalid_request_error","code":"invalid_prompt"}}`},
		"a key, not it": {403, `{"error":{"message":"Your account was flagged","code":403}}`},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(x.status)
			io.WriteString(w, x.body)
		}))
		got, err := open(s.URL).Say(t.Context(), modeltest.Request(), nil)
		s.Close()
		if e, is := errors.AsType[*model.Error](err); about == "a key, not it" {
			expect.That(t, is && e.Kind == model.Forbidden, "%s: %v", about, err)
			continue
		}
		expect.That(t, err == nil && got.Stop == model.StopRefused, "%s: %+v, %v", about, got, err)
	}
}

// Servers that say "stop" in each chunk, as Gemini did, or with the last words, may break off behind any of them.
func TestAStopWithWordsExcusesNoBrokenConnection(t *testing.T) {
	words := `{"choices":[{"delta":{"content":"Delete all"},"finish_reason":%s,"index":0}]}`
	alone := `{"choices":[{"delta":{},"finish_reason":"stop","index":0}]}`
	for about, x := range map[string]struct {
		chunks []string
		whole  bool
	}{
		"in each chunk":  {[]string{fmt.Sprintf(words, `"stop"`), fmt.Sprintf(words, `"stop"`)}, false},
		"with its words": {[]string{fmt.Sprintf(words, `null`), fmt.Sprintf(words, `"stop"`)}, false},
		"before others":  {[]string{alone, fmt.Sprintf(words, `null`)}, false},
		"behind all":     {[]string{fmt.Sprintf(words, `null`), alone}, true},
		"and empty ones": {[]string{fmt.Sprintf(words, `null`), alone, `{"choices":[{"delta":{}}]}`, `{"choices":[]}`}, true},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			io.WriteString(w, "data: "+strings.Join(x.chunks, "\n\ndata: ")+"\n\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}))
		got, err := open(s.URL).Say(t.Context(), modeltest.Request(), func(string) {})
		s.Close()
		expect.That(t, (err == nil) == x.whole, "%s: %q %s, %v", about, got.Text, got.Stop, err)
	}
}

// Groq refuses what the model answered, with 400 or in the stream. The model is asked once more.
func TestAnAnswerThatTheServerRefusesIsAskedForOnceMore(t *testing.T) {
	for about, x := range map[string]struct {
		status     int
		body, code string
	}{
		"a call":      {400, `{"error":{"message":"tool call validation failed: attempted to call tool 'brain' which was not in request.tools","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=brain>{}</function>"}}`, "tool_use_failed"},
		"in a stream": {200, streamed(`{"role":"assistant","content":""}`) + "event: error\ndata: {\"error\":{\"message\":\"x\",\"type\":\"invalid_request_error\",\"code\":\"tool_use_failed\",\"status_code\":400}}\n\n", "tool_use_failed"},
		"JSON":        {400, `{"error":{"message":"Failed to generate JSON.","type":"invalid_request_error","code":"json_validate_failed","failed_generation":""}}`, "json_validate_failed"},
	} {
		x.body = strings.Replace(x.body, "data: [DONE]\n\n", "", 1)
		for _, heals := range []bool{true, false} {
			n := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if n++; n == 2 && heals {
					io.WriteString(w, whole(`{"content":"Hello"}`))
					return
				}
				w.WriteHeader(x.status)
				io.WriteString(w, x.body)
			}))
			r := model.Request{MaxTokens: 100, Schema: []byte(`{"type":"object"}`), Messages: []model.Message{model.Words(model.User, "x")}}
			got, err := model.SayWhole(t.Context(), open(s.URL), r, "p", nil)
			s.Close()
			f := model.Failure(err)
			expect.That(t, n == 2 && (heals && err == nil && got.Text == "Hello" || !heals && model.Broke(err) && f.Detail == x.code && !f.Transient),
				"%s: %d requests, %+v, %v", about, n, got, err)
		}
	}
}
