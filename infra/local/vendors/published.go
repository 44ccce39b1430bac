package vendors

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
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

// SchemaFault is what a vendor refuses a request for. It is one of Missing, Unknown, Mistyped and Constant.
type SchemaFault struct {
	Path []string // names of members, and indexes
	Kind FaultKind
}

type FaultKind string

const (
	FaultMissing FaultKind = "missing"
	Unknown      FaultKind = "unknown"
	Mistyped     FaultKind = "of another type"
	Constant     FaultKind = "another value"
)

// RefusedBySchema compares a request with the type that a vendor's Go SDK has for it, with all that stands in it. It
// returns nil if the vendor takes it. exact says that required members are so within others, too: OpenAI's server does
// without some that its description requires.
func RefusedBySchema(body []byte, sdk any, exact bool) *SchemaFault {
	return judge{exact}.object(body, reflect.TypeOf(sdk), true)
}

type judge struct{ exact bool }

func (j judge) value(raw json.RawMessage, t reflect.Type, constant string) *SchemaFault {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case string(raw) == "null" || t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface:
		return nil
	case strings.HasPrefix(t.Name(), "Opt["):
		return j.value(raw, t.Field(0).Type, "")
	case t.PkgPath() == "time":
		return scalar(raw, reflect.String, "")
	}
	switch t.Kind() {
	case reflect.Struct:
		if union(t) {
			return j.nearest(raw, t)
		}
		return j.object(raw, t, j.exact)
	case reflect.Slice:
		var all []json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			return &SchemaFault{Kind: Mistyped}
		}
		for i, one := range all {
			if f := j.value(one, t.Elem(), ""); f != nil {
				return f.below(fmt.Sprint(i))
			}
		}
		return nil
	case reflect.Map:
		var all map[string]json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			return &SchemaFault{Kind: Mistyped}
		}
		for name, one := range all {
			if f := j.value(one, t.Elem(), ""); f != nil {
				return f.below(name)
			}
		}
		return nil
	}
	return scalar(raw, t.Kind(), constant)
}

func (f *SchemaFault) below(name string) *SchemaFault {
	return &SchemaFault{append([]string{name}, f.Path...), f.Kind}
}

func scalar(raw json.RawMessage, kind reflect.Kind, constant string) *SchemaFault {
	to := map[reflect.Kind]any{reflect.String: new(string), reflect.Bool: new(bool), reflect.Int64: new(int64),
		reflect.Float64: new(float64)}[kind]
	switch {
	case to == nil:
		return nil
	case json.Unmarshal(raw, to) != nil:
		return &SchemaFault{Kind: Mistyped}
	case constant != "" && string(raw) != `"`+constant+`"`:
		return &SchemaFault{Kind: Constant}
	}
	return nil
}

// union reports whether a type stands for one of several.
func union(t reflect.Type) bool {
	for i := range t.NumField() {
		if strings.Contains(t.Field(i).Tag.Get("json"), "inline") {
			return true
		}
	}
	return false
}

// nearest returns the fault of the variant that comes nearest: it has the request's constants, else most of its
// members, else the fault is deep in it.
func (j judge) nearest(raw json.RawMessage, t reflect.Type) (most *SchemaFault) {
	best := 0
	for i := range t.NumField() {
		if !strings.Contains(t.Field(i).Tag.Get("json"), "inline") {
			continue
		}
		f := j.value(raw, t.Field(i).Type, "")
		if f == nil {
			return nil
		}
		if rank := likeness(raw, t.Field(i).Type)*10 + len(f.Path); most == nil || rank > best {
			most, best = f, rank
		}
	}
	return most
}

// likeness counts the members that a request shares with a type. Constants count more, for it or against it.
func likeness(raw json.RawMessage, t reflect.Type) (n int) {
	var members map[string]any
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || json.Unmarshal(raw, &members) != nil {
		return 0
	}
	for i := range t.Elem().NumField() {
		f := t.Elem().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		got, ok := members[name]
		constant := f.Tag.Get("default")
		switch {
		case !ok:
		case constant == "":
			n++
		case got == constant:
			n += 100
		default:
			n -= 100
		}
	}
	return n
}

func (j judge) object(raw json.RawMessage, t reflect.Type, exact bool) *SchemaFault {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return &SchemaFault{Kind: Mistyped}
	}
	known, open := map[string]reflect.StructField{}, false
	for i := range t.NumField() {
		f := t.Field(i)
		open = open || f.Tag.Get("api") == "extrafields"
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && f.IsExported() {
			known[name] = f
		}
	}
	for _, constants := range []bool{true, false} { // what tells a type first
		for name, f := range known {
			constant := f.Tag.Get("default")
			raw, ok := members[name]
			switch {
			case (constant != "") != constants:
			case !ok && exact && (constants || f.Tag.Get("api") == "required"):
				return (&SchemaFault{Kind: FaultMissing}).below(name)
			case ok && constants:
				if fault := scalar(raw, reflect.String, constant); fault != nil {
					return fault.below(name)
				}
			}
		}
	}
	for name, raw := range members {
		f, ok := known[name]
		switch {
		case !ok && !open:
			return (&SchemaFault{Kind: Unknown}).below(name)
		case ok:
			if fault := j.value(raw, f.Type, f.Tag.Get("default")); fault != nil {
				return fault.below(name)
			}
		}
	}
	return nil
}
