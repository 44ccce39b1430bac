package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

// Vendors of models that refuse a whole request for one tool's schema.
const (
	Anthropic = "Anthropic"
	OpenAI    = "OpenAI"
	Gemini    = "Gemini"
)

// Vendors are all of them.
var Vendors = []string{Anthropic, OpenAI, Gemini}

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
// lists of values that are no texts, objects of nothing, and what is required and no property.
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
	}
	return !has("anyOf", "oneOf", "allOf") && !holds(top, older, oddKeys)
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

// unfold reads a schema and replaces each reference by its target. It drops keywords that don't concern values, and
// renames keywords of older drafts as in the newest draft.
func unfold(text string) (any, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("it is %d bytes long, the limit is %d", len(text), maxText)
	}
	document, err := Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	u := unfolder{document: document, following: []string{""}}
	return u.schema(document, 0)
}

type unfolder struct {
	document  any
	following []string // pointers of the open references, the outermost first
	limits
}

func (u *unfolder) schema(v any, depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("schemas are nested deeper than %d", maxNesting)
	}
	if err := u.write(perSchema); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case bool:
		return v, nil
	case map[string]any:
		return u.object(v, depth)
	}
	return nil, errors.New("a schema must be an object or a boolean")
}

func (u *unfolder) object(in map[string]any, depth int) (any, error) {
	out := map[string]any{}
	var all []any // further schemas that the value must fit
	for _, keyword := range slices.Sorted(maps.Keys(in)) {
		var more []any
		var err error
		v, to := in[keyword], keyword
		switch keyword {
		case "type", "enum", "const", "pattern", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
			"maxLength", "minLength",
			"maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required",
			"dependentRequired":
			out[to], err = u.data(keyword, v)
		case "additionalItems":
			if _, tuple := in["items"].([]any); !tuple {
				continue
			}
			to = "items"
			fallthrough
		case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "unevaluatedItems",
			"unevaluatedProperties":
			out[to], err = u.schema(v, depth+1)
		case "items":
			if _, tuple := v.([]any); tuple {
				out["prefixItems"], err = u.list(v, depth+1)
			} else {
				out[to], err = u.schema(v, depth+1)
			}
		case "prefixItems", "anyOf", "oneOf":
			out[to], err = u.list(v, depth+1)
		case "allOf":
			more, err = u.list(v, depth+1)
		case "properties", "patternProperties", "dependentSchemas":
			out[to], err = u.named(keyword, v, depth+1)
		case "dependencies":
			err = errors.New("it must be spelled dependentRequired or dependentSchemas")
		case "$ref":
			more, err = u.follow(v, depth+1)
		case "$dynamicRef", "$recursiveRef":
			err = errors.New("only $ref is followed")
		case "$id":
			if depth > 0 {
				err = errors.New("only the whole may have one")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", keyword, err)
		}
		all = append(all, more...)
	}
	if len(out) == 0 && len(all) == 1 {
		return all[0], nil
	}
	if len(all) > 0 {
		out["allOf"] = all
	}
	return out, nil
}

func (u *unfolder) list(v any, depth int) (out []any, err error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, errors.New("it must be a list of schemas")
	}
	for i, s := range list {
		x, err := u.schema(s, depth)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out = append(out, x)
	}
	return out, nil
}

func (u *unfolder) named(keyword string, v any, depth int) (map[string]any, error) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it must be an object of schemas")
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		err := u.write(len(name))
		if err == nil && keyword == "patternProperties" {
			err = u.pattern(name)
		}
		if err == nil {
			out[name], err = u.schema(members[name], depth)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// follow unfolds a reference's target. References can't leave the document or form circles, so each schema is finite.
func (u *unfolder) follow(v any, depth int) ([]any, error) {
	ref, _ := v.(string)
	fragment, here := strings.CutPrefix(ref, "#")
	if !here {
		return nil, fmt.Errorf("%q: schemas may not refer to other documents", ref)
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", ref, err)
	}
	if slices.Contains(u.following, pointer) {
		return nil, fmt.Errorf("%q: schemas may not refer to themselves", ref)
	}
	target, ok := locate(u.document, pointer)
	if !ok {
		return nil, fmt.Errorf("%q: there is no such schema", ref)
	}
	u.following = append(u.following, pointer)
	x, err := u.schema(target, depth)
	u.following = u.following[:len(u.following)-1]
	if err != nil {
		return nil, fmt.Errorf("%q: %w", ref, err)
	}
	return []any{x}, nil
}

func locate(v any, pointer string) (any, bool) {
	steps := strings.Split(pointer, "/")
	if steps[0] != "" {
		return nil, false
	}
	for _, step := range steps[1:] {
		switch at := v.(type) {
		case map[string]any:
			member, ok := at[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}
