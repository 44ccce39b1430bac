package settings

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

// choice is an argument of a tool that an administrator can mark.
type choice struct {
	Pointer string
	Title   string // that the schema gives it
	About   string // what the schema says of it
}

const (
	maxChoices = 200
	maxDepth   = 8
	maxAbout   = 80 // characters
)

// rows is the part of a pointer that stands for every row of a list.
const rows = "*"

// choices returns the texts, numbers and yes or no among a tool's arguments, as its schema declares them. Those of one
// row of a list stand for those of each row.
func choices(input string) []choice {
	var c chooser
	c.walk(inlined(input), nil, choice{})
	return c.all
}

// inlined returns a schema without references, nil if it can't be read.
func inlined(input string) any {
	text, err := schema.Inline(input)
	if err != nil {
		return nil
	}
	v, err := schema.Decode(text)
	if err != nil {
		return nil
	}
	return v
}

type chooser struct{ all []choice }

// walk adds what a schema declares at a path. of is what is said of the list in whose rows it is.
func (c *chooser) walk(v any, path []string, of choice) {
	s, ok := v.(map[string]any)
	if !ok || len(path) > maxDepth {
		return
	}
	title, _ := s["title"].(string)
	description, _ := s["description"].(string)
	of = choice{Title: cmp.Or(title, of.Title), About: cmp.Or(description, of.About)}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range list(s[keyword]) {
			c.walk(one, path, of)
		}
	}
	leaf := s["enum"] != nil && s["type"] == nil
	for _, kind := range kinds(s) {
		leaf = leaf || slices.Contains([]string{"number", "integer", "string", "boolean"}, kind)
	}
	if leaf && len(path) > 0 {
		of.Pointer = "/" + strings.Join(path, "/")
		c.add(of)
	}
	members, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "" && name != rows {
			c.walk(members[name], append(slices.Clone(path), rules.Token(name)), choice{})
		}
	}
	c.walk(s["items"], append(slices.Clone(path), rows), choice{Title: of.Title, About: of.About})
}

func (c *chooser) add(x choice) {
	known := slices.ContainsFunc(c.all, func(have choice) bool { return have.Pointer == x.Pointer })
	if !known && len(c.all) < maxChoices {
		x.About = legible.Clip(legible.OneLine(x.About), maxAbout)
		c.all = append(c.all, x)
	}
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

// kinds are the types that a schema allows.
func kinds(s map[string]any) (all []string) {
	for _, v := range append(list(s["type"]), s["type"]) {
		if kind, ok := v.(string); ok {
			all = append(all, kind)
		}
	}
	return all
}

// shown returns a pointer as people read it: items[] › price.
func shown(pointer string) string {
	var parts []string
	for _, part := range rules.Tokens(pointer) {
		if last := len(parts) - 1; part == rows && last >= 0 {
			parts[last] += "[]"
			continue
		}
		parts = append(parts, legible.Spelled(part))
	}
	return strings.Join(parts, " › ")
}

// example returns arguments that a tool takes: an example of its schema or, without one, made from the schema.
func example(input string) string {
	b, err := json.Marshal(sample(inlined(input), 0))
	if err != nil { // impossible: the values were read as JSON
		return ""
	}
	return web.Indented(string(b))
}

func sample(v any, depth int) any {
	s, _ := v.(map[string]any)
	if given := append(list(s["examples"]), s["default"], s["const"]); depth <= maxDepth {
		given = append(given, list(s["enum"])...)
		if i := slices.IndexFunc(given, func(v any) bool { return v != nil }); i >= 0 {
			return given[i]
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if all := list(s[keyword]); len(all) > 0 && len(kinds(s)) == 0 {
			return sample(all[0], depth+1)
		}
	}
	all := slices.DeleteFunc(kinds(s), func(kind string) bool { return kind == "null" })
	switch kind := append(all, "object")[0]; {
	case depth > maxDepth:
		return nil
	case kind == "array":
		return []any{sample(s["items"], depth+1)}
	case kind == "object":
		members, _ := s["properties"].(map[string]any)
		out := map[string]any{}
		for name, member := range members {
			out[name] = sample(member, depth+1)
		}
		return out
	case kind == "boolean":
		return false
	case kind == "string":
		return "…"
	}
	return 1
}
