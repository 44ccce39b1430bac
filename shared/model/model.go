package model

import (
	"context"
	"encoding/json"

	"ringi/shared/domain/aggregate"
)

// Generator makes one call of a model. It does not loop, run tools or retry for
// long. Its errors are *Error.
type Generator interface {
	Generate(ctx context.Context, r Request) (Response, error)
}

// Request is one call.
type Request struct {
	Purpose Purpose `json:"purpose"` // what it is for; logs and the demo read it, a vendor does not get it
	Try     int     `json:"try"`     // which attempt at this generation it is, from 1; a vendor does not get it
	System  string  `json:"system"`
	// Standing is fenced data that is the same in many calls, such as the tools. It is
	// sent before the messages, so that vendors can cache it.
	Standing  string    `json:"standing,omitempty"`
	Messages  []Message `json:"messages"`
	MaxTokens int       `json:"max_tokens"`
	// Schema is the JSON Schema of the answer, in the subset that all vendors
	// take: every property required, no additional ones, no bounds.
	Schema json.RawMessage `json:"schema"`
}

// Message is one turn of the conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// Role is who speaks.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Purpose is what a call is for.
type Purpose string

const (
	Extracting  Purpose = "extract"   // L1
	Drafting    Purpose = "draft"     // L2
	Planning    Purpose = "plan"      // L3
	Summarizing Purpose = "summarize" // the end of L4
)

// Response is what a model said.
type Response struct {
	Text  string
	Stop  Stop
	Usage Usage
	// Answered is the model's name in the answer, empty if it has none: a snapshot of the requested model, or another
	// model that a gateway chose.
	Answered string
}

// Stop is why a model stopped.
type Stop string

const (
	StopEnd     Stop = "end"
	StopLength  Stop = "length" // MaxTokens were not enough
	StopRefused Stop = "refused"
)

// Usage is what calls used; Generate leaves the cost empty, and this package computes it. The alias spares the vendors'
// clients an import of the domain.
type Usage = aggregate.Usage
