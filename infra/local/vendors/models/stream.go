package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

// Script is an answer in a conversation, split into pieces.
type Script struct {
	Texts []string // the pieces of the text
	Calls []ScriptedCall
	Stop  string // length, refused, or a vendor's own word; "" means the usual reason
	Odd   bool   // includes events of unknown kinds
	Cut   int    // number of events before the connection breaks; 0 means never
	Error string // code of an error that replaces the end of the answer
	Model string
	used  tokens
	*thoughts
}

// tokens is the usage that an answer reports. input counts tokens that were neither read from the cache nor written to
// it.
type tokens struct{ input, read, written, output int }

func (t tokens) prompt() int { return t.input + t.read + t.written }

// ScriptedCall is a tool call.
type ScriptedCall struct {
	ID, Name string
	Input    []string // the pieces of the JSON
}

func (c ScriptedCall) input() string { return strings.Join(c.Input, "") }

// Scripted sets the answers to the next requests of conversations, one for each. Later requests get the demo's answers.
func (m *Models) Scripted(s ...Script) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts = append(m.scripts, s...)
}

// Asked returns the bodies of the conversations' requests so far.
func (m *Models) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

// script returns the answer to a request.
func (m *Models) script(of wire, q spokenTo, body []byte) Script {
	m.mu.Lock()
	m.asked = append(m.asked, string(body))
	rules := m.rules
	if tokens := askedIn(body).tokens(); tokens > 0 && tokens < rules.Thinks {
		m.mu.Unlock()
		return Script{Stop: "length"}
	}
	s, ok := takeFirst(&m.scripts)
	m.mu.Unlock()
	switch {
	case ok:
	case rules.Answer != nil:
		s = rules.Answer(q.said, q.tools)
	default:
		s = q.demo()
	}
	if len(s.Calls) > 0 {
		s.thoughts = m.think(of, body)
	}
	return s
}

// event is an event of a stream. The last one of Chat Completions has no name, and its data is not JSON.
type event struct {
	name string
	data any
}

// stream answers a request of a conversation.
func (m *Models) stream(w http.ResponseWriter, of wire, q spokenTo, body []byte) {
	s := m.script(of, q, body)
	s.Model, s.used = cmp.Or(s.Model, q.model), tokens{100, 300, 20, 30}
	write := writeEvent
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if of.key == nil {
		write = writeFrame
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	}
	for i, e := range of.events(s) {
		if s.Cut > 0 && i == s.Cut {
			panic(http.ErrAbortHandler)
		}
		write(w, e)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

func writeEvent(w io.Writer, e event) {
	text, literal := e.data.(string)
	if !literal {
		b, err := json.Marshal(e.data)
		if err != nil {
			panic(err) // strings and numbers can be encoded
		}
		text = string(b)
	}
	if e.name != "" {
		fmt.Fprintf(w, "event: %s\n", e.name)
	}
	fmt.Fprintf(w, "data: %s\n\n", text)
}

// messageOf formats an answer for Anthropic's Messages API.
func messageOf(s Script) object {
	m := message(s, stopOf(s, "end_turn", "max_tokens", "refusal", "tool_use"), s.used.output)
	m["content"] = []object{{"type": "text", "text": strings.Join(s.Texts, ""), "citations": nil}}
	return m
}

func message(s Script, stop any, output int) object {
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": s.Model, "content": []any{}, "stop_reason": stop, "stop_sequence": nil,
		"stop_details": nil, "container": nil, "diagnostics": nil, "usage": object{
			"input_tokens": s.used.input, "output_tokens": output, "cache_creation_input_tokens": s.used.written, "cache_read_input_tokens": s.used.read,
			"service_tier": "standard", "cache_creation": nil, "inference_geo": nil, "output_tokens_details": nil, "server_tool_use": nil, "speed": nil,
		},
	}
}

// stopOf selects the vendor's reason for the end of an answer.
func stopOf(s Script, end, length, refused, calls string) string {
	switch {
	case s.Stop == "length":
		return length
	case s.Stop == "refused":
		return refused
	case s.Stop != "":
		return s.Stop
	case len(s.Calls) > 0:
		return calls
	}
	return end
}

// streamAnthropic formats an answer as the events of the Messages API.
func streamAnthropic(s Script) (out []event) {
	add := func(name string, fields object) {
		fields["type"] = name
		out = append(out, event{name, fields})
	}
	add("message_start", object{"message": message(s, nil, 1)})
	add("ping", object{})
	if s.Odd {
		add("brand_new_event", object{"a": []int{1}})
	}
	block := 0
	if s.thoughts != nil {
		add("content_block_start", object{"index": block, "content_block": object{"type": "thinking", "thinking": "", "signature": ""}})
		for _, piece := range halves(s.thoughts.text) {
			add("content_block_delta", object{"index": block, "delta": object{"type": "thinking_delta", "thinking": piece}})
		}
		add("content_block_delta", object{"index": block, "delta": object{"type": "signature_delta", "signature": s.signature}})
		add("content_block_stop", object{"index": block})
		block++
	}
	if len(s.Texts) > 0 {
		add("content_block_start", object{"index": block, "content_block": object{"type": "text", "text": "", "citations": nil}})
		for _, text := range s.Texts {
			add("content_block_delta", object{"index": block, "delta": object{"type": "text_delta", "text": text}})
		}
		add("content_block_stop", object{"index": block})
		block++
	}
	for _, c := range s.Calls {
		add("content_block_start", object{"index": block, "content_block": object{"type": "tool_use", "id": c.ID,
			"name": c.Name, "input": object{}, "caller": object{"type": "direct"}}})
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
	add("message_delta", object{"delta": object{"stop_reason": stopOf(s, "end_turn", "max_tokens", "refusal", "tool_use"), "stop_sequence": nil, "stop_details": nil, "container": nil}, "usage": object{
		"input_tokens": s.used.input, "output_tokens": s.used.output, "cache_creation_input_tokens": s.used.written, "cache_read_input_tokens": s.used.read, "server_tool_use": nil, "output_tokens_details": nil,
	}})
	add("message_stop", object{})
	return out
}

// streamResponses formats an answer as the events of OpenAI's Responses API.
func streamResponses(s Script) (out []event) {
	add := func(name string, fields object) {
		fields["type"], fields["sequence_number"] = name, len(out)
		out = append(out, event{name, fields})
	}
	whole := responseOf(s)
	began := maps.Clone(whole)
	began["status"], began["output"], began["incomplete_details"], began["error"] = "in_progress", []any{}, nil, nil
	delete(began, "usage")
	add("response.created", object{"response": began})
	if s.Odd {
		add("response.brand_new", object{"a": []int{1}})
	}
	for i, item := range whole["output"].([]object) {
		item, id := item, item["id"]
		if item["type"] == "reasoning" { // encrypted only when it is done
			add("response.output_item.added", object{"output_index": i, "item": object{"type": "reasoning", "id": id, "summary": []any{}}})
			add("response.output_item.done", object{"output_index": i, "item": item})
			continue
		}
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
	case whole["status"] == "incomplete":
		add("response.incomplete", object{"response": whole})
	default:
		add("response.completed", object{"response": whole})
	}
	return out
}

// responseOf formats an answer for the Responses API. The last event of a stream repeats it.
func responseOf(s Script) object {
	status, details := "completed", any(nil)
	if s.Stop != "" && s.Stop != "refused" {
		status, details = "incomplete", object{"reason": stopOf(s, "", "max_output_tokens", "", "")}
	}
	var output []object
	if s.thoughts != nil {
		output = append(output, object{"type": "reasoning", "id": "rs_1", "summary": []any{}, "encrypted_content": s.signature})
	}
	text := strings.Join(s.Texts, "")
	switch {
	case s.Stop == "refused":
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []object{{"type": "refusal", "refusal": "no"}}})
	case text != "":
		output = append(output, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": text, "annotations": []any{}}}})
	}
	for _, c := range s.Calls {
		output = append(output, object{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name,
			"arguments": c.input(), "status": "completed"})
	}
	return object{
		"id": "resp_1", "object": "response", "created_at": 1_790_000_000, "model": s.Model, "status": status, "error": nil, "incomplete_details": details, "output": output,
		"usage": object{
			"input_tokens": s.used.prompt(), "input_tokens_details": object{"cached_tokens": s.used.read, "cache_write_tokens": s.used.written},
			"output_tokens": s.used.output, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": s.used.prompt() + s.used.output,
		},
		"access_programs": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": false, "temperature": 1, "tool_choice": "auto", "tools": []any{}, "top_p": 1,
	}
}

// completionOf formats an answer for Chat Completions.
func completionOf(s Script) object {
	said := object{"role": "assistant", "content": strings.Join(s.Texts, ""), "refusal": nil, "annotations": []any{}}
	return completion(s, "chat.completion", []object{{"index": 0, "finish_reason": "stop", "logprobs": nil, "message": said}}, completionUsage(s))
}

func completion(s Script, kind string, choices []object, usage any) object {
	return object{
		"id": "chatcmpl-1", "object": kind, "created": 1_790_000_000, "model": s.Model, "service_tier": "default", "system_fingerprint": "fp_1",
		"choices": choices, "usage": usage,
	}
}

func completionUsage(s Script) object {
	return object{
		"prompt_tokens": s.used.prompt(), "completion_tokens": s.used.output, "total_tokens": s.used.prompt() + s.used.output,
		"prompt_tokens_details":     object{"cached_tokens": s.used.read, "audio_tokens": 0, "cache_write_tokens": s.used.written},
		"completion_tokens_details": object{"reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
	}
}

// streamCompletions formats an answer as the chunks of Chat Completions.
func streamCompletions(s Script) (out []event) {
	chunk := func(choices []object, usage any) {
		out = append(out, event{"", completion(s, "chat.completion.chunk", choices, usage)})
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
		call := object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}
		switch { // of calls in parallel Gemini signs the first
		case s.thoughts == nil || i > 0:
		case s.vendor == "compatible": // OpenRouter's form
			for _, piece := range halves(s.thoughts.text) {
				add(object{"content": "", "reasoning": piece, "reasoning_details": []object{
					{"type": "reasoning.text", "text": piece, "index": 0, "format": "google-gemini-v1"}}}, nil)
			}
			add(object{"reasoning_details": []object{{"type": "reasoning.encrypted", "data": s.signature, "id": c.ID, "index": 0,
				"format": "google-gemini-v1"}}}, nil)
		default:
			call["extra_content"] = object{"google": object{"thought_signature": s.signature}}
		}
		add(object{"tool_calls": []object{call}}, nil)
		for _, piece := range c.Input {
			add(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}}, nil)
		}
	}
	if s.Error != "" {
		return append(out, event{"", object{"error": object{"message": "secret words", "type": s.Error, "code": s.Error, "param": nil}}})
	}
	add(object{}, stopOf(s, "stop", "length", "content_filter", "tool_calls"))
	chunk([]object{}, completionUsage(s))
	return append(out, event{"", "[DONE]"})
}
