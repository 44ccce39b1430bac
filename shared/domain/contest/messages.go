package contest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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

// RunUsage is the usage of model calls.
type RunUsage struct {
	InputTokens          int64            `json:"input_tokens"` // including those read from and written to a cache
	CacheWriteTokens     int64            `json:"cache_write_tokens"`
	CacheReadTokens      int64            `json:"cache_read_tokens"`
	OutputTokens         int64            `json:"output_tokens"`
	InputAudioTokens     int64            `json:"input_audio_tokens"`
	CacheAudioReadTokens int64            `json:"cache_audio_read_tokens"`
	OutputAudioTokens    int64            `json:"output_audio_tokens"`
	Details              map[string]int64 `json:"details"`    // other counts of a vendor
	Requests             int64            `json:"requests"`   // model calls
	ToolCalls            int64            `json:"tool_calls"` // executed tool calls
}

// MarshalJSON writes details as an object even if there are none.
func (u RunUsage) MarshalJSON() ([]byte, error) {
	type plain RunUsage
	if u.Details == nil {
		u.Details = map[string]int64{}
	}
	return json.Marshal(plain(u))
}

// Plus returns the sum of two usages.
func (u RunUsage) Plus(v RunUsage) RunUsage {
	sum := RunUsage{
		InputTokens: u.InputTokens + v.InputTokens, CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		CacheReadTokens: u.CacheReadTokens + v.CacheReadTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens, InputAudioTokens: u.InputAudioTokens + v.InputAudioTokens,
		CacheAudioReadTokens: u.CacheAudioReadTokens + v.CacheAudioReadTokens, OutputAudioTokens: u.OutputAudioTokens +
			v.OutputAudioTokens,
		Requests: u.Requests + v.Requests, ToolCalls: u.ToolCalls + v.ToolCalls,
	}
	if len(u.Details)+len(v.Details) > 0 {
		sum.Details = maps.Clone(u.Details)
		if sum.Details == nil {
			sum.Details = map[string]int64{}
		}
		for name, n := range v.Details {
			sum.Details[name] += n
		}
	}
	return sum
}

// Info returns the short form for the leader board.
func (u RunUsage) Info() UsageInfo { return UsageInfo{u.InputTokens, u.OutputTokens, u.Requests} }

// UsageInfo is the short form of a RunUsage. Null fields of a row are read as 0.
type UsageInfo struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Requests     int64 `json:"requests"`
}
