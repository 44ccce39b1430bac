// Package schema checks JSON against JSON Schemas. It describes problems in words that help a model to repair the value
// and a person to understand it.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct{ root *part }

// Problem is a place where a value does not fit its schema.
type Problem struct {
	Path    []string // from the value's root; empty for the root itself
	Message string
}

func (p Problem) String() string {
	if len(p.Path) == 0 {
		return p.Message
	}
	return strings.Join(p.Path, ".") + ": " + p.Message
}

// Compile reads a schema from any author. It refuses a schema that refers to another document, because nothing is ever
// fetched or opened for a schema. It also refuses a schema that refers to itself, or that is so large that a check
// might not end.
func Compile(name, text string) (*Schema, error) {
	root, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &Schema{root}, nil
}

// Decode reads exactly one JSON value. Numbers keep their notation.
func Decode(text []byte) (any, error) {
	if Weight(text) > mostDecoded {
		return nil, ErrTooMany
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows it")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("not one JSON value: %w", err)
	}
	return v, nil
}

// What a decoded value takes at the least, in bytes: an object, and any other. A text of some megabytes that are all
// small objects takes forty times its size, more than the functions have.
const (
	objectTakes, valueTakes = 400, 48
	mostDecoded             = 112 << 20
)

// ErrTooMany means a text with more values than are decoded.
var ErrTooMany = fmt.Errorf("too large to be read: it has over %d objects or %d values", mostDecoded/objectTakes,
	mostDecoded/valueTakes)

// Weight returns about how many bytes the text's values take when they are decoded.
func Weight(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			n += objectTakes
		case c == ',', c == '[':
			n += valueTakes
		}
	}
	return n
}

// maxProblems is the most places that Check names.
const maxProblems = 1000

// Check returns the places where a decoded value does not fit the schema, each with its first problem. A value comes
// before its parts, and members are sorted by name. If the value fits, there are none. A value that can't be checked in
// time is a problem, whatever else was found.
func (s *Schema) Check(value any) []Problem {
	found := problems{effort: new(effort)}
	if v := found.measurable(value, nil); len(found.list) == 0 {
		s.root.check(v, nil, &found)
	}
	if found.unsure != "" {
		return []Problem{{Message: clip(fmt.Sprintf("can't be checked: the pattern %q takes over %v", found.unsure,
			patience))}}
	}
	return found.list
}

type problems struct {
	list []Problem
	*effort
}

func (f *problems) add(at []string, message string) {
	if len(f.list) < maxProblems {
		f.list = append(f.list, Problem{append([]string(nil), at...), clip(message)})
	}
}

func (f *problems) take(more []Problem) {
	f.list = append(f.list, more[:min(len(more), maxProblems-len(f.list))]...)
}

// fits reports whether a part takes a value, without naming why not.
func (f *problems) fits(p *part, v any, at []string) bool {
	found := problems{effort: f.effort}
	p.check(v, at, &found)
	return len(found.list) == 0
}

// measurable copies a value with numbers that can be compared. A number that exceeds float64 is a problem.
func (f *problems) measurable(v any, at []string) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n
		}
		n, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			f.add(at, "the number is too large")
		}
		return n
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = f.measurable(v[i], append(at, strconv.Itoa(i)))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = f.measurable(v[name], append(at, name))
		}
		return out
	}
	return v
}

// clip removes the middle of a long message. The beginning says which value was checked, and the end what is wrong.
func clip(s string) string {
	const begin, end = 60, 160
	if r := []rune(s); len(r) > begin+end {
		return string(r[:begin]) + " … " + string(r[len(r)-end:])
	}
	return s
}

// Inline returns a schema with the target of each $ref in its place, and without definitions. Other keywords stay, so a
// model can read it without following references. It returns an error for a reference that Compile refuses, too, and
// for
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
