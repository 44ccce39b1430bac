package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Script is an answer in a conversation, piece by piece.
type Script struct {
	Texts []string // the pieces that its text comes in
	Calls []ScriptedCall
	Stop  string // empty for the usual one, else length or refused
	Odd   bool   // with events of kinds that no client knows
	Cut   int    // after how many events the connection breaks; 0: never
	Error string // an error of this code in place of the end
	Model string
}

// ScriptedCall is one of a tool.
type ScriptedCall struct {
	ID, Name string
	Input    []string // the pieces that its JSON comes in
}

func (c ScriptedCall) input() string { return strings.Join(c.Input, "") }

// Scripted makes these the answers to the next requests of conversations, one after the other; behind them comes the demo's.
func (m *Models) Scripted(s ...Script) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts = append(m.scripts, s...)
}

// Asked are the bodies of the conversations' requests so far.
func (m *Models) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

func (m *Models) scripted(body []byte) (s Script, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, string(body))
	if len(m.scripts) == 0 {
		return s, false
	}
	s, m.scripts = m.scripts[0], m.scripts[1:]
	return s, true
}

// speech is how a vendor takes and makes streams.
type speech struct {
	read  func(body []byte) (spokenTo, error) // an error for what the vendor would refuse
	write func(Script) []event
}

// event is one of a stream; the ends of Chat Completions have no name and no JSON.
type event struct {
	name string
	data any
}

// stream answers a request of a conversation.
func (m *Models) stream(w http.ResponseWriter, of wire, body []byte) {
	q, err := of.speech.read(body)
	if err != nil {
		of.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	m.mu.Lock()
	m.calls[of.vendor]++
	m.heard = append(m.heard, q.text())
	m.mu.Unlock()
	s, ok := m.scripted(body)
	if !ok {
		s = q.demo()
	}
	s.Model = cmp.Or(s.Model, q.model)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for i, e := range of.speech.write(s) {
		if s.Cut > 0 && i == s.Cut {
			panic(http.ErrAbortHandler)
		}
		writeEvent(w, e)
	}
}

func writeEvent(w io.Writer, e event) {
	text, literal := e.data.(string)
	if !literal {
		b, err := json.Marshal(e.data)
		if err != nil {
			panic(err) // of texts and numbers
		}
		text = string(b)
	}
	if e.name != "" {
		fmt.Fprintf(w, "event: %s\n", e.name)
	}
	fmt.Fprintf(w, "data: %s\n\n", text)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// streamAnthropic are the events of Messages.
func streamAnthropic(s Script) (out []event) {
	add := func(name string, fields object) {
		fields["type"] = name
		out = append(out, event{name, fields})
	}
	usage := object{
		"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "service_tier": "standard",
		"cache_creation": nil, "inference_geo": nil, "output_tokens_details": nil, "server_tool_use": nil, "speed": nil,
	}
	add("message_start", object{"message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": s.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "stop_details": nil,
		"container": nil, "diagnostics": nil, "usage": usage,
	}})
	add("ping", object{})
	if s.Odd {
		add("brand_new_event", object{"a": []int{1}})
	}
	block := 0
	if len(s.Texts) > 0 {
		add("content_block_start", object{"index": block, "content_block": object{"type": "text", "text": "", "citations": nil}})
		for _, text := range s.Texts {
			add("content_block_delta", object{"index": block, "delta": object{"type": "text_delta", "text": text}})
		}
		add("content_block_stop", object{"index": block})
		block++
	}
	for _, c := range s.Calls {
		add("content_block_start", object{"index": block, "content_block": object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}, "caller": object{"type": "direct"}}})
		for _, piece := range append([]string{""}, c.Input...) {
			add("content_block_delta", object{"index": block, "delta": object{"type": "input_json_delta", "partial_json": piece}})
		}
		add("content_block_stop", object{"index": block})
		block++
	}
	if s.Error != "" {
		add("error", object{"error": object{"type": s.Error, "message": "secret words"}, "request_id": requestID})
		return out
	}
	stop := map[string]string{"length": "max_tokens", "refused": "refusal"}[s.Stop]
	if stop == "" && len(s.Calls) > 0 {
		stop = "tool_use"
	}
	add("message_delta", object{"delta": object{"stop_reason": cmp.Or(stop, "end_turn"), "stop_sequence": nil, "stop_details": nil, "container": nil}, "usage": object{
		"input_tokens": 100, "output_tokens": 30, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "server_tool_use": nil, "output_tokens_details": nil,
	}})
	add("message_stop", object{})
	return out
}

// streamResponses are the events of Responses.
func streamResponses(s Script) (out []event) {
	add := func(name string, fields object) {
		fields["type"], fields["sequence_number"] = name, len(out)
		out = append(out, event{name, fields})
	}
	whole := responseOf(s)
	began := object{}
	for name, value := range whole {
		began[name] = value
	}
	began["status"], began["output"], began["incomplete_details"], began["error"] = "in_progress", []any{}, nil, nil
	delete(began, "usage")
	add("response.created", object{"response": began})
	if s.Odd {
		add("response.brand_new", object{"a": []int{1}})
	}
	for i, item := range whole["output"].([]object) {
		item, id := item, item["id"]
		add("response.output_item.added", object{"output_index": i, "item": item})
		if item["type"] == "message" {
			for _, text := range s.Texts {
				add("response.output_text.delta", object{"item_id": id, "output_index": i, "content_index": 0, "delta": text, "logprobs": []any{}})
			}
		} else {
			for _, piece := range s.Calls[len(s.Calls)-(len(whole["output"].([]object))-i)].Input {
				add("response.function_call_arguments.delta", object{"item_id": id, "output_index": i, "delta": piece})
			}
		}
		add("response.output_item.done", object{"output_index": i, "item": item})
	}
	switch {
	case s.Error != "":
		add("error", object{"code": s.Error, "message": "secret words", "param": nil})
	case s.Stop == "length":
		add("response.incomplete", object{"response": whole})
	default:
		add("response.completed", object{"response": whole})
	}
	return out
}

// responseOf is the whole answer that the last event repeats.
func responseOf(s Script) object {
	status, details := "completed", any(nil)
	if s.Stop == "length" {
		status, details = "incomplete", object{"reason": "max_output_tokens"}
	}
	var output []object
	text := strings.Join(s.Texts, "")
	switch {
	case s.Stop == "refused":
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []object{{"type": "refusal", "refusal": "no"}}})
	case text != "":
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": text, "annotations": []any{}}}})
	}
	for _, c := range s.Calls {
		output = append(output, object{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": c.input(), "status": "completed"})
	}
	return object{
		"id": "resp_1", "object": "response", "created_at": 1_790_000_000, "model": s.Model, "status": status, "error": nil, "incomplete_details": details, "output": output,
		"usage": object{
			"input_tokens": 420, "input_tokens_details": object{"cached_tokens": 300, "cache_write_tokens": 20},
			"output_tokens": 30, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 450,
		},
		"access_programs": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": false, "temperature": 1, "tool_choice": "auto", "tools": []any{}, "top_p": 1,
	}
}

// streamCompletions are the chunks of Chat Completions.
func streamCompletions(s Script) (out []event) {
	chunk := func(choices []object, usage any) {
		out = append(out, event{"", object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": s.Model, "service_tier": "default", "system_fingerprint": "fp_1", "choices": choices, "usage": usage,
		}})
	}
	add := func(delta object, stop any) {
		chunk([]object{{"index": 0, "delta": delta, "finish_reason": stop, "logprobs": nil}}, nil)
	}
	add(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	if s.Odd {
		out = append(out, event{"", object{"object": "brand.new", "choices": []any{}}})
	}
	for _, text := range s.Texts {
		add(object{"content": text}, nil)
	}
	for i, c := range s.Calls {
		add(object{"tool_calls": []object{{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, piece := range c.Input {
			add(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}}, nil)
		}
	}
	if s.Error != "" {
		return append(out, event{"", object{"error": object{"message": "secret words", "type": s.Error, "code": s.Error, "param": nil}}})
	}
	stop := map[string]string{"length": "length", "refused": "content_filter"}[s.Stop]
	if stop == "" && len(s.Calls) > 0 {
		stop = "tool_calls"
	}
	add(object{}, cmp.Or(stop, "stop"))
	chunk([]object{}, object{
		"prompt_tokens": 420, "completion_tokens": 30, "total_tokens": 450, "prompt_tokens_details": object{"cached_tokens": 300, "audio_tokens": 0, "cache_write_tokens": 20},
		"completion_tokens_details": object{"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
	})
	return append(out, event{"", "[DONE]"})
}
