package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/runtime/expect"
)

// stream is an answer with thoughts before and between two calls.
const stream = `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a <b> & "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"c"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIG=="}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ENC=="}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"so"}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"t","input":{}}}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"thinking","thinking":"","signature":"SIG2"}}

event: content_block_start
data: {"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"b","name":"t","input":{}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`

// Thoughts come back where they were and as they were, encrypted ones too. Where anything before them has changed, they
// stay out, because the vendor refuses them then.
func TestThoughtsComeBackAsTheyWere(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, string(body))
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, stream)
	}))
	defer s.Close()
	w := anthropic.New(anthropic.Config{BaseURL: s.URL, Model: "claude-opus-5-5", Key: "k", HTTP: http.DefaultClient})
	r := model.Request{System: "s", MaxTokens: 4_000, Tools: []model.Tool{{Name: "t", Schema: json.RawMessage(`{"type":"object","properties":{},"required":[]}`)}}, Messages: []model.Message{model.Words(model.User, "x")}}
	got := expect.Value(w.Say(t.Context(), r, func(string) {}))(t)
	expect.Must(t, len(got.Calls) == 2 && got.Calls[0].Opaque != nil && got.Calls[1].Opaque != nil, "%+v", got.Calls)
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Text: got.Text}, {Call: &got.Calls[0]}, {Call: &got.Calls[1]}}},
		model.Message{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "a", Text: "1"}}, {Result: &model.Result{CallID: "b", Text: "2"}}}})
	sent := func() (types []string, body string) {
		expect.Value(w.Say(t.Context(), r, func(string) {}))(t)
		var q struct {
			Messages []struct {
				Content []struct{ Type, Thinking, Signature, Data string }
			}
		}
		body = asked[len(asked)-1]
		expect.NoError(t, json.Unmarshal([]byte(body), &q))
		for _, b := range q.Messages[1].Content {
			types = append(types, strings.TrimSpace(b.Type+" "+b.Thinking+b.Signature+b.Data))
		}
		return types, body
	}
	types, body := sent()
	expect.Same(t, []string{"thinking a <b> & cSIG==", "redacted_thinking ENC==", "text", "tool_use", "thinking SIG2", "tool_use"}, types)
	expect.Has(t, body, `"max_tokens":20384`)
	r.System = "other rules"
	types, _ = sent()
	expect.Same(t, []string{"text", "tool_use", "tool_use"}, types)
}
