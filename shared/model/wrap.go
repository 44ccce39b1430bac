package model

import (
	"encoding/json"

	"ringi/shared/words/lazy"
)

// wrapped is the one argument of a tool whose schema Claude's vendors refuse: all of its arguments, as a text.
const wrapped = "arguments_json"

// claudeKey is what Anthropic takes as a name in properties (its refusal: Property keys should match pattern …).
var claudeKey = lazy.Regexp{Text: `^[a-zA-Z0-9_.-]{1,64}$`}

// ForClaude returns tools as Anthropic takes them, on Bedrock too. It refuses a whole request for one foreign schema
// with other names in properties or a condition at the top. Such a tool takes its arguments as a text, and says its
// schema.
func ForClaude(tools []Tool) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		if t.wraps() {
			t.Description += "\nWrite all arguments as one JSON object into " + wrapped + ". Its schema:\n" + string(t.Schema)
			t.Schema = json.RawMessage(`{"type":"object","properties":{"` + wrapped + `":{"type":"string"}},` +
				`"required":["` + wrapped + `"],"additionalProperties":false}`)
		}
		out[i] = t
	}
	return out
}

func (t Tool) wraps() bool {
	var top map[string]any
	if !t.Foreign || json.Unmarshal(t.Schema, &top) != nil {
		return false
	}
	return top["anyOf"] != nil || top["oneOf"] != nil || top["allOf"] != nil || oddKeys(top)
}

// oddKeys reports whether a schema has properties whose names Anthropic refuses, however deep.
func oddKeys(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if oddKeys(x) {
				return true
			}
		}
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		for name := range properties {
			if !claudeKey.Get().MatchString(name) {
				return true
			}
		}
		for _, x := range v {
			if oddKeys(x) {
				return true
			}
		}
	}
	return false
}

// unwrap returns the arguments that a call of such a tool has in its text.
func (r Request) unwrap(c *Call) {
	var in map[string]string
	for _, t := range r.Tools {
		if t.Name == c.Name && t.wraps() && json.Unmarshal(c.Input, &in) == nil && len(in) == 1 && in[wrapped] != "" {
			c.Input = unquoted(json.RawMessage(in[wrapped]))
		}
	}
}
