package provider_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"

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
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	defer s.Close()
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
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	f.Cleanup(s.Close)
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
