package schema

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

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
