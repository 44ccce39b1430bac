package settings

import (
	"encoding/json"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/rules"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

const (
	maxChoices = 200
	maxDepth   = 8
	maxAbout   = 80 // characters
)

// choices returns the texts, numbers and yes or no that a schema declares, by their pointers. Those of one row of a
// list stand for those of each row.
func choices(text string) (at []string, all []schema.Member) {
	for _, m := range schema.Members(text) {
		if m.Leaf && len(all) < maxChoices {
			m.About = legible.Clip(legible.OneLine(m.About), maxAbout)
			at, all = append(at, rules.Pointer(m.Path)), append(all, m)
		}
	}
	return at, all
}

// shown returns a pointer as people read it: items[] › price.
func shown(pointer string) string {
	var parts []string
	for _, part := range rules.Tokens(pointer) {
		if last := len(parts) - 1; part == schema.Rows && last >= 0 {
			parts[last] += "[]"
			continue
		}
		parts = append(parts, legible.Spelled(part))
	}
	return strings.Join(parts, " › ")
}

// example returns arguments that a tool takes: an example of its schema or, without one, made from the schema.
func example(input string) string {
	b, err := json.Marshal(sample(schema.Parsed(input), 0))
	if err != nil { // impossible: the values were read as JSON
		return ""
	}
	return web.Indented(string(b))
}

func sample(v any, depth int) any {
	s, _ := v.(map[string]any)
	if given := append(schema.List(s["examples"]), s["default"], s["const"]); depth <= maxDepth {
		given = append(given, schema.List(s["enum"])...)
		if i := slices.IndexFunc(given, func(v any) bool { return v != nil }); i >= 0 {
			return given[i]
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if all := schema.List(s[keyword]); len(all) > 0 && len(schema.Types(s)) == 0 {
			return sample(all[0], depth+1)
		}
	}
	all := slices.DeleteFunc(schema.Types(s), func(kind string) bool { return kind == "null" })
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
