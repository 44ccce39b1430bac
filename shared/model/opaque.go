package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
)

// MaxOpaque bounds what a vendor may hang on one call, in bytes of JSON. Signatures and encrypted thoughts have some
// hundred bytes to some ten thousand; a row or an object that keeps a call has room for more.
const MaxOpaque = 128 << 10

// Opaque is what a vendor hung on a call and wants back with the call's result: a signature, or encrypted thoughts.
// Only the wire that it came from reads it.
type Opaque struct {
	From string          `json:"from"` // the wire's name for where it came from; nothing else is sent it
	Data json.RawMessage `json:"data"`
}

// Hang makes the Opaque of a call. It returns nil for data that can't be encoded or has more than MaxOpaque bytes:
// then the vendor may refuse the call's result, which the log explains.
func Hang(from string, data any) *Opaque {
	b, err := json.Marshal(data)
	if err != nil || len(b) > MaxOpaque {
		slog.Warn("what a vendor hung on a call is not kept", "from", from, "bytes", len(b), "most", MaxOpaque, "err", err)
		return nil
	}
	return &Opaque{from, b}
}

// Read reads into data what came from there. It reports false for nothing, and for what came from elsewhere.
func (o *Opaque) Read(from string, data any) bool {
	return o != nil && o.From == from && json.Unmarshal(o.Data, data) == nil
}

// Hung returns what the vendor hung on a call, which is sent with it; empty for nothing.
func (c Call) Hung() json.RawMessage {
	if c.Opaque == nil {
		return nil
	}
	return c.Opaque.Data
}

// Ahead adds what a vendor had before a call: just before it, or at the beginning of the message before the first call.
func Ahead[T any](blocks, before []T, called bool) []T {
	if !called {
		return append(slices.Clone(before), blocks...)
	}
	return append(blocks, before...)
}

// Before identifies all that precedes the message with this index: rules, tools and earlier messages. Anthropic's
// newer models refuse thoughts before which anything has changed.
func (r Request) Before(index int) string {
	b, err := json.Marshal(struct {
		System, Standing string
		Tools            []Tool
		Messages         []Message
	}{r.System, r.Standing, r.Tools, r.Messages[:index]})
	if err != nil { // a schema or an input that is no JSON
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
