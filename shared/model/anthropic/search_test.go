package anthropic_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/runtime/expect"
)

// The vendor searches, as often as it may, and each search is paid; a search that failed has no pages.
func TestTheVendorsOwnSearch(t *testing.T) {
	var sent struct{ Tools []map[string]any }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expect.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[
			{"type":"text","text":"I look it up. "},
			{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"overtime"}},
			{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[
				{"type":"web_search_result","url":"https://example.com/a","title":"A","encrypted_content":"x","page_age":"May 1, 2026"}]},
			{"type":"server_tool_use","id":"srvtoolu_2","name":"web_search","input":{"query":"more"}},
			{"type":"web_search_tool_result","tool_use_id":"srvtoolu_2","content":
				{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}},
			{"type":"text","text":"It is 45 hours.","citations":[]}],
			"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":100,"server_tool_use":{"web_search_requests":2,"web_fetch_requests":0}}}`))
	}))
	defer s.Close()
	w := anthropic.New(anthropic.Config{BaseURL: s.URL, Model: "claude-sonnet-4-6", Key: "k", HTTP: s.Client()})
	got := expect.Value(model.Say(t.Context(), w, model.Request{System: "s", Once: true, Searches: 3, MaxTokens: 1000,
		Messages: []model.Message{model.Words(model.User, "overtime")}}, "p", nil))(t)
	want := []map[string]any{{"type": "web_search_20250305", "name": "web_search", "max_uses": 3.0}}
	expect.That(t, cmp.Equal(sent.Tools, want), "sent %v", sent.Tools)
	expect.Is(t, got.Text, "I look it up. It is 45 hours.")
	expect.That(t, cmp.Equal(got.Found, []model.Source{{Title: "A", URL: "https://example.com/a"}}), "found %v", got.Found)
	// 1,000 tokens at $3 and 100 at $15 a million, and two searches at $10 a thousand
	expect.That(t, got.Usage.Searches == 2 && got.Usage.Cost == 3000+1500+20000, "%+v", got.Usage)
}
