package contest

import (
	"encoding/json"
	"maps"
)

// RunUsage is what calls of models used.
type RunUsage struct {
	InputTokens          int64            `json:"input_tokens"` // those read from a cache and written to it among them
	CacheWriteTokens     int64            `json:"cache_write_tokens"`
	CacheReadTokens      int64            `json:"cache_read_tokens"`
	OutputTokens         int64            `json:"output_tokens"`
	InputAudioTokens     int64            `json:"input_audio_tokens"`
	CacheAudioReadTokens int64            `json:"cache_audio_read_tokens"`
	OutputAudioTokens    int64            `json:"output_audio_tokens"`
	Details              map[string]int64 `json:"details"`    // whatever else a vendor counts
	Requests             int64            `json:"requests"`   // calls of models
	ToolCalls            int64            `json:"tool_calls"` // that were executed
}

// MarshalJSON writes details as an object, also when there are none.
func (u RunUsage) MarshalJSON() ([]byte, error) {
	type plain RunUsage
	if u.Details == nil {
		u.Details = map[string]int64{}
	}
	return json.Marshal(plain(u))
}

// Plus is the sum of two usages.
func (u RunUsage) Plus(v RunUsage) RunUsage {
	sum := RunUsage{
		InputTokens: u.InputTokens + v.InputTokens, CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens, CacheReadTokens: u.CacheReadTokens + v.CacheReadTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens, InputAudioTokens: u.InputAudioTokens + v.InputAudioTokens,
		CacheAudioReadTokens: u.CacheAudioReadTokens + v.CacheAudioReadTokens, OutputAudioTokens: u.OutputAudioTokens + v.OutputAudioTokens,
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

// Info is the short form, as the leader board keeps it.
func (u RunUsage) Info() UsageInfo { return UsageInfo{u.InputTokens, u.OutputTokens, u.Requests} }

// UsageInfo is a RunUsage in three fields. Those that a row has as null are read as 0.
type UsageInfo struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Requests     int64 `json:"requests"`
}
