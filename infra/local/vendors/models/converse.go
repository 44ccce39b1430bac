package models

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
)

// converseOf formats an answer for Converse.
func converseOf(s Script) object {
	return object{
		"output":     object{"message": object{"role": "assistant", "content": []object{{"text": strings.Join(s.Texts, "")}}}},
		"stopReason": converseStop(s), "usage": converseUsage(s), "metrics": object{"latencyMs": 1},
	}
}

func converseStop(s Script) string {
	return stopOf(s, "end_turn", "max_tokens", "content_filtered", "tool_use")
}

func converseUsage(s Script) object {
	return object{
		"inputTokens": s.used.input, "outputTokens": s.used.output, "totalTokens": s.used.prompt() + s.used.output,
		"cacheReadInputTokens": s.used.read, "cacheWriteInputTokens": s.used.written,
	}
}

// streamConverse formats an answer as the events of ConverseStream.
func streamConverse(s Script) (out []event) {
	add := func(name string, fields object) { out = append(out, event{name, fields}) }
	add("messageStart", object{"role": "assistant"})
	if s.Odd {
		add("brandNew", object{"a": []int{1}})
	}
	index := 0
	if s.thoughts != nil {
		for _, piece := range halves(s.thoughts.text) {
			add("contentBlockDelta", object{"contentBlockIndex": index, "delta": object{"reasoningContent": object{"text": piece}}})
		}
		add("contentBlockDelta", object{"contentBlockIndex": index, "delta": object{"reasoningContent": object{"signature": s.signature}}})
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
		add("contentBlockDelta", object{"contentBlockIndex": index, "delta": object{"reasoningContent": object{"redactedContent": []byte(s.signature)}}})
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	for _, text := range s.Texts {
		add("contentBlockDelta", object{"contentBlockIndex": index, "delta": object{"text": text}})
	}
	if len(s.Texts) > 0 {
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	for _, c := range s.Calls {
		add("contentBlockStart", object{"contentBlockIndex": index, "start": object{"toolUse": object{"toolUseId": c.ID, "name": c.Name}}})
		for _, piece := range c.Input {
			add("contentBlockDelta", object{"contentBlockIndex": index, "delta": object{"toolUse": object{"input": piece}}})
		}
		add("contentBlockStop", object{"contentBlockIndex": index})
		index++
	}
	if s.Error != "" {
		name := map[string]string{"rate_limit_error": "throttlingException", "overloaded_error": "serviceUnavailableException"}[s.Error]
		add(name, object{"message": "secret words"})
		return out
	}
	add("messageStop", object{"stopReason": converseStop(s)})
	add("metadata", object{"usage": converseUsage(s), "metrics": object{"latencyMs": 1}})
	return out
}

// writeFrame writes an event in AWS's event stream encoding.
func writeFrame(w io.Writer, e event) {
	body, err := json.Marshal(e.data)
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	kind, name := eventstreamapi.EventMessageType, eventstreamapi.EventTypeHeader
	if strings.HasSuffix(e.name, "Exception") {
		kind, name = eventstreamapi.ExceptionMessageType, eventstreamapi.ExceptionTypeHeader
	}
	frame := eventstream.Message{Payload: body}
	for header, value := range map[string]string{eventstreamapi.MessageTypeHeader: kind, name: e.name,
		eventstreamapi.ContentTypeHeader: "application/json"} {
		frame.Headers.Set(header, eventstream.StringValue(value))
	}
	_ = eventstream.NewEncoder().Encode(w, frame) // a failure means that the client has disconnected
}
