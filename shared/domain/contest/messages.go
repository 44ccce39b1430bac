package contest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// ModelMessage is one message between an agent and its model, as Pydantic AI keeps it.
type ModelMessage struct {
	Kind  MessageKind `json:"kind"`
	Parts []Part      `json:"parts"`
	// These are of a response.
	ModelName string     `json:"model_name,omitempty"`
	Timestamp *time.Time `json:"timestamp,omitempty"`
	Usage     *RunUsage  `json:"usage,omitempty"`
}

// MessageKind is who speaks.
type MessageKind string

const (
	KindRequest  MessageKind = "request"  // to the model
	KindResponse MessageKind = "response" // of the model
)

// PartKind is what a part of a message is. Kinds that are not known are kept as they are.
type PartKind string

const (
	SystemPrompt PartKind = "system-prompt"
	UserPrompt   PartKind = "user-prompt"
	Text         PartKind = "text"
	ToolCall     PartKind = "tool-call"
	ToolReturn   PartKind = "tool-return"
	RetryPrompt  PartKind = "retry-prompt"
)

// Part is one of a message.
type Part struct {
	PartKind   PartKind        `json:"part_kind"`
	Content    Content         `json:"content,omitzero"` // of all but calls
	ToolName   string          `json:"tool_name,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"` // of a call: an object
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Timestamp  *time.Time      `json:"timestamp,omitempty"`
}

// Content is what a part says: mostly a text, and whatever a tool returned.
type Content struct {
	text  string
	other json.RawMessage // content other than a text, as it was read
	set   bool
}

// Says is a content of text.
func Says(text string) Content { return Content{text: text, set: true} }

// String is the text, or the JSON of other content.
func (c Content) String() string {
	if c.other != nil {
		return string(c.other)
	}
	return c.text
}

// IsZero reports whether there is no content at all; an empty text is one.
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

// speaker is whose message a part stands in. A kind that is not known stays where it is.
func (k PartKind) speaker() (MessageKind, bool) {
	switch k {
	case Text, ToolCall, "thinking", "builtin-tool-call", "builtin-tool-return":
		return KindResponse, true
	case SystemPrompt, UserPrompt, ToolReturn, RetryPrompt:
		return KindRequest, true
	}
	return "", false
}

// ReadMessages reads a message history. Records of earlier releases have calls in requests and
// returns in responses; they are read as they are.
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

// WriteMessages writes a message history with each part where it belongs: calls in responses, returns in requests.
func WriteMessages(messages []ModelMessage) ([]byte, error) {
	out := []ModelMessage{}
	for _, m := range messages {
		out = append(out, m.inOrder()...)
	}
	return json.Marshal(out)
}

// inOrder is a message cut where its parts change the speaker.
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
				m.Usage = nil // counted once
			}
			out = append(out, next)
		}
		last := &out[len(out)-1]
		last.Parts = append(last.Parts, p)
	}
	return out
}
