// Package model calls language models for the first three layers and for the summary at the end. The packages below it
// call them for agents (turn) and contests (round), and hold the vendors' clients. No answer is trusted: each is
// checked against a schema, the tool catalog and the limits before it is shown or used.
//
// It imports tool and the areas under it. Begin with provider.
//
// Whole answers are asked for, and all wires share one reader (hear.go). An answer counts only if its reason to stop is
// known to mean that it is whole; anything else broke off, is asked for once more, and is paid for both times. What
// can't be read is an error that says what came. A call whose arguments are not one JSON object broke off too, and so
// did a call of no tool: it never goes back to a vendor, because all of them refuse names that no tool can have.
//
// Thoughts count as a part of the answer, so up to 16,384 tokens more are asked for, within the model's limit
// (ask.go); an answer that was cut off is asked for once more with twice as many. What a vendor hangs on a call or
// thinks before it (Opaque) is kept as it is and goes back to the wire and model that it came from, to no other, and of
// Claude only where everything before it is as it was. A thought between tags (<think>) is one only at the beginning of
// a text: a quoted tag hides nothing.
//
// The vendor is asked to hold to a schema. One that refuses is asked in words, and what comes is checked all the same.
//
// Each call is counted with its cost, under the name that was asked where the answer's is unknown. Tokens that an
// endpoint doesn't report are estimated from the texts, so that budgets hold. A model of unknown price isn't called
// where a limit is set: unknown is not zero.
//
// What was sent is put into the bucket while the model answers, byte for byte and without headers, which hold the key.
// A bucket that is down fails no generation.
//
// Words of people, files and tools are data: they stand in parts of their own, spelled as people see them, and never
// among the rules.
package model

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Wire calls one vendor's model. Say makes one call: it does not loop, run tools or retry for long. Errors are *Error,
// and a Response returned with an error has the usage of what was sent.
type Wire interface {
	Say(ctx context.Context, r Request) (Response, error)
}

// Request is one call.
type Request struct {
	Purpose Purpose `json:"purpose"` // what it is for; logs and the demo read it, a vendor does not get it
	Try     int     `json:"try"`     // which attempt at this generation it is, from 1; a vendor does not get it
	System  string  `json:"system"`
	// Standing is fenced data that is the same in many calls, such as the tools. It precedes the messages, so that
	// vendors can cache it.
	Standing string `json:"standing,omitempty"`
	// Messages alternate between the two speakers, and begin and end with the user's. Each call has its result at the
	// beginning of the next message.
	Messages  []Message `json:"messages"`
	Tools     []Tool    `json:"tools,omitempty"`
	MaxTokens int       `json:"max_tokens"`
	// Once says that no later call continues this one. Then only Standing and the rules are cached.
	Once bool `json:"once,omitempty"`
	// More asks for twice the tokens, within the model's limit: the answer to the same request was cut off.
	More bool `json:"more,omitempty"`
	// Most is how many tokens the vendor gives, as it said when it refused more; 0: not known.
	Most int `json:"-"`
	// Searches is how often the vendor may search the web for this answer; 0: never. Only models of
	// which aggregate.ModelSearches says so have a search; it is for requests with Once and without Tools.
	Searches int `json:"searches,omitempty"`
	// Parallel lets the model call several tools in one answer.
	Parallel bool     `json:"parallel,omitempty"`
	Sampling Sampling `json:"sampling,omitzero"`
	// Schema is the JSON Schema of the answer; nil for plain text. It stays within the subset that all vendors support:
	// every property required, no others allowed, no bounds. If a model supports no schema, the request is sent without
	// it; so the prompt must ask for the same form, and the answer must be checked.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Sampling controls how a model chooses its words. Fields that are nil or empty are left to the model. Each wire sends
// the fields that its vendor supports: Anthropic has no seed and no temperature above 1. If a model refuses such
// fields, the request is sent again without them.
type Sampling struct {
	Temperature   *float64
	TopP          *float64
	Seed          *int
	StopSequences []string
}

// Set reports whether any field is set.
func (s Sampling) Set() bool {
	return s.Temperature != nil || s.TopP != nil || s.Seed != nil || len(s.StopSequences) > 0
}

// Message is one turn of a speaker.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Words returns a message that consists of one text.
func Words(r Role, text string) Message { return Message{r, []Part{{Text: text}}} }

// Part is a text, an image, a call or a result.
type Part struct {
	Text   string  `json:"text,omitempty"`
	Image  *Image  `json:"image,omitempty"`
	Call   *Call   `json:"call,omitempty"`
	Result *Result `json:"result,omitempty"`
	// Passing says that no later call repeats this text, such as the time. Only the last parts of the last message are
	// passing, and vendors cache what precedes them.
	Passing bool `json:"passing,omitempty"`
}

// Lasting returns how many parts precede the passing ones.
func (m Message) Lasting() int {
	n := len(m.Parts)
	for n > 0 && m.Parts[n-1].Passing {
		n--
	}
	return n
}

type Image struct {
	Type string // MIME
	Data []byte
}

// Call is a model's call of a tool.
type Call struct {
	ID, Name string
	Input    json.RawMessage
	Opaque   *Opaque `json:",omitempty"` // nil: the vendor hung nothing on it
}

// Object returns a call's input as an object, because vendors accept nothing else in a history: {} when the model wrote
// none.
func (c Call) Object() json.RawMessage {
	if !isObject(c.Input) {
		return json.RawMessage("{}")
	}
	return c.Input
}

// Result is the result of a call.
type Result struct {
	CallID, Text string
	Failed       bool
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // every property required, no others allowed
}

// Identifier replaces (or, if instead is negative, removes) each rune of a name that vendors refuse: any but A-Z, a-z,
// 0-9, _ and -.
func Identifier(name string, instead rune) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return instead
	}, name)
}

// Shape splits an object's schema into the parts for which Anthropic's SDK has fields and the rest, without the type.
func Shape(schema json.RawMessage) (properties map[string]any, required []string, rest map[string]any, err error) {
	var shape struct {
		Properties json.RawMessage
		Required   []string
	}
	rest, err = Split(schema)
	err = cmp.Or(err, json.Unmarshal(schema, &shape))
	if err == nil && shape.Properties != nil {
		properties, err = Split(shape.Properties)
	}
	for _, name := range []string{"type", "properties", "required"} {
		delete(rest, name)
	}
	return properties, shape.Required, rest, err
}

// Split returns an object's members as they stand: decoded ones would lose digits of large numbers.
func Split(object json.RawMessage) (map[string]any, error) {
	var in map[string]json.RawMessage
	err := json.Unmarshal(object, &in)
	out := make(map[string]any, len(in))
	for name, value := range in {
		out[name] = value
	}
	return out, err
}

// Role is the speaker of a message.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Purpose says what a call is for.
type Purpose string

const (
	Extracting  Purpose = "extract"   // L1
	Drafting    Purpose = "draft"     // L2
	Planning    Purpose = "plan"      // L3
	Summarizing Purpose = "summarize" // the end of L4
)

// Response is a model's answer.
type Response struct {
	Text  string
	Calls []Call
	Stop  Stop
	// Why is the vendor's reason to stop, or what the answer lacks. Thought is how many tokens thoughts have, estimated.
	Why     string
	Thought int
	Usage   Usage
	// Answered is the model's name in the answer, empty if there is none. It may be a snapshot of the requested model,
	// or another model that a gateway chose.
	Answered string
	// Tokens is how many tokens were asked for, thinking included; 0: not known. Full says that the model gives no more.
	Tokens int
	Full   bool
	// Found are pages that the vendor's search found, as the vendor names them. SearchFailed is the vendor's code for
	// a search that failed; other searches for the same answer may have found something.
	Found        []Source
	SearchFailed string
	// Prices are the workspace's own prices, which come before the table's.
	Prices []tenancy.ModelPrice
}

// Stop says why a model stopped.
type Stop string

const (
	StopEnd     Stop = "end"
	StopLength  Stop = "length" // MaxTokens were not enough
	StopRefused Stop = "refused"
	StopBroken  Stop = "broken" // for another reason, or without one: this is no answer
)

// Usage is the usage of calls. A wire leaves the cost empty, and Say computes it. Because of this alias the vendors'
// clients need not import the domain.
type Usage = aggregate.Usage

// Source is a page that a vendor's own search found.
type Source struct {
	Title string `json:"title,omitempty"`
	URL   string `json:"url"`
}
