package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Inline returns a schema with the target of each $ref in its place, and without definitions. Other keywords stay, so a
// model can read it without following references. It returns an error for a reference that Compile refuses, too, and for
// a schema that becomes too long.
func Inline(text string) (json.RawMessage, error) {
	document, err := Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	u := &inliner{document: document}
	out, err := u.schema(document)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

type inliner struct {
	document  any
	following []string // pointers of the open references
	limits
}

// aside are keywords whose members are schemas by name; values are those whose value is data.
var (
	aside  = []string{"properties", "patternProperties", "dependentSchemas"}
	values = []string{"enum", "const", "default", "examples", "required", "type"}
)

func (u *inliner) schema(v any) (any, error) {
	if err := u.write(perSchema); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			var err error
			if out[i], err = u.schema(x); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return u.object(v)
	}
	return v, nil
}

func (u *inliner) object(in map[string]any) (any, error) {
	out := map[string]any{}
	for keyword, v := range in {
		var err error
		members, isObject := v.(map[string]any)
		switch {
		case keyword == "$ref", keyword == "$defs", keyword == "definitions":
			continue
		case slices.Contains(values, keyword):
			out[keyword] = v
		case slices.Contains(aside, keyword) && isObject:
			named := map[string]any{}
			for name, x := range members {
				if named[name], err = u.schema(x); err != nil {
					return nil, err
				}
			}
			out[keyword] = named
		default:
			if out[keyword], err = u.schema(v); err != nil {
				return nil, err
			}
		}
	}
	ref, refers := in["$ref"]
	if !refers {
		return out, nil
	}
	target, err := u.follow(ref)
	if err != nil {
		return nil, err
	}
	return beside(out, target), nil
}

// beside puts a reference's target beside the other keywords of the schema that refers to it.
func beside(out map[string]any, target any) any {
	members, isObject := target.(map[string]any)
	if !isObject {
		return map[string]any{"allOf": []any{target, out}}
	}
	for keyword := range members {
		if _, both := out[keyword]; both && keyword != "description" && keyword != "title" {
			return map[string]any{"allOf": []any{target, out}}
		}
	}
	for keyword, v := range members {
		if _, both := out[keyword]; !both {
			out[keyword] = v
		}
	}
	return out
}

func (u *inliner) follow(ref any) (any, error) {
	text, _ := ref.(string)
	fragment, here := strings.CutPrefix(text, "#")
	pointer, err := url.PathUnescape(fragment)
	switch {
	case !here || err != nil:
		return nil, fmt.Errorf("%q: schemas may not refer to other documents", text)
	case slices.Contains(u.following, pointer):
		return nil, fmt.Errorf("%q: schemas may not refer to themselves", text)
	}
	target, ok := locate(u.document, pointer)
	if !ok {
		return nil, errors.New("there is no schema " + text)
	}
	u.following = append(u.following, pointer)
	out, err := u.schema(target)
	u.following = u.following[:len(u.following)-1]
	return out, err
}
