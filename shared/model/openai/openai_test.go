package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/responses"

	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/model/openai"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
)

func open(url string) model.Wire {
	return openai.New(openai.Config{BaseURL: url + "/v1", Model: "gpt-5.4", Key: modeltest.Secret,
		HTTP: provider.VendorClient()})
}

func TestContract(t *testing.T) {
	modeltest.Run(t, modeltest.Vendor{
		New: open,
		Key: func(h http.Header) string {
			return strings.TrimPrefix(h.Get("Authorization"),
				"Bearer ")
		}, ID: "X-Request-Id", Path: "/v1/responses",
		Sent: `{
			"model": "gpt-5.4", "instructions": "the rules", "max_output_tokens": 17384, "store": false,
			"text": {"format": {"type": "json_schema", "name": "answer", "strict": true,
				"schema": {"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {"type": ` +
			`"string"}}}}},
			"input": [
				{"role": "user", "content": "<data>the tools</data>"}, {"role": "user", "content": "himitsu no irai"},
				{"role": "assistant", "content": "{}"}, {"role": "user", "content": "again"}
			]
		}`,
		Good: response(`"completed"`, `null`, `null`,
			`{"type":"reasoning","id":"rs_1","summary":[]},`+said(`{"type":"output_text","text":%TEXT%,"annotations":[]}`,
				"completed")),
		CutOff: response(`"incomplete"`, `null`, `{"reason":"max_output_tokens"}`,
			said(`{"type":"output_text","text":%TEXT%,"annotations":[]}`, "incomplete")),
		Refused: response(`"completed"`, `null`, `null`, said(`{"type":"refusal","refusal":"I can't."}`, "completed")),
		Usage: model.Usage{Provider: "openai", Model: "gpt-5.4-2026-03-05", Input: 112, Cached: 2000, Written: 100,
			Output: 7},
		Error: `{"error":{"message":"himitsu no irai","type":"t","param":null,"code":"%CODE%"}}`,
		Codes: map[int]string{401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded",
			500: "server_error"},
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
	return `{"id":"resp_1","object":"response","created_at":1790000000,"model":"gpt-5.4-2026-03-05",` +
		`"status":` + status + `,"error":` + failed + `,"incomplete_details":` + incomplete + `,
		"output":[` + output + `],"usage":{"input_tokens":2112,"input_tokens_details":{"cached_tokens":2000,` +
		`"cache_write_tokens":100},"output_tokens":7,
		"output_tokens_details":{"reasoning_tokens":3},"total_tokens":2119},"access_programs":null,"instructions":"the ` +
		`rules","metadata":{},"parallel_tool_calls":true,
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
		"rate_limit_exceeded": {model.RateLimited, true}, "server_error": {model.Overloaded,
			true}, "vector_store_timeout": {model.Overloaded, true},
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
			{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"overtime",` +
			`"queries":["overtime","overtime limit"],
				"sources":[{"type":"url","url":"https://example.com/a"},{"type":"api","name":"oai-weather"}]}},
			{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page",` +
			`"url":"https://example.com/a"}},
			{"type":"web_search_call","id":"ws_3","status":"failed","action":{"type":"search","query":"overtime"}},
			{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text",` +
			`"text":"It is 45 hours.","annotations":[{"type":"url_citation","start_index":0,"end_index":2,` +
			`"url":"https://example.com/b","title":"B"}]}]}],
			"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":0},"output_tokens":100,` +
			`"output_tokens_details":{"reasoning_tokens":0},"total_tokens":1100}}`))
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

// Gateways leave the output of the last event empty. Then the items count, and each needs its end.
func TestAnAnswerWhoseLastEventHasNoOutput(t *testing.T) {
	const (
		text = `{"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":"I do it."}`
		said = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1",` +
			`"role":"assistant","status":"completed","content":[{"type":"output_text","text":"I do it.","annotations":[]}]}}`
		added = `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1",` +
			`"call_id":"call_1","name":"f","arguments":"","status":"in_progress"}}`
		delta = `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\"a\":1}"}`
		args  = `{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":1,"name":"f",` +
			`"arguments":"{\"a\":1}"}`
		bare = `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1",` +
			`"call_id":"call_1","name":"f","arguments":"","status":"completed"}}`
	)
	for about, x := range map[string]struct {
		events []string
		want   string // empty: the answer broke off
	}{
		"a message":                        {[]string{text, said}, "I do it."},
		"arguments in events of their own": {[]string{text, said, added, delta, args, bare}, `I do it.f{"a":1}`},
		"in pieces alone":                  {[]string{added, delta, bare}, `f{"a":1}`},
		"at their end alone":               {[]string{added, args, bare}, `f{"a":1}`},
		"a call that ends with them":       {[]string{added, args}, `f{"a":1}`},
		"a call without an end":            {[]string{text, said, added, delta}, ""},
		"a call without anything":          {[]string{text, said, added}, ""},
		"arguments of no call":             {[]string{text, said, delta}, ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			last := `{"type":"response.completed","response":` + strings.ReplaceAll(response(`"completed"`, `null`,
				`null`, ``), "\n", "") + `}`
			io.WriteString(w, "data: "+strings.Join(append(x.events, last), "\n\ndata: ")+"\n\n")
		}))
		got, err := model.Say(t.Context(), open(s.URL), modeltest.Request(), "p", func(string) {})
		s.Close()
		said := got.Text
		for _, c := range got.Calls {
			said += c.Name + string(c.Input)
		}
		expect.That(t, x.want == "" && model.Broke(err) || x.want != "" && err == nil && said == x.want, "%s: %q, %v",
			about, said, err)
	}
}

// The vendor's filter is no fault of the request's form.
func TestAPromptThatTheVendorFlagsIsRefused(t *testing.T) {
	flagged := `{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.",` +
		`"type":"invalid_request_error","param":null,"code":"invalid_prompt"}`
	for body, status := range map[string]int{
		`{"error":` + flagged + `}`:                           400,
		response(`"failed"`, flagged, `null`, ``):             200,
		"event: error\ndata: {\"error\":" + flagged + "}\n\n": 200,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		r, err := open(s.URL).Say(t.Context(), modeltest.Request(), nil)
		s.Close()
		expect.That(t, err == nil && r.Stop == model.StopRefused, "%d: %+v, %v", status, r, err)
	}
}

// Older models refuse encrypted thoughts, another account's can't be decrypted, and each model has its limit. Each is
// asked once more without what it refused.
func TestAModelThatRefusesThoughtsOrTokensIsAskedWithout(t *testing.T) {
	refused := func(message, param, code string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","param":"` + param + `","code":"` +
			code + `"}}`
	}
	for about, tt := range map[string]struct {
		model, refusal string
		asked          []string // of each request: its limit, and whether it has encrypted thoughts
	}{
		"an older model": {"o1-mini", refused("Encrypted content is not supported with this model.", "include", ""),
			[]string{"32384 include thoughts", "32384"}},
		"another account": {"gpt-5.4", refused("The encrypted content gAAA could not be verified.", "",
			"invalid_encrypted_content"), []string{"32384 include thoughts", "32384"}},
		"a limit that is named": {"o9",
			refused("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 20000, but got 32384 "+
				"instead.", "max_output_tokens", "integer_above_max_value"),
			[]string{"32384 include thoughts", "20000 include thoughts"}},
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
				io.WriteString(w, "event: response.completed\ndata: {\"type\":\"response.completed\","+
					"\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}}\n\n")
			}))
			defer s.Close()
			r := model.Request{System: "s", MaxTokens: 16_000, Tools: []model.Tool{{Name: "t",
				Schema: json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)}},
				Messages: []model.Message{model.Words(model.User, "x"),
					{Role: model.Assistant, Parts: []model.Part{{Call: &model.Call{ID: "c", Name: "t", Input: json.RawMessage(`{}`),
						Opaque: model.Hang("openai "+tt.model, []model.Thought{{ID: "rs_1", Sealed: []byte("gAAA")}})}}}},
					{Role: model.User, Parts: []model.Part{{Result: &model.Result{CallID: "c", Text: "1"}}}}}}
			got := expect.Value(openai.New(openai.Config{BaseURL: s.URL, Model: tt.model, Key: "k",
				HTTP: http.DefaultClient}).Say(t.Context(), r, func(string) {}))(t)
			expect.Same(t, tt.asked, asked)
			expect.Is(t, got.Full, strings.HasPrefix(about, "a limit") || tt.model == "gpt-4o")
		})
	}
}
