package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/model"
	"ringi/shared/model/openai"
	"ringi/shared/runtime/expect"
)

// Each query of a search is paid: pages that the vendor opens, or looks through, and searches that failed, are not.
func TestTheVendorsOwnSearch(t *testing.T) {
	var sent struct {
		Tools   []map[string]any
		Include []string
		Most    int `json:"max_tool_calls"`
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expect.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"id":"resp_1","object":"response","status":"completed","model":"gpt-4o","output":[
			{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"overtime","queries":["overtime","overtime limit"],
				"sources":[{"type":"url","url":"https://example.com/a"},{"type":"api","name":"oai-weather"}]}},
			{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page","url":"https://example.com/a"}},
			{"type":"web_search_call","id":"ws_3","status":"failed","action":{"type":"search","query":"overtime"}},
			{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is 45 hours.","annotations":[{"type":"url_citation","start_index":0,"end_index":2,"url":"https://example.com/b","title":"B"}]}]}],
			"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":0},"output_tokens":100,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":1100}}`))
	}))
	defer s.Close()
	w := openai.New(openai.Config{BaseURL: s.URL, Model: "gpt-4o", Key: "k", HTTP: s.Client()})
	got := expect.Value(model.Say(t.Context(), w, model.Request{System: "s", Once: true, Searches: 3, MaxTokens: 1000,
		Messages: []model.Message{model.Words(model.User, "overtime")}}, "p", nil))(t)
	want := []map[string]any{{"type": "web_search", "user_location": map[string]any{"type": "approximate"}}}
	expect.That(t, cmp.Equal(sent.Tools, want) && sent.Most == 3 &&
		cmp.Equal(sent.Include, []string{"web_search_call.action.sources"}), "sent %+v", sent)
	expect.Is(t, got.Text, "It is 45 hours.")
	expect.That(t, cmp.Equal(got.Found, []model.Source{{URL: "https://example.com/a"},
		{Title: "B", URL: "https://example.com/b"}}), "found %v", got.Found)
	expect.Is(t, got.SearchFailed, "failed")
	// 1,000 tokens at $2.50 and 100 at $10 a million, and two queries of one search at $10 a thousand
	expect.That(t, got.Usage.Searches == 2 && got.Usage.Cost == 2500+1000+20000, "%+v", got.Usage)
}
