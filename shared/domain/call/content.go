package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/conversation"
)

// Limits of what may be asked for.
const (
	MaxArguments = 32 << 10 // bytes: a call's row has them whole
	MaxReason    = 600      // characters: as many as its card shows
)

// Content is what people stamp.
type Content struct {
	Base      string `json:"base"` // a call works on no files
	Key       string `json:"key"`  // its id
	Answers   string `json:"answers"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`       // JSON with sorted members
	Again     string `json:"again,omitempty"` // id of the earlier call that is meant to be made once more
	// Elsewhere says that it runs where the agent runs, and not by Ringi.
	Elsewhere bool `json:"elsewhere,omitempty"`
	conversation.Called
}

// text returns the content as it is stamped.
func (x Content) text() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(x)
	return string(bytes.TrimSpace(b.Bytes())), err
}

// Content reads what the call's stamps are on.
func (x *Call) Content() (c Content, err error) {
	if err = json.Unmarshal([]byte(x.Payload.JSON), &c); err != nil {
		return c, fmt.Errorf("read what call %s is to do: %w", x.CallID, err)
	}
	return c, nil
}

// Payload returns the content as that of an agent's action.
func (x Content) Payload() conversation.Payload {
	return conversation.Payload{Tool: x.Tool, Arguments: x.Arguments,
		Stamped: conversation.Stamped{Base: &x.Base, Called: x.Called}}
}

// Members decodes the arguments of a call. It returns an aggregate.Problem for what is no JSON object, or too long.
func Members(arguments []byte) (members map[string]any, err error) {
	limit := "must be one JSON object"
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	switch {
	case len(arguments) > MaxArguments:
		limit = fmt.Sprintf("must have at most %d bytes, not %d", MaxArguments, len(arguments))
	case json.Valid(arguments) && utf8.Valid(arguments) && d.Decode(&members) == nil && members != nil:
		return members, nil
	}
	return nil, aggregate.Problem{Field: "arguments", Code: limit}
}

// idleOf are the arguments without effect, by the tool of those that run where the agent runs. A model words them anew
// each time.
var idleOf = map[string][]string{"Bash": {"description"}}

// Digest returns arguments as they are stamped and made, and the hash of what of them has effect. idle are arguments of
// the tool that have none.
func Digest(members map[string]any, idle []string) (arguments, effect string, err error) {
	text, err := chain.Canonical(members)
	if err != nil {
		return "", "", err
	}
	some := maps.Clone(members)
	for _, name := range idle {
		delete(some, name)
	}
	acting, err := chain.Canonical(some)
	return string(text), aggregate.HashOf(string(acting)), err
}

// Idle returns those arguments of a tool that have no effect: none of a tool that Ringi calls.
func Idle(tool string, elsewhere bool) []string {
	if !elsewhere {
		return nil
	}
	return idleOf[tool]
}
