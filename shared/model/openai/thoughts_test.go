package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/model/openai"
	"ringi/shared/runtime/expect"
)

// Older models refuse encrypted thoughts, another account's can't be decrypted, and each model has its limit. Each is
// asked once more without what it refused.
func TestAModelThatRefusesThoughtsOrTokensIsAskedWithout(t *testing.T) {
	refused := func(message, param, code string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","param":"` + param + `","code":"` + code + `"}}`
	}
	for about, tt := range map[string]struct {
		model, refusal string
		asked          []string // of each request: its limit, and whether it has encrypted thoughts
	}{
		"an older model":        {"o1-mini", refused("Encrypted content is not supported with this model.", "include", ""), []string{"32384 include thoughts", "32384"}},
		"another account":       {"gpt-5.4", refused("The encrypted content gAAA could not be verified.", "", "invalid_encrypted_content"), []string{"32384 include thoughts", "32384"}},
		"a limit that is named": {"o9", refused("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 20000, but got 32384 instead.", "max_output_tokens", "integer_above_max_value"), []string{"32384 include thoughts", "20000 include thoughts"}},
		"a model that is quiet": {"gpt-4o", "", []string{"16384 thoughts"}},
	} {
		t.Run(about, func(t *testing.T) {
			var asked []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var q struct {
					Tokens  int               `json:"max_output_tokens"`
					Include []string          `json:"include"`
					Input   []json.RawMessage `json:"input"`
				}
				expect.NoError(t, json.NewDecoder(r.Body).Decode(&q))
				said := expect.Value(json.Marshal(q.Tokens))(t)
				if strings.Join(q.Include, "") == "reasoning.encrypted_content" {
					said = append(said, " include"...)
				}
				for _, item := range q.Input {
					if strings.Contains(string(item), `"encrypted_content":"gAAA"`) {
						said = append(said, " thoughts"...)
					}
				}
				asked = append(asked, string(said))
				w.Header().Set("Content-Type", "application/json")
				if len(asked) == 1 && tt.refusal != "" {
					w.WriteHeader(http.StatusBadRequest)
					io.WriteString(w, tt.refusal)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}}\n\n")
			}))
			defer s.Close()
			r := model.Request{System: "s", MaxTokens: 16_000, Tools: []model.Tool{{Name: "t", Schema: json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)}},
				Messages: []model.Message{model.Words(model.User, "x"),
					{Role: model.Assistant, Parts: []model.Part{{Call: &model.Call{ID: "c", Name: "t", Input: json.RawMessage(`{}`), Opaque: model.Hang("openai "+tt.model, []model.Thought{{ID: "rs_1", Sealed: []byte("gAAA")}})}}}},
					{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "c", Text: "1"}}}}}}
			got := expect.Value(openai.New(openai.Config{BaseURL: s.URL, Model: tt.model, Key: "k", HTTP: http.DefaultClient}).Say(t.Context(), r, func(string) {}))(t)
			expect.Same(t, tt.asked, asked)
			expect.Is(t, got.Full, strings.HasPrefix(about, "a limit") || tt.model == "gpt-4o")
		})
	}
}
