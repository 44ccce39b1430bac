package vendors

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed *.json
var files embed.FS

// PublishedAPI has the schemas that a vendor publishes, as $defs. Members that are not published are refused.
type PublishedAPI struct{ *jsonschema.Schema }

const defs = "#/$defs/"

// Published reads the excerpt of a vendor: freee, github, mcp, sheets or slack.
func Published(vendor string) (PublishedAPI, error) {
	a := PublishedAPI{new(jsonschema.Schema)}
	text, err := files.ReadFile(vendor + ".json")
	if err == nil {
		err = json.Unmarshal(text, a.Schema)
	}
	if err != nil {
		return PublishedAPI{}, fmt.Errorf("read what %s publishes: %w", vendor, err)
	}
	return a, nil
}

// Differences says how decoded JSON differs from a schema.
func (a PublishedAPI) Differences(schema string, v any) []string {
	form, err := (&jsonschema.Schema{Ref: defs + schema, Defs: a.Defs}).Resolve(nil)
	if err == nil {
		err = form.Validate(v)
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// Example returns a value made of the published examples. A member without an example gets the smallest value of its
// type. over replaces top-level members.
func (a PublishedAPI) Example(schema string, over map[string]any) map[string]any {
	out := a.members(a.Defs[schema])
	maps.Copy(out, over)
	return out
}

func (a PublishedAPI) members(s *jsonschema.Schema) map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		out[name] = a.example(p)
	}
	return out
}

func (a PublishedAPI) example(s *jsonschema.Schema) any {
	kind := s.Type
	if s.Types != nil { // the other one is null
		kind = s.Types[0]
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Ref != "":
		return a.Example(strings.TrimPrefix(s.Ref, defs), nil)
	case s.AnyOf != nil: // the other one is null
		return a.example(s.AnyOf[0])
	case kind == "array" && s.Items != nil:
		return []any{a.example(s.Items)}
	case kind == "array":
		return []any{}
	case kind == "object":
		return a.members(s)
	case s.Types != nil:
		return nil
	}
	return map[string]any{"string": "", "integer": 1.0, "number": 0.0, "boolean": false}[kind]
}
