package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/responses"

	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/openai"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
)

func open(url string) model.Wire {
	return openai.New(openai.Config{BaseURL: url + "/v1", Model: "gpt-5.4", Key: modeltest.Secret, HTTP: provider.VendorClient()})
}

func TestContract(t *testing.T) {
	modeltest.Run(t, modeltest.Vendor{
		New: open,
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
		Good:     response(`"completed"`, `null`, `null`, `{"type":"reasoning","id":"rs_1","summary":[]},`+said(`{"type":"output_text","text":%TEXT%,"annotations":[]}`, "completed")),
		CutOff:   response(`"incomplete"`, `null`, `{"reason":"max_output_tokens"}`, said(`{"type":"output_text","text":%TEXT%,"annotations":[]}`, "incomplete")),
		Refused:  response(`"completed"`, `null`, `null`, said(`{"type":"refusal","refusal":"I can't."}`, "completed")),
		Usage:    model.Usage{Provider: "openai", Model: "gpt-5.4-2026-03-05", Input: 112, Cached: 2000, Written: 100, Output: 7},
		Error:    `{"error":{"message":"himitsu no irai","type":"t","param":null,"code":"%CODE%"}}`,
		Codes:    map[int]string{401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error"},
		NoCredit: 429, NoCreditCode: "insufficient_quota",
		Form: "text", Formless: `Invalid parameter: 'text.format' of type 'json_schema' is not supported with model ` +
			`version gpt-4-turbo.`,
		Published: modeltest.Differences[responses.Response], PublishedError: modeltest.Differences[failure],
	})
}

type failure struct {
	Error responses.Error `json:"error"`
}

// response is an answer with the members that every answer of OpenAI's has. Its input is 2112 tokens: 2000 read from
// the cache, 100 written to it, and 12 others.
func response(status, failed, incomplete, output string) string {
	return `{"id":"resp_1","object":"response","created_at":1790000000,"model":"gpt-5.4-2026-03-05","status":` + status + `,"error":` + failed + `,"incomplete_details":` + incomplete + `,
		"output":[` + output + `],"usage":{"input_tokens":2112,"input_tokens_details":{"cached_tokens":2000,"cache_write_tokens":100},"output_tokens":7,
		"output_tokens_details":{"reasoning_tokens":3},"total_tokens":2119},"access_programs":null,"instructions":"the rules","metadata":{},"parallel_tool_calls":true,
		"temperature":1,"tool_choice":"auto","tools":[],"top_p":1}`
}

func said(content, status string) string {
	return `{"type":"message","id":"msg_1","role":"assistant","status":"` + status + `","content":[` + content + `]}`
}

// A model writes commentary before its answer: messages of their own, with a phase.
func TestSeveralMessagesOfOneAnswer(t *testing.T) {
	message := func(id, phase, text string) string {
		return `{"type":"message","id":"` + id + `","role":"assistant","status":"completed","phase":"` + phase +
			`","content":[{"type":"output_text","text":` + text + `,"annotations":[]}]}`
	}
	items := func(last string) string {
		return message("m1", "commentary", `"I look."`) + `,{"type":"reasoning","id":"rs","summary":[]},` + message("m2",
			"final_answer", last)
	}
	delta := func(id, text string) string {
		return "event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","item_id":"` + id +
			`","output_index":0,"content_index":0,"delta":` + text + `}` + "\n\n"
	}
	flat := func(body string) string { return strings.Join(strings.Fields(body), " ") }
	for about, tt := range map[string]struct{ body, schema, want string }{
		"whole": {response(`"completed"`, `null`, `null`, items(`"Done."`)), "", "I look.\n\nDone."},
		"as JSON": {response(`"completed"`, `null`, `null`, items(`"{\"a\":1}"`)),
			`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`,
			`{"a":1}`},
		"in events": {delta("m1", `"I "`) + delta("m1", `"look."`) + delta("m2", `"Done."`) +
			`data: {"type":"response.completed","response":` + flat(response(`"completed"`, `null`, `null`,
			items(`"Done."`))) + "}\n\n", "", "I look.\n\nDone."},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, tt.body) }))
		defer s.Close()
		r := model.Request{Messages: []model.Message{model.Words(model.User, "x")}, MaxTokens: 10, Once: about != "in events"}
		if tt.schema != "" {
			r.Schema = []byte(tt.schema)
		}
		shown := ""
		got, err := open(s.URL).Say(t.Context(), r, func(text string) { shown = text })
		expect.That(t, err == nil && got.Text == tt.want && (shown == "" || shown == tt.want), "%s: %q, shown %q, %v",
			about, got.Text, shown, err)
	}
}

// A response with status 200 may still have failed, whatever it says of its own status. A retry helps only if the
// failure was the server's.
func TestAResponseThatFailed(t *testing.T) {
	for code, want := range map[string]struct {
		kind  model.Kind
		again bool
	}{
		"rate_limit_exceeded": {model.RateLimited, true}, "server_error": {model.Overloaded, true}, "vector_store_timeout": {model.Overloaded, true},
		"data_residency_mismatch": {model.BadRequest, false},
	} {
		t.Run(code, func(t *testing.T) {
			body := response(`"failed"`, `{"code":"`+code+`","message":"himitsu no irai"}`, `null`, ``)
			for _, d := range modeltest.Differences[responses.Response](body) {
				t.Error(d)
			}
			modeltest.Expect(t, open, body, want.kind, want.again)
			modeltest.Expect(t, open, strings.Replace(body, `"failed"`, `"completed"`, 1), want.kind, want.again)
		})
	}
}

// A response that failed because of a policy counts as refused, as a refusal in a message does.
func TestAResponseThatAPolicyEnded(t *testing.T) {
	for _, code := range []string{"bio_policy", "misalignment_policy_violation"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, response(`"failed"`, `{"code":"`+code+`","message":"himitsu no irai"}`, `null`, ``))
		}))
		r, err := open(s.URL).Say(t.Context(), modeltest.Request(), nil)
		s.Close()
		expect.That(t, err == nil && r.Stop == model.StopRefused, "%s: %+v, %v", code, r, err)
	}
}
