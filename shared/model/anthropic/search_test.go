package anthropic_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/runtime/expect"
)

// searchSent is what a search sends.
type searchSent struct {
	Tools    []map[string]any
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
}

// searched asks for a search, to which the vendor gives these answers one after the other: a status and a body each.
func searched(t *testing.T, answers ...string) (got model.Response, sent []searchSent, err error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q searchSent
		expect.NoError(t, json.NewDecoder(r.Body).Decode(&q))
		sent = append(sent, q)
		w.Header().Set("Content-Type", "application/json")
		body, refused := strings.CutPrefix(answers[min(len(sent), len(answers))-1], "400 ")
		if refused {
			w.WriteHeader(http.StatusBadRequest)
		}
		w.Write([]byte(body))
	}))
	defer s.Close()
	w := anthropic.New(anthropic.Config{BaseURL: s.URL, Model: "claude-sonnet-4-6", Key: "k", HTTP: s.Client()})
	got, err = model.Say(t.Context(), w, model.Request{System: "s", Once: true, Searches: 3, MaxTokens: 1000,
		Messages: []model.Message{model.Words(model.User, "overtime")}}, "p", nil)
	return got, sent, err
}

func searchAnswer(stop, searches, content string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[` + content + `],"stop_reason":"` + stop +
		`","usage":{"input_tokens":1000,"output_tokens":100,"server_tool_use":{"web_search_requests":` + searches + `,"web_fetch_requests":0}}}`
}

const (
	asks  = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"overtime"}}`
	finds = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result",` +
		`"url":"https://example.com/a","title":"A","encrypted_content":"secret","page_age":"May 1, 2026"}]}`
	cites = `{"type":"text","text":"It is 45 hours.","citations":[{"type":"web_search_result_location","url":"https://example.com/a",` +
		`"title":"A","encrypted_index":"index","cited_text":"45"}]}`
)

func failing(code string) string {
	return `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_search_tool_result_error","error_code":"` + code + `"}}`
}

// The vendor searches, as often as it may, and each search is paid.
func TestTheVendorsOwnSearch(t *testing.T) {
	got, sent, err := searched(t, searchAnswer("end_turn", "2",
		`{"type":"text","text":"I look it up. "},`+asks+","+finds+","+strings.ReplaceAll(asks, "u_1", "u_2")+","+
			strings.ReplaceAll(failing("max_uses_exceeded"), "u_1", "u_2")+","+cites))
	expect.NoError(t, err)
	want := []map[string]any{{"type": "web_search_20250305", "name": "web_search", "max_uses": 3.0}}
	expect.That(t, len(sent) == 1 && cmp.Equal(sent[0].Tools, want), "sent %v", sent)
	expect.Is(t, got.Text, "I look it up. It is 45 hours.")
	expect.That(t, cmp.Equal(got.Found, []model.Source{{Title: "A", URL: "https://example.com/a"}}), "found %v", got.Found)
	expect.Is(t, got.SearchFailed, "max_uses_exceeded")
	// 1,000 tokens at $3 and 100 at $15 a million, and two searches at $10 a thousand
	expect.That(t, got.Usage.Searches == 2 && got.Usage.Cost == 3000+1500+20000, "%+v", got.Usage)
}

// The vendor charges nothing for a search that failed.
func TestASearchThatFailedSaysHow(t *testing.T) {
	for _, code := range []string{"max_uses_exceeded", "too_many_requests", "invalid_tool_input", "query_too_long",
		"request_too_large", "unavailable"} {
		got, _, err := searched(t, searchAnswer("end_turn", "0", asks+","+failing(code)))
		expect.NoError(t, err)
		expect.That(t, got.SearchFailed == code && len(got.Found) == 0 && got.Usage.Cost == 4500, "%s: %+v", code, got)
	}
}

// An answer that the vendor pauses goes back as it came, encrypted results and citations included, and goes on with the
// searches that are left. All calls are paid.
func TestAPausedSearchGoesOn(t *testing.T) {
	paused := searchAnswer("pause_turn", "1", asks+","+finds+","+cites)
	for name, tt := range map[string]struct {
		answers  []string
		text     string
		calls    int
		searches int64
		kind     model.Kind // of the error; empty: none
	}{
		"once": {[]string{paused, searchAnswer("end_turn", "1", `{"type":"text","text":" In a month."}`)},
			"It is 45 hours. In a month.", 2, 2, ""},
		"again and again": {[]string{paused}, strings.Repeat("It is 45 hours.", 4), 4, 4, model.BrokenOff}, // nor is it whole then
		"without a search": {[]string{strings.Replace(paused, `"web_search_requests":1`, `"web_search_requests":0`, 1)},
			strings.Repeat("It is 45 hours.", 4), 4, 0, model.BrokenOff},
		"refused": {[]string{paused, `400 {"type":"error","error":{"type":"invalid_request_error","message":` +
			`"web_search tool use was found without a corresponding result block"}}`}, "It is 45 hours.", 2, 1, model.BadRequest},
	} {
		got, sent, err := searched(t, tt.answers...)
		e, failed := errors.AsType[*model.Error](err)
		expect.That(t, failed == (tt.kind != "") && (!failed || e.Kind == tt.kind), "%s: %v", name, err)
		expect.Must(t, len(sent) == tt.calls && got.Text == tt.text && got.Usage.Searches == tt.searches, "%s: %d calls, %+v", name,
			len(sent), got)
		back := sent[1].Messages
		expect.That(t, len(back) == 2 && back[1].Role == "assistant" &&
			string(back[1].Content) == "["+asks+","+finds+","+cites+"]", "%s: sent back %s", name, back[1].Content)
		expect.Is(t, sent[1].Tools[0]["max_uses"], any(3.0-float64(min(1, tt.searches))))
		paid := int64(4500)*int64(tt.calls) + 10000*tt.searches
		if name == "refused" {
			paid -= 4500
		}
		expect.Is(t, int64(got.Usage.Cost), paid)
	}
	_, sent, err := searched(t, searchAnswer("pause_turn", "0", asks), "400 {}")
	expect.That(t, err != nil && len(sent) == 2, "nothing was written, and there is no error: %v", err)
}
