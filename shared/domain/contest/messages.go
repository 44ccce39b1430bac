package contest

import (
	"encoding/json"
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

// PartKind is the type of a message's part.
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
	Content    string          `json:"content,omitempty"` // absent for tool calls
	ToolName   string          `json:"tool_name,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"` // arguments of a tool call: an object
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Timestamp  *time.Time      `json:"timestamp,omitempty"`
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
