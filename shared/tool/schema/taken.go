package schema

import (
	"encoding/json"
	"fmt"
	"slices"

	"ringi/shared/words/language"
)

// Taken reports whether every vendor of models takes a tool's schema, as Inline returns it. For one schema that a
// vendor refuses it refuses the whole request: Anthropic for other names in properties, OpenAI for patterns that look
// around and arrays without items, both for conditions at the top, and Gemini for lists of values that are no texts,
// objects of nothing, and what is required and no property.
func Taken(text []byte) bool {
	var top map[string]any
	if json.Unmarshal(text, &top) != nil {
		return true
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "enum", "not"} {
		if top[keyword] != nil {
			return false
		}
	}
	return !around.Get().Match(text) && !odd(top, true)
}

// around finds what looks around in a pattern: encoding/json may have escaped <. A description that has it only costs
// that the schema is sent as a text.
var around = language.Regexp{Text: `\(\?(?:<|\\u003c)?[=!]`}

// claudeKey is what Anthropic takes as a name in properties (its refusal: Property keys should match pattern …).
var claudeKey = language.Regexp{Text: `^[a-zA-Z0-9_.-]{1,64}$`}

// odd reports whether a schema, or one in it, has what a vendor refuses. An object of nothing is fine at the top.
func odd(v any, top bool) bool {
	if list := List(v); list != nil {
		return slices.ContainsFunc(list, func(x any) bool { return odd(x, false) })
	}
	s, _ := v.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for name := range properties {
		if !claudeKey.Get().MatchString(name) {
			return true
		}
	}
	if slices.Contains(Types(s), "array") && s["items"] == nil || !top && s["type"] == "object" && len(properties) == 0 ||
		slices.ContainsFunc(List(s["enum"]), func(v any) bool { _, text := v.(string); return !text && v != nil }) ||
		slices.ContainsFunc(List(s["required"]), func(v any) bool { return properties[fmt.Sprint(v)] == nil }) {
		return true
	}
	for _, x := range s {
		if odd(x, false) {
			return true
		}
	}
	return false
}
