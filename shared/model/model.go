package model

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"ringi/shared/domain/aggregate"
)

// Wire is a vendor's model. Say makes one call: it does not loop, run tools or retry for long. onText gets all of the
// answer's text so far, whenever there is more; for a request that is asked once it may be nil. Errors are *Error, and
// the response beside one has the usage of what was sent.
type Wire interface {
	Say(ctx context.Context, r Request, onText func(string)) (Response, error)
}

// Request is one call.
type Request struct {
	Purpose Purpose `json:"purpose"` // what it is for; logs and the demo read it, a vendor does not get it
	Try     int     `json:"try"`     // which attempt at this generation it is, from 1; a vendor does not get it
	System  string  `json:"system"`
	// Standing is fenced data that is the same in many calls, such as the tools. It is
	// sent before the messages, so that vendors can cache it.
	Standing string `json:"standing,omitempty"`
	// Messages begin with one of the user's and end with one; the two speakers alternate, and each call is answered by a
	// result at the beginning of the next message.
	Messages  []Message `json:"messages"`
	Tools     []Tool    `json:"tools,omitempty"`
	MaxTokens int       `json:"max_tokens"`
	// Once says that nothing follows: no call continues this one, so that only what is the same in many calls is cached,
	// and nobody reads the answer before it is whole.
	Once bool `json:"once,omitempty"`
	// Parallel lets the model call several tools in one answer.
	Parallel bool     `json:"parallel,omitempty"`
	Sampling Sampling `json:"sampling,omitzero"`
	// Schema is the JSON Schema of an answer that is JSON, in the subset that all vendors take: every property required,
	// none beside them, no bounds; nil: words. A model that takes none is asked without it, so the words of the request
	// must ask for the same, and the answer must be checked.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Sampling is how a model chooses its words; what is nil or empty is the model's own. Each wire sends what its vendor
// takes: Anthropic has no seed and no temperature above 1, OpenAI's Responses have neither seed nor stop sequences. A
// model that refuses the rest is asked again without it.
type Sampling struct {
	Temperature   *float64
	TopP          *float64
	Seed          *int
	StopSequences []string
}

// Set reports whether anything of it is the caller's.
func (s Sampling) Set() bool {
	return s.Temperature != nil || s.TopP != nil || s.Seed != nil || len(s.StopSequences) > 0
}

// Message is what one speaker says at a time.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Words is a message of one text.
func Words(r Role, text string) Message { return Message{r, []Part{{Text: text}}} }

// Part is one of the four.
type Part struct {
	Text   string  `json:"text,omitempty"`
	Image  *Image  `json:"image,omitempty"`
	Call   *Call   `json:"call,omitempty"`
	Result *Result `json:"result,omitempty"`
}

// Image is one that the model is shown.
type Image struct {
	Type string // MIME
	Data []byte
}

// Call is a tool's, by the model.
type Call struct {
	ID, Name string
	Input    json.RawMessage
}

// Object is a call's input as vendors take it back: an object, also where the model wrote none.
func (c Call) Object() json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(c.Input, &members) != nil || members == nil {
		return json.RawMessage("{}")
	}
	return c.Input
}

// Result is what a call came to.
type Result struct {
	CallID, Text string
	Failed       bool
}

// Tool is one that the model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // every property required, none beside them
	// Foreign says that the schema is somebody else's, and may be any.
	Foreign bool
}

// Identifier is a name in which the given rune stands for each one that vendors take in no name: they take letters,
// digits, _ and -. A negative rune drops those.
func Identifier(name string, instead rune) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return instead
	}, name)
}

// Shape takes an object's schema apart into what Anthropic's SDK has fields for, and the rest but for its type.
func Shape(schema json.RawMessage) (properties map[string]any, required []string, rest map[string]any, err error) {
	var shape struct {
		Properties map[string]any
		Required   []string
	}
	err = cmp.Or(json.Unmarshal(schema, &shape), json.Unmarshal(schema, &rest))
	for _, name := range []string{"type", "properties", "required"} {
		delete(rest, name)
	}
	return shape.Properties, shape.Required, rest, err
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
	Calls []Call
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

// Usage is what calls used; a wire leaves the cost empty, and Say computes it. The alias spares the vendors' clients an
// import of the domain.
type Usage = aggregate.Usage
