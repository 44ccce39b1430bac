package schema

import (
	"encoding/json"
	"ringi/shared/words/language"
	"slices"
)

// Vendors of models that refuse a whole request for one tool's schema. Nova are Bedrock's models but Anthropic's.
const (
	Anthropic = "Anthropic"
	OpenAI    = "OpenAI"
	Gemini    = "Gemini"
	Nova      = "Amazon Nova"
)

// Vendors are all of them.
var Vendors = []string{Anthropic, OpenAI, Gemini, Nova}

// MaxDescription is how many characters of a tool's description a vendor takes; 0: no limit is known. OpenAI's and
// Azure's is in their refusals ("Expected a string with maximum length 1024").
func MaxDescription(vendor string) int {
	if vendor == OpenAI {
		return 1024
	}
	return 0
}

// TakenBy reports whether a vendor takes a tool's schema. Anthropic refuses other names in properties, on Bedrock too;
// OpenAI refuses patterns that look around, as does llama.cpp with its kind, and arrays without items. Both refuse
// conditions at the top, and what draft 2020-12 has no more. Gemini is asked as OpenAI is, and refuses
// lists of values that are no texts, objects of nothing, and what is required and no property. Nova refuses members at
// the top that are no object's.
func TakenBy(vendor string, text []byte) bool {
	var top map[string]any
	if json.Unmarshal(text, &top) != nil {
		return true
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return top[name] != nil })
	}
	switch vendor {
	case OpenAI, Gemini:
		return !around.Get().Match(text) && !has("anyOf", "oneOf", "allOf", "enum", "not") &&
			!holds(top, older, unlisted) && (vendor == OpenAI || !holds(top, counted, lacking) && !below(top, blank))
	case Nova:
		for name := range Plain(top) {
			if name != "type" && name != "properties" && name != "required" {
				return false
			}
		}
		return true
	}
	return !has("anyOf", "oneOf", "allOf") && !holds(top, older, oddKeys)
}

// Plain removes from the top of a schema what says nothing of its properties, in place.
func Plain[V any](top map[string]V) map[string]V {
	for _, name := range []string{"$schema", "$id", "$comment", "title", "description", "additionalProperties"} {
		delete(top, name)
	}
	return top
}

// around finds what looks around in a pattern: encoding/json may have escaped <. A description that has it only costs
// that the schema is sent as a text.
var around = language.Regexp{Text: `\(\?(?:<|\\u003c)?[=!]`}

// claudeKey is what Anthropic takes as a name in properties (its refusal: Property keys should match pattern …).
var claudeKey = language.Regexp{Text: `^[a-zA-Z0-9_.-]{1,64}$`}

// holds reports whether an object in a value has one of the faults, however deep.
func holds(v any, faults ...func(map[string]any) bool) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return holds(x, faults...) })
	case map[string]any:
		for _, has := range faults {
			if has(v) {
				return true
			}
		}
		for _, x := range v {
			if holds(x, faults...) {
				return true
			}
		}
	}
	return false
}

// oddKeys reports whether a schema has properties whose names Anthropic refuses.
func oddKeys(schema map[string]any) bool {
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if !claudeKey.Get().MatchString(name) {
			return true
		}
	}
	return false
}

// older reports whether a schema has what only drafts before 2020-12 have: a tuple's items, an exclusive bound that is
// none itself.
func older(schema map[string]any) bool {
	_, tuple := schema["items"].([]any)
	_, least := schema["exclusiveMinimum"].(bool)
	_, most := schema["exclusiveMaximum"].(bool)
	return tuple || least || most
}

// unlisted reports whether a schema is an array's and has no items.
func unlisted(schema map[string]any) bool {
	kinds, _ := schema["type"].([]any)
	return (schema["type"] == "array" || slices.Contains(kinds, any("array"))) && schema["items"] == nil
}

// below reports whether a part of a schema has a fault, which at the top is none.
func below(top map[string]any, has func(map[string]any) bool) bool {
	for _, x := range top {
		if holds(x, has) {
			return true
		}
	}
	return false
}

// counted reports whether a schema lists values that are no texts.
func counted(schema map[string]any) bool {
	values, _ := schema["enum"].([]any)
	return slices.ContainsFunc(values, func(v any) bool {
		_, text := v.(string)
		return !text && v != nil
	})
}

// lacking reports whether a schema requires what is none of its properties.
func lacking(schema map[string]any) bool {
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	return slices.ContainsFunc(required, func(v any) bool {
		name, _ := v.(string)
		return properties[name] == nil
	})
}

// blank reports whether a schema is an object's and has no properties.
func blank(schema map[string]any) bool {
	properties, _ := schema["properties"].(map[string]any)
	return schema["type"] == "object" && len(properties) == 0
}
