package turn_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors/models"
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
		"Bedrock's": {"bedrock", `{"message":"Input is too long for requested model."}`, 400},
		"Claude's there": {"bedrock", `{"message":"The model returned the following errors: prompt is too long: ` +
			`210000 tokens > 200000 maximum"}`, 400},
		"Azure's": {"compatible", `{"error":{"message":"x","type":"invalid_request_error","param":"messages",` +
			`"code":"context_length_exceeded"}}`, 400},
		"vLLM's": {"compatible", `{"object":"error","message":"This model's maximum context length is 8192 ` +
			`tokens. However, you requested 24000 tokens","type":"BadRequestError","param":null,"code":400}`, 400},
		"llama.cpp's": {"compatible", `{"error":{"code":400,"message":"the request exceeds the available context ` +
			`size","type":"exceed_context_size_error"}}`, 400},
		"Gemini's": {"compatible", `[{"error":{"code":400,"message":"The input token count (1200000) exceeds ` +
			`the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, 400},
		"vLLM's, newer": {"compatible", `{"error":{"message":"You passed 131073 input tokens and requested 0 output ` +
			`tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of ` +
			`131072 tokens. (parameter=input_tokens, ` +
			`value=131073)","type":"BadRequestError","param":"input_tokens","code":400}}`, 400},
		"its engine's": {"compatible", `{"error":{"message":"The decoder prompt (length 100001) is longer than the ` +
			`maximum model length of 100000. Make sure that ` + "`max_model_len`" + ` is no smaller","type":"BadRequestErro` +
			`r","param":null,"code":400}}`, 400},
		"DashScope's": {"compatible", `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of ` +
			`input length should be [1, ` +
			`129024]","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"},"request_id":"x"}`, 400},
		"Moonshot's": {"compatible", `{"error":{"message":"Invalid request: Your request exceeded model token ` +
			`limit: 262144 (requested: 291351)","type":"invalid_request_error"}}`, 400},
		"LM Studio's": {"compatible", `{"error":"The number of tokens to keep from the initial prompt is greater ` +
			`than the context length. Try to load the model with a larger context length, or provide a shorter input"}`, 400},
		"Ollama's": {"compatible", `{"error":{"message":"prompt too long; exceeded max context length by ` +
			`100918 tokens","type":"api_error","param":null,"code":null}}`, 400},
		"xAI's": {"compatible", `{"code":"Client specified an invalid argument","error":"This model's ` +
			`maximum prompt length is 131072 but the request contains 140000 tokens."}`, 400},
		"Together's": {"compatible", `{"error":{"message":"The input (516368 tokens) is longer than the model's ` +
			`context length (262144 tokens).","type":"BadRequestError","param":null,"code":400}}`, 400},
		"SGLang's": {"compatible", `{"object":"error","message":"Input length (100500 tokens) exceeds the ` +
			`maximum allowed length (99999 tokens). Use a shorter input","type":"BadRequestError","param":null,` +
			`"code":400}`, 400},
		"MiniMax'": {"compatible", `{"type":"error","error":{"type":"bad_request_error","message":"invalid ` +
			`params, context window exceeds limit (2013)","http_code":"400"},"request_id":"x"}`, 400},
		"Copilot's": {"compatible", `{"error":{"message":"prompt token count of 130000 exceeds the limit of ` +
			`128000","code":"model_max_prompt_tokens_exceeded"}}`, 400},
		"Zhipu's": {"compatible", `{"error":{"code":"1261","message":"Prompt 超长"}}`, 400},
		"Mistral's": {"compatible", `{"object":"error","message":"Prompt contains 140000 tokens and 0 draft ` +
			`tokens, too large for model with 131072 maximum context ` +
			`length","type":"invalid_request_prompt","param":null,"code":"3051"}`, 400},
		"Cohere's": {"compatible", `{"id":"x","message":"too many tokens: total number of tokens in the prompt ` +
			`cannot exceed 132096 - received 140000. Try using a shorter prompt."}`, 400},
		"TGI's": {"compatible", "{\"error\":\"Input validation error: `inputs` must have less than 99999 " +
			"tokens. Given: 100500\",\"error_type\":\"validation\"}", 422},
		"Together's, as TGI": {"compatible", `{"error":{"message":"Input validation error: inputs tokens + max_new_tokens ` +
			`must be <= 8193. Given: 9000 inputs tokens and 512 max_new_tokens","type":"invalid_request_error"}}`, 422},
		"a gateway's": {"compatible", `{"error":{"message":"litellm.InternalServerError: the request exceeds the ` +
			`available context size","code":"500"}}`, 500},
		"llama.cpp's, new": {"compatible", `{"error":{"code":400,"message":"input (100500 tokens) is larger than the ` +
			`max context size (100000 tokens). skipping","type":"exceed_context_size_error"}}`, 400},
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
			for _, v := range wires {
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
				expect.That(t, !strings.Contains(err.Error(), " token"), "%v", err) // a code may have it
			}
		})
	}
	for _, said := range []string{"max_tokens: must be greater than or equal to 1", "max_tokens: 32384 exceeds the " +
		"limit of 8192",
		"Range of max_tokens should be [1, 8192]", "temperature: Input should be less than or equal to 1",
		"Invalid 'input[3].id': string too long. Expected a string with maximum length 64.",
		"Invalid 'tools[0].function.description': string too long.", "Invalid 'prompt_cache_key': string too long.",
		"tools.0.custom.input_schema: JSON schema is invalid. It exceeds what is allowed."} {
		expect.That(t, !model.LengthRefused(said), "another refusal is taken for one of length: %s", said)
	}
}

// A server of a small window refuses the request with the room for its answer, and gives an answer of what is left.
func TestASmallWindowHasRoomForAnAnswer(t *testing.T) {
	for window, fits := range map[int]bool{32_768: true, 24_576: true, 20_480: true, 4_096: false} {
		onEach(t, func(t *testing.T, w *world) {
			if w.name != "compatible" {
				return
			}
			w.Strictly(models.Rules{Window: window})
			w.Scripted(models.Script{Texts: []string{"はい"}})
			reply, _, err := w.answer(t, turnOf(user("こんにちは")))
			e, is := errors.AsType[*model.Error](err)
			expect.That(t, fits && err == nil && reply.Text == "はい" || !fits && is && e.Kind == model.TooLong, "%d: %+v, %v",
				window, reply, err)
		})
	}
}
