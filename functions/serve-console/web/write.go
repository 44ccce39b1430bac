package web

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Write formats a struct as YAML. named returns the name for an id, or "" if unknown; the name becomes a comment after
// the id. about becomes a comment at the top.
func (f YAMLForm) Write(v any, about string, named func(id string) string) ([]byte, error) {
	root := f.object(reflect.ValueOf(v), named, true)
	root.HeadComment = oneLine(about)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return b.Bytes(), e.Close()
}

func (f YAMLForm) object(v reflect.Value, named func(string) string, top bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := tagOf(field)
		switch {
		case inlined(field):
			n.Content = append(n.Content, f.object(v.Field(i), named, false).Content...)
		case name == "" || top && f.own(name) || omitted(field, v.Field(i)):
		default:
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, f.value(v.Field(i), named))
		}
	}
	return n
}

// omitted reports whether a field is optional and empty.
func omitted(f reflect.StructField, v reflect.Value) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return (options == "omitempty" || options == "omitzero") && (v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0)
}

func (f YAMLForm) value(v reflect.Value, named func(string) string) *yaml.Node {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
		}
		return f.value(v.Elem(), named)
	case reflect.Struct:
		return f.object(v, named, false)
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, f.value(v.Index(i), named))
		}
		if v.Len() == 0 {
			n.Style = yaml.FlowStyle // []
		}
		return n
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			n.Content = append(n.Content, f.value(name, func(string) string { return "" }), f.value(v.MapIndex(name), named))
		}
		return n
	case reflect.String:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v.String()}
		if name := named(v.String()); name != "" {
			n.LineComment = "# " + oneLine(name)
		}
		return n
	case reflect.Float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v.Float(), 'f', -1, 64)}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v.Interface())}
}

// oneLine makes a text fit a YAML comment, which a line break would end.
func oneLine(text string) string {
	return strings.Join(
		strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }),
		" ",
	)
}
