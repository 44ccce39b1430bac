package gate_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// scripted stands in for a model, by Anthropic's protocol. The prompt holds SCRIPT and a list of calls, each of a tool
// and its arguments. It makes one a turn, and then says DONE and what the last one gave.
func scripted(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in request
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			http.Error(w, `{}`, http.StatusBadRequest)
			return
		}
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/count_tokens"):
			answer(w, map[string]any{"input_tokens": 10})
		case strings.HasSuffix(path, "/messages"):
			in.messages(w)
		default:
			answer(w, map[string]any{"data": []any{}, "models": []any{}})
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

type request struct {
	Model    string
	Stream   bool
	Messages []map[string]any
	Tools    []any
}

type step struct {
	name string
	args map[string]any
}

// next returns the call to make now, or nil and what the last one gave. calls is how many were made since the prompt.
func next(prompt string, calls int, given string) (*step, string) {
	_, script, found := strings.Cut(prompt, "SCRIPT ")
	var all [][2]json.RawMessage
	if !found || json.NewDecoder(strings.NewReader(script)).Decode(&all) != nil {
		return nil, "ok"
	}
	if calls >= len(all) {
		return nil, "DONE " + given
	}
	var s step
	if json.Unmarshal(all[calls][0], &s.name) != nil || json.Unmarshal(all[calls][1], &s.args) != nil {
		return nil, "ok"
	}
	return &s, ""
}

// text is all text of a message's content, whatever its form.
func text(content any) string {
	switch x := content.(type) {
	case string:
		return x
	case []any:
		var all []string
		for _, part := range x {
			all = append(all, text(part))
		}
		return strings.Join(all, "\n")
	case map[string]any:
		if s, is := x["text"].(string); is {
			return s
		}
		return text(x["content"])
	}
	return ""
}

func written(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, written(v))
}

type event struct {
	name string
	data map[string]any
}

func stream(w http.ResponseWriter, all []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, e := range all {
		e.data["type"], e.data["sequence_number"] = e.name, i
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, written(e.data))
	}
}

func (in request) messages(w http.ResponseWriter) {
	prompt, calls, given := "", 0, ""
	for _, m := range in.Messages {
		blocks, _ := m["content"].([]any)
		if s := text(m["content"]); m["role"] == "user" && strings.Contains(s, "SCRIPT ") {
			prompt, calls, given = s, 0, ""
		}
		for _, b := range blocks {
			switch b, _ := b.(map[string]any); b["type"] {
			case "tool_use":
				calls++
			case "tool_result":
				given = text(b["content"])
			}
		}
	}
	s, say := next(prompt, calls, given)
	if len(in.Tools) == 0 {
		s = nil
	}
	reason, block := "end_turn", map[string]any{"type": "text", "text": say}
	begun, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": say}
	if s != nil {
		reason, block = "tool_use", map[string]any{"type": "tool_use", "id": "toolu_" + rand.Text(), "name": s.name,
			"input": s.args}
		begun = map[string]any{"type": "tool_use", "id": block["id"], "name": s.name, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": written(s.args)}
	}
	message := map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": in.Model,
		"content": []any{block}, "stop_reason": reason, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5}}
	if !in.Stream {
		answer(w, message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	stream(w, []event{{"message_start", map[string]any{"message": message}},
		{"content_block_start", map[string]any{"index": 0, "content_block": begun}},
		{"content_block_delta", map[string]any{"index": 0, "delta": delta}},
		{"content_block_stop", map[string]any{"index": 0}},
		{"message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": 5}}},
		{"message_stop", map[string]any{}}})
}
