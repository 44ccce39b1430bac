package anthropic_test

import (
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/shared"

	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/provider"
)

func wire() modeltest.Vendor {
	return modeltest.Vendor{
		New: func(url string) model.Wire {
			return anthropic.New(anthropic.Config{BaseURL: url, Model: "claude-sonnet-4-6", Key: modeltest.Secret, HTTP: provider.VendorClient()})
		},
		Key: func(h http.Header) string { return h.Get("X-Api-Key") }, ID: "Request-Id", Path: "/v1/messages",
		Sent: `{
			"model": "claude-sonnet-4-6", "max_tokens": 1000,
			"system": [{"type": "text", "text": "the rules", "cache_control": {"type": "ephemeral"}}],
			"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {"type": "string"}}}}},
			"messages": [
				{"role": "user", "content": [{"type": "text", "text": "<data>the tools</data>", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "himitsu no irai"}]},
				{"role": "assistant", "content": [{"type": "text", "text": "{}"}]},
				{"role": "user", "content": [{"type": "text", "text": "again"}]}
			]
		}`,
		Good: message(`{"type":"thinking","thinking":"…","signature":"s"},{"type":"text","text":%TEXT%,"citations":null}`, `"end_turn"`, `null`,
			`"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"output_tokens":7`),
		CutOff: message(`{"type":"text","text":%TEXT%,"citations":null}`, `"max_tokens"`, `null`,
			`"input_tokens":1,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":1`),
		Refused: message(``, `"refusal"`, `{"type":"refusal","category":"cyber","explanation":null}`,
			`"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0`),
		Usage: model.Usage{Provider: "anthropic", Model: "claude-sonnet-4-6-20260217", Input: 112, Cached: 2000, Written: 100, Output: 7},
		Error: `{"type":"error","error":{"type":"%CODE%","message":"himitsu no irai"},"request_id":"req_2"}`,
		Codes: map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
		},
		NoCredit: 402, NoCreditCode: "billing_error",
		Form: "output_config", Formless: `'claude-sonnet-4-20250514' does not support output format.`,
		Published: modeltest.Differences[sdk.Message], PublishedError: modeltest.Differences[shared.ErrorResponse],
	}
}

// message is an answer with the members that every answer of Anthropic's has.
func message(content, stop, details, usage string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6-20260217","container":null,"diagnostics":null,"content":[` + content + `],
		"stop_reason":` + stop + `,"stop_sequence":null,"stop_details":` + details + `,"usage":{` + usage + `,"cache_creation":null,"inference_geo":null,
		"output_tokens_details":null,"server_tool_use":null,"service_tier":"standard","speed":null}}`
}

func TestContract(t *testing.T) { modeltest.Run(t, wire()) }

// Anthropic reports an account without money only in the message, with no code of its own.
func TestTheCreditBalance(t *testing.T) {
	w := wire()
	w.Error = `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."},"request_id":"req_2"}`
	w.NoCredit, w.NoCreditCode, w.Codes = 400, "", nil
	w.RunNoCredit(t)
}
