package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

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
