package turn_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
)

// Each vendor refuses a request for its length in words of its own, once, and none of its words are kept.
func TestARefusalForLengthIsRecognized(t *testing.T) {
	for about, tt := range map[string]struct {
		vendor, body string
		status       int
	}{
		"OpenAI's code": {"openai",
			`{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`, 400},
		"OpenAI's sentence": {"openai",
			`{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":null,"code":null}}`, 400},
		"Anthropic's": {"anthropic",
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, 400},
		"with the answer": {"anthropic",
			`{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" +
				` exceed context limit: 190000 + 16000 > 200000"}}`, 400},
		"Anthropic's bytes": {"anthropic",
			`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, 413},
		"Bedrock's":      {"bedrock", `{"message":"Input is too long for requested model."}`, 400},
		"Claude's there": {"bedrock", `{"message":"The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum"}`, 400},
		"Azure's":        {"compatible", `{"error":{"message":"x","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 400},
		"vLLM's":         {"compatible", `{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 24000 tokens","type":"BadRequestError","param":null,"code":400}`, 400},
		"llama.cpp's":    {"compatible", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, 400},
		"Gemini's":       {"compatible", `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, 400},
	} {
		t.Run(about, func(t *testing.T) {
			calls := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Amzn-Errortype", "ValidationException")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer s.Close()
			for _, v := range vendors {
				if v.name != tt.vendor {
					continue
				}
				_, err := v.of(s.URL, "k", provider.VendorClient()).Say(t.Context(),
					model.Request{MaxTokens: 10, Messages: []model.Message{model.Words(model.User, "x")}}, func(string) {})
				e, is := err.(*model.Error)
				most := 1
				if about == "vLLM's" { // it counts the answer, so the room for thoughts is tried without
					most = 2
				}
				expect.Must(t, is && e.Kind == model.TooLong && !e.Retryable && calls == most, "%v after %d calls", err, calls)
				expect.That(t, !strings.Contains(err.Error(), "tokens"), "%v", err)
			}
		})
	}
	expect.That(t, !model.LengthRefused("max_tokens: must be greater than or equal to 1"),
		"another refusal is taken for one of length")
}
