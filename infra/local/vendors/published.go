package vendors

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

//go:embed *.json
var files embed.FS

// Schema is the published description of a value.
type Schema struct {
	Type       string            `json:"type"`
	Nullable   bool              `json:"nullable"`
	Enum       []any             `json:"enum"`
	Example    any               `json:"example"`
	Properties map[string]Schema `json:"properties"`
	Items      *Schema           `json:"items"`
	Ref        string            `json:"$ref"`
	// Required members are always present, even if they are null.
	Required []string `json:"required"`
}

type PublishedAPI struct {
	Source  string            `json:"source"`
	Schemas map[string]Schema `json:"schemas"`
}

// Published reads the excerpt of a vendor: freee, github, mcp, sheets or slack.
func Published(vendor string) (PublishedAPI, error) {
	var a PublishedAPI
	text, err := files.ReadFile(vendor + ".json")
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return PublishedAPI{}, fmt.Errorf("read what %s publishes: %w", vendor, err)
	}
	return a, nil
}

// Differences compares decoded JSON with a schema. It reports members that are not published, required members that are
// missing, and values of another type.
func (a PublishedAPI) Differences(schema string, v any) []string {
	s, ok := a.Schemas[schema]
	if !ok {
		return []string{"nothing is published of " + schema}
	}
	return a.compare(schema, s, v)
}

// Check is Differences for JSON text.
func (a PublishedAPI) Check(schema, text string) []string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return []string{fmt.Sprintf("%s: %v", schema, err)}
	}
	return a.Differences(schema, v)
}

func (a PublishedAPI) compare(at string, s Schema, v any) []string {
	if s.Ref != "" {
		s = a.Schemas[s.Ref]
	}
	if v == nil {
		if s.Nullable {
			return nil
		}
		return []string{at + " is null"}
	}
	if got := schemaKind(v); s.Type != "" && got != s.Type && !(s.Type == "number" && got == "integer") {
		return []string{fmt.Sprintf("%s is %s, published as %s", at, got, s.Type)}
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return []string{fmt.Sprintf("%s is %v, published as one of %v", at, v, s.Enum)}
	}
	var found []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				found = append(found, at+"."+name+" is missing")
			}
		}
		for name, member := range v {
			p, ok := s.Properties[name]
			if !ok && len(s.Properties) > 0 {
				found = append(found, at+"."+name+" is not published")
			} else if ok {
				found = append(found, a.compare(at+"."+name, p, member)...)
			}
		}
	case []any:
		for i, one := range v {
			if s.Items != nil {
				found = append(found, a.compare(fmt.Sprintf("%s[%d]", at, i), *s.Items, one)...)
			}
		}
	}
	slices.Sort(found)
	return found
}

// Example returns a value made of the published examples. A member without an example gets the smallest value of its
// type. over replaces top-level members.
func (a PublishedAPI) Example(schema string, over map[string]any) map[string]any {
	out := a.members(a.Schemas[schema])
	maps.Copy(out, over)
	return out
}

func (a PublishedAPI) members(s Schema) map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		out[name] = a.example(p)
	}
	return out
}

func (a PublishedAPI) example(s Schema) any {
	if s.Example != nil {
		return s.Example
	}
	switch {
	case s.Ref != "":
		return a.Example(s.Ref, nil)
	case s.Type == "array" && s.Items != nil:
		return []any{a.example(*s.Items)}
	case s.Type == "array":
		return []any{}
	case s.Type == "object":
		return a.members(s)
	case s.Nullable:
		return nil
	}
	return map[string]any{"string": "", "integer": 1.0, "number": 0.0, "boolean": false}[s.Type]
}

func schemaKind(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
