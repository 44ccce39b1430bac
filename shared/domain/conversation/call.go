package conversation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

// MaxTool is the longest name of a tool, in bytes.
const MaxTool = 200

// Called is the part of a tool_call's kept payload that the trusted side adds.
type Called struct {
	// ToolVersion is the version of the tool that people see; no other one is called.
	ToolVersion string           `json:"tool_version,omitempty"`
	Access      aggregate.Access `json:"access,omitempty"`
	// LeftOut has the default values of an MCP server for arguments that a write omits, as a JSON object.
	LeftOut string `json:"left_out,omitempty"`
	// Unseen says that a value which may be a destination stands in no message that a person wrote.
	Unseen bool `json:"unseen,omitempty"`
}

// called are the members of Called.
var called = []string{"tool_version", "access", "left_out", "unseen"}

// checkCall checks a proposed call as far as that is possible without the tool's schema.
func (p Payload) checkCall() (problems []string) {
	if p.Tool == "" || len(p.Tool) > MaxTool {
		problems = append(problems, fmt.Sprintf("tool has %d bytes, it must have 1 to %d", len(p.Tool), MaxTool))
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(p.Arguments), &members); err != nil || members == nil {
		return append(problems, "arguments must be one JSON object, as text")
	}
	if at, found := reference(members); found {
		problems = append(problems, fmt.Sprintf("arguments%s is a $ref; there are no steps here: write the value itself", at))
	}
	return problems
}

// reference returns where the first $ref in a value stands.
func reference(v any) (at string, found bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "$ref" {
				return "", true
			}
			if at, found := reference(v[name]); found {
				return "." + name + at, true
			}
		}
	case []any:
		for i, x := range v {
			if at, found := reference(x); found {
				return fmt.Sprintf("[%d]%s", i, at), true
			}
		}
	}
	return "", false
}

// checkCalled checks what the trusted side added to a kept call.
func (c Called) checkCalled() (problems []string) {
	if len(c.ToolVersion) != 64 || strings.Trim(c.ToolVersion, "0123456789abcdef") != "" {
		problems = append(problems, "tool_version is no version of a tool")
	}
	if c.Access != aggregate.Read && c.Access != aggregate.Write {
		problems = append(problems, "access is neither read nor write")
	}
	if c.LeftOut != "" && !json.Valid([]byte(c.LeftOut)) {
		problems = append(problems, "left_out is no JSON")
	}
	return problems
}

// Reads reports whether the action calls a tool that only reads, so that a call without a result did nothing.
func (x *Action) Reads() bool { return x.ActionType == ToolCall && x.Access == aggregate.Read }

// mayGoUnasked reports whether a rule may approve the action in a person's place: a test, or a listed read.
func (x *Action) mayGoUnasked() bool { return x.ActionType == TestRun || x.Reads() }

// MaxCallResult is how much of a call's result the agent is given, in bytes.
const MaxCallResult = 64 << 10

// CallResult is what the agent is given of a call's result: with personal data masked, and cut to MaxCallResult.
type CallResult struct {
	Value json.RawMessage `json:"value"`
	// Entries is how many entries the longest list had, and ShownEntries how many of them are there; 0: it is whole.
	Entries      int `json:"entries,omitempty"`
	ShownEntries int `json:"shown_entries,omitempty"`
	// Bytes is how long the text was that Value begins, and ShownBytes how much of it is there; 0: it is whole.
	Bytes      int `json:"bytes,omitempty"`
	ShownBytes int `json:"shown_bytes,omitempty"`
}

// ReadCallResult reads a result that was stored.
func ReadCallResult(text []byte) (r CallResult, err error) {
	if err = json.Unmarshal(text, &r); err != nil || r.Value == nil {
		return r, fmt.Errorf("read a call's result: %w", cmp.Or(err, errNoValue))
	}
	return r, nil
}

var errNoValue = errors.New("it has no value")

// Pieces are the words in which the agent is given the result. What the tool returned is quoted.
func (r CallResult) Pieces(locale string) []Piece {
	w := said.In(locale)
	out := []Piece{{Text: w.returned}, {Text: string(r.Value), Quoted: true}}
	switch {
	case r.Entries > 0:
		out = append(out, Piece{Text: fmt.Sprintf(w.entries, Grouped(r.Entries), Grouped(r.ShownEntries))})
	case r.Bytes > 0:
		out = append(out, Piece{Text: fmt.Sprintf(w.bytes, Grouped(r.Bytes), Grouped(r.ShownBytes))})
	}
	return out
}

// NotShownAgain stands in place of an older result. What wrote would write again if it were called for that.
func (x *Action) NotShownAgain(locale string) []Piece {
	if x.Reads() {
		return []Piece{{Text: said.In(locale).resultOld}}
	}
	return []Piece{{Text: said.In(locale).resultOldWrite}}
}

// NotKeptAnyMore stands in place of a result that is deleted.
func NotKeptAnyMore(locale string) []Piece { return []Piece{{Text: said.In(locale).resultGone}} }
