package schema

import (
	"encoding/json"

	"ringi/shared/words/lazy"
)

// Vendors of models that refuse a whole request for one tool's schema.
const (
	Anthropic = "Anthropic"
	OpenAI    = "OpenAI"
)

// TakenBy reports whether a vendor takes a tool's schema. Anthropic refuses other names in properties, and conditions
// at the top, on Bedrock too; OpenAI refuses patterns that look around, as does llama.cpp with its kind.
func TakenBy(vendor string, text []byte) bool {
	if vendor == OpenAI {
		return !around.Get().Match(text)
	}
	var top map[string]any
	if json.Unmarshal(text, &top) != nil {
		return true
	}
	return top["anyOf"] == nil && top["oneOf"] == nil && top["allOf"] == nil && !oddKeys(top)
}

// around finds what looks around in a pattern: encoding/json may have escaped <. A description that has it only costs
// that the schema is sent as a text.
var around = lazy.Regexp{Text: `\(\?(?:<|\\u003c)?[=!]`}

// claudeKey is what Anthropic takes as a name in properties (its refusal: Property keys should match pattern …).
var claudeKey = lazy.Regexp{Text: `^[a-zA-Z0-9_.-]{1,64}$`}

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
