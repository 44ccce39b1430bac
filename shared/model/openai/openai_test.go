package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/openai"
	"ringi/shared/model/provider"
)

func TestContract(t *testing.T) {
	modeltest.Run(t, modeltest.Wire{
		New: func(url string) model.Generator {
			return openai.New(openai.Config{BaseURL: url + "/v1", Model: "gpt-5.4", Key: modeltest.Secret, HTTP: provider.VendorClient()})
		},
		Key: func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }, ID: "X-Request-Id", Path: "/v1/responses",
		Sent: `{
			"model": "gpt-5.4", "instructions": "the rules", "max_output_tokens": 17384, "store": false,
			"text": {"format": {"type": "json_schema", "name": "answer", "strict": true,
				"schema": {"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {"type": "string"}}}}},
			"input": [
				{"role": "user", "content": "<data>the tools</data>"}, {"role": "user", "content": "himitsu no irai"},
				{"role": "assistant", "content": "{}"}, {"role": "user", "content": "again"}
			]
		}`,
		Good: `{"id":"resp_1","object":"response","model":"gpt-5.4-2026-03-05","status":"completed","error":null,"incomplete_details":null,
			"output":[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","id":"m_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":%TEXT%,"annotations":[]}]}],
			"usage":{"input_tokens":2012,"input_tokens_details":{"cached_tokens":2000},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":2019}}`,
		CutOff: `{"id":"resp_1","object":"response","model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},
			"output":[{"type":"message","id":"m_1","role":"assistant","status":"incomplete","content":[{"type":"output_text","text":%TEXT%,"annotations":[]}]}]}`,
		Refused:  `{"id":"resp_1","object":"response","model":"m","status":"completed","output":[{"type":"message","id":"m_1","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I can't."}]}]}`,
		Usage:    model.Usage{Provider: "openai", Model: "gpt-5.4-2026-03-05", Input: 12, Cached: 2000, Output: 7},
		Error:    `{"error":{"message":"himitsu no irai","type":"t","param":null,"code":"%CODE%"}}`,
		Codes:    map[int]string{401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error"},
		NoCredit: 429, NoCreditCode: "insufficient_quota",
	})
}

// A response that failed on the way is answered with 200.
func TestAResponseThatFailed(t *testing.T) {
	for code, kind := range map[string]model.Kind{"rate_limit_exceeded": model.RateLimited, "server_error": model.Overloaded} {
		modeltest.Expect(t, func(url string) model.Generator {
			return openai.New(openai.Config{BaseURL: url + "/v1", Model: "gpt-5.4", Key: modeltest.Secret, HTTP: provider.VendorClient()})
		}, `{"id":"resp_1","object":"response","model":"m","status":"failed","error":{"code":"`+code+`","message":"himitsu no irai"},"output":[]}`, kind, true)
	}
}
