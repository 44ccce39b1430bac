package contest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// ModelMessage is one message between an agent and its model, in Pydantic AI's format.
type ModelMessage struct {
	Kind  MessageKind `json:"kind"`
	Parts []Part      `json:"parts"`
	// Only for a response.
	ModelName string     `json:"model_name,omitempty"`
	Timestamp *time.Time `json:"timestamp,omitempty"`
	Usage     *RunUsage  `json:"usage,omitempty"`
}

// MessageKind says who speaks.
type MessageKind string

const (
	KindRequest  MessageKind = "request"
	KindResponse MessageKind = "response"
)

// PartKind is the type of a message's part. Unknown types are kept unchanged.
type PartKind string

const (
	SystemPrompt PartKind = "system-prompt"
	UserPrompt   PartKind = "user-prompt"
	Text         PartKind = "text"
	ToolCall     PartKind = "tool-call"
	ToolReturn   PartKind = "tool-return"
	RetryPrompt  PartKind = "retry-prompt"
)

// Part is a part of a message.
type Part struct {
	PartKind   PartKind        `json:"part_kind"`
	Content    Content         `json:"content,omitzero"` // absent for tool calls
	ToolName   string          `json:"tool_name,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"` // arguments of a tool call: an object
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Timestamp  *time.Time      `json:"timestamp,omitempty"`
}

// Content is a part's content: usually text, but a tool may return any JSON.
type Content struct {
	text  string
	other json.RawMessage // the JSON of content that is not a string
	set   bool
}

// Says returns text content.
func Says(text string) Content { return Content{text: text, set: true} }

// String returns the text, or the JSON of other content.
func (c Content) String() string {
	if c.other != nil {
		return string(c.other)
	}
	return c.text
}

// IsZero reports whether there is no content; an empty text is content.
func (c Content) IsZero() bool { return !c.set }

func (c Content) MarshalJSON() ([]byte, error) {
	if c.other != nil {
		return c.other, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(c.text)
	return bytes.TrimSpace(b.Bytes()), err
}

func (c *Content) UnmarshalJSON(b []byte) error {
	*c = Content{set: true}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.text)
	}
	c.other = bytes.Clone(b)
	return nil
}

// speaker returns the kind of message to which a part belongs, and false for an unknown kind.
func (k PartKind) speaker() (MessageKind, bool) {
	switch k {
	case Text, ToolCall, "thinking", "builtin-tool-call", "builtin-tool-return":
		return KindResponse, true
	case SystemPrompt, UserPrompt, ToolReturn, RetryPrompt:
		return KindRequest, true
	}
	return "", false
}

// ReadMessages reads a message history. It corrects none that has calls in requests or returns in responses.
func ReadMessages(b []byte) ([]ModelMessage, error) {
	messages := []ModelMessage{}
	if len(bytes.TrimSpace(b)) == 0 {
		return messages, nil
	}
	if err := json.Unmarshal(b, &messages); err != nil {
		return nil, fmt.Errorf("read message_history: %w", err)
	}
	for i, m := range messages {
		if m.Kind != KindRequest && m.Kind != KindResponse {
			return nil, fmt.Errorf("read message_history: [%d].kind must be request or response, got %.50q", i, m.Kind)
		}
	}
	return messages, nil
}

// WriteMessages writes a message history, with calls in responses and returns in requests.
func WriteMessages(messages []ModelMessage) ([]byte, error) {
	out := []ModelMessage{}
	for _, m := range messages {
		out = append(out, m.inOrder()...)
	}
	return json.Marshal(out)
}

// inOrder splits a message wherever the speaker changes.
func (m ModelMessage) inOrder() (out []ModelMessage) {
	if len(m.Parts) == 0 {
		m.Parts = []Part{}
		return []ModelMessage{m}
	}
	for _, p := range m.Parts {
		kind, known := p.PartKind.speaker()
		if !known {
			kind = m.Kind
		}
		if len(out) == 0 || out[len(out)-1].Kind != kind {
			next := ModelMessage{Kind: kind}
			if kind == KindResponse && m.Kind == KindResponse {
				next.ModelName, next.Timestamp, next.Usage = m.ModelName, m.Timestamp, m.Usage
				m.Usage = nil // so that it is counted only once
			}
			out = append(out, next)
		}
		last := &out[len(out)-1]
		last.Parts = append(last.Parts, p)
	}
	return out
}
