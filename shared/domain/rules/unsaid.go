package rules

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

// maxSchemas bounds how many parts of a tool's schema are looked at, and how deep they are.
const (
	maxSchemas     = 10_000
	maxSchemaDepth = 40
)

// Unsaid returns the first argument that a tool's schema calls like a currency or unit and the mark says nothing of, as
// a problem that names it. Only an amount has a currency. A schema that can't be read names none.
func (m *Mark) Unsaid(schema string) []aggregate.ErrField {
	if m.How != HowSum && m.How != HowProduct {
		return nil
	}
	s := schemas{mark: m, left: maxSchemas}
	if json.Unmarshal([]byte(schema), &s.root) != nil {
		return nil
	}
	if at := s.unsaid(s.root, "", unnamed, 0); at != "" {
		return []aggregate.ErrField{{Field: "units", Limit: UnsaidOf + at}}
	}
	return nil
}

// UnsaidOf begins the limit of an argument that a mark doesn't mention; the argument's pointer follows.
const UnsaidOf = "must say of "

func (m *Mark) mentions(pointer string) bool {
	return slices.Contains(m.Pointers, pointer) || slices.Contains(m.Units, pointer) || slices.Contains(m.Asides, pointer)
}

// schemas walks the schema of a tool's arguments.
type schemas struct {
	mark *Mark
	root any
	left int
}

// unsaid returns the first unsaid argument at or below a pointer. as says what it or one above it is called like.
func (s *schemas) unsaid(v any, pointer string, as naming, depth int) string {
	if s.left--; s.left < 0 || depth > maxSchemaDepth || s.mark.mentions(pointer) {
		return ""
	}
	of, is := v.(map[string]any)
	if !is {
		if may, _ := v.(bool); may && as != unnamed {
			return pointer
		}
		return ""
	}
	parts := s.parts(of, pointer, as)
	for _, part := range parts {
		if at := s.unsaid(part.v, part.at, part.as, depth+1); at != "" {
			return at
		}
	}
	if as != unnamed && len(parts) == 0 && maySay(of, as) {
		return pointer
	}
	return ""
}

type schemaPart struct {
	v  any
	at string
	as naming
}

// parts returns the schemas in a schema that say what stands at its pointer or below.
func (s *schemas) parts(of map[string]any, pointer string, as naming) (all []schemaPart) {
	row := pointer + "/" + rows
	add := func(at string, list ...any) {
		for _, v := range list {
			if v != nil {
				all = append(all, schemaPart{v, at, as})
			}
		}
	}
	ref, _ := of["$ref"].(string)
	add(pointer, s.target(ref), of["if"], of["then"], of["else"])
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := of[keyword].([]any)
		add(pointer, list...)
	}
	dependent, _ := of["dependentSchemas"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(dependent)) {
		add(pointer, dependent[name])
	}
	for _, keyword := range []string{"items", "prefixItems"} {
		if tuple, is := of[keyword].([]any); is {
			add(row, tuple...)
			continue
		}
		add(row, of[keyword])
	}
	members, _ := of["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all = append(all, schemaPart{members[name], pointer + "/" + escaped(name), as.below(name)})
	}
	patterns, _ := of["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		at := s.mark.matching(pointer, pattern)
		all = append(all, schemaPart{patterns[pattern], at, as.below(pattern)})
	}
	return all
}

// target returns what a reference within the schema means, or nil.
func (s *schemas) target(ref string) any {
	path, is := strings.CutPrefix(ref, "#/")
	if !is {
		return nil
	}
	v := s.root
	for _, name := range tokens(path) {
		of, _ := v.(map[string]any)
		v = of[name]
	}
	return v
}

// matching returns the pointer of the argument that the mark mentions below a pointer and whose name matches a pattern,
// or one that has the pattern in place of a name.
func (m *Mark) matching(pointer, pattern string) string {
	if form, err := regexp.Compile(pattern); err == nil {
		for _, at := range slices.Concat(m.Pointers, m.Units, m.Asides) {
			name, is := strings.CutPrefix(at, pointer+"/")
			if of := tokens(name); is && len(of) == 1 && form.MatchString(of[0]) {
				return at
			}
		}
	}
	return pointer + "/" + escaped(pattern)
}

// maySay reports whether a schema without parts allows anything that says a currency or unit: a text or, unless a number
// is how many there are, a number.
func maySay(of map[string]any, as naming) bool {
	says := func(v any) bool {
		_, text := v.(string)
		_, number := v.(float64)
		return text || number && as != counted
	}
	if only, is := of["const"]; is {
		return says(only)
	}
	kinds, _ := of["type"].([]any)
	if kind, is := of["type"].(string); is {
		kinds = []any{kind}
	}
	given, _ := of["enum"].([]any)
	other := func(kind any) bool {
		number := kind == "number" || kind == "integer"
		return kind != "boolean" && kind != "null" && (!number || as != counted)
	}
	return (len(kinds) == 0 || slices.ContainsFunc(kinds, other)) && (len(given) == 0 || slices.ContainsFunc(given, says))
}

// escaped returns a member's name as a part of a pointer.
func escaped(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
