package anthropic_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// events is a stream of an answer that has these events between its beginning and its end.
func events(usage string, between ...string) string {
	begin := `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant",` +
		`"model":"claude-sonnet-4-6",` +
		`"content":[],"usage":{"input_tokens":25,"cache_creation_input_tokens":100,"cache_read_input_tokens":50000,` +
		`"output_tokens":1}}}`
	end := `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{` + usage + `}}`
	all := append(append([]string{begin}, between...), end, `{"type":"message_stop"}`)
	return "data: " + strings.Join(all, "\n\ndata: ") + "\n\n"
}

func heard(t *testing.T, body string) (model.Response, error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, body)
	}))
	defer s.Close()
	r := model.Request{System: "s", MaxTokens: 100, Messages: []model.Message{model.Words(model.User, "x")}}
	return model.Say(t.Context(), wire().New(s.URL), r, "p", nil)
}

// A call goes on with its arguments, wherever they come, or not at all.
func TestACallKeepsItsArguments(t *testing.T) {
	const (
		one   = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`
		stop  = `{"type":"content_block_stop","index":1}`
		delta = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`
	)
	for about, x := range map[string]struct {
		between []string
		want    string // empty: the answer broke off
	}{
		"as published": {[]string{one, delta, stop}, `{"a":1}`},
		"none":         {[]string{one, stop}, `{}`},
		"at once": {[]string{strings.Replace(one, `{}`, `{"id":9007199254740993}`, 1), stop},
			`{"id":9007199254740993}`},
		"at once and in pieces": {[]string{strings.Replace(one, `{}`, `{"a":1}`, 1), delta, stop}, `{"a":1}`},
		"of another index":      {[]string{one, strings.Replace(delta, `"index":1`, `"index":0`, 1), stop}, ""},
		"without an end":        {[]string{one, delta}, ""},
		"the vendor's own, beside": {[]string{strings.NewReplacer(`"tool_use"`, `"server_tool_use"`, `"index":1`,
			`"index":0`).Replace(one), strings.Replace(delta, `"index":1`, `"index":0`, 1), one, delta, stop}, `{"a":1}`},
	} {
		got, err := heard(t, events(`"output_tokens":9`, x.between...))
		whole := err == nil && len(got.Calls) == 1 && string(got.Calls[0].Input) == x.want
		expect.That(t, whole || x.want == "" && model.Broke(err), "%s: %+v, %v", about, got.Calls, err)
	}
}

// The last event counts anew what it names, and only that.
func TestCountsThatTheLastEventLeavesOutStay(t *testing.T) {
	text := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes"}}`
	for usage, want := range map[string][3]int64{
		`"output_tokens":9`:                   {125, 50_000, 100},
		`"input_tokens":30,"output_tokens":9`: {130, 50_000, 100},
		`"input_tokens":30,"output_tokens":9,"cache_read_input_tokens":7,"cache_creation_input_tokens":0`: {30, 7, 0},
	} {
		got, err := heard(t, events(usage, text))
		expect.That(t, err == nil, "%v", err)
		expect.Is(t, [3]int64{got.Usage.Input, got.Usage.Cached, got.Usage.Written}, want, usage)
		expect.Is(t, got.Usage.Output, 9, usage)
	}
}
