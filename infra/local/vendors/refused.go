package vendors

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

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

// Refused compares a request with the type that a vendor's Go SDK has for it, with all that stands in it. It returns
// nil if the vendor takes it. exact says that required members are so within others, too: OpenAI's server does without
// some that its description requires.
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
