package settings

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// MaxBytes is the largest file that is read.
const MaxBytes = 128 << 10

// called are the specification's own spellings of fields.
var called = map[string]string{"aiAgents": "agents", "aiSessions": "ai_sessions", "isDefault": "is_default",
	"authRef": "auth_ref"}

// mistake is a problem and its line in the file; 0: none.
type mistake struct {
	aggregate.Problem
	Line int
}

// SettingsFile is settings and rules as they are saved, compared or copied to another workspace, with where the file
// says what.
type SettingsFile struct {
	Settings tenancy.Settings
	Rules    []rules.Rule
	lines    map[string]int
}

// Line returns the line of a field or of the field around it; 0 if the file has neither.
func (f SettingsFile) Line(field string) int {
	for field != "" {
		if n := f.lines[field]; n > 0 {
			return n
		}
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
	}
	return 0
}

// read applies a file to the struct that into points to; fields that the file lacks stay as they are. It returns all of
// the file's mistakes at once. If there are any, the struct has what could be read.
func read(text []byte, into any) (SettingsFile, []mistake) {
	r := reader{file: SettingsFile{lines: map[string]int{}}}
	var doc yaml.Node
	err := error(nil)
	if len(text) <= MaxBytes {
		err = yaml.Unmarshal(text, &doc)
	}
	switch {
	case len(text) > MaxBytes:
		r.faults = []mistake{{Problem: aggregate.Problem{Code: "yaml_size", Args: []any{MaxBytes}}}}
	case err != nil:
		r.faults = []mistake{{aggregate.Problem{Code: "yaml"}, 0}}
		_, _ = fmt.Sscanf(err.Error(), "yaml: line %d:", &r.faults[0].Line) // 0: it names none
	case len(doc.Content) == 0:
		r.faults = []mistake{{aggregate.Problem{Code: "fields"}, 1}}
	default:
		r.object("", doc.Content[0], reflect.ValueOf(into).Elem())
	}
	return r.file, r.faults
}

type reader struct {
	file   SettingsFile
	faults []mistake
}

func (r *reader) fault(field, code string, n *yaml.Node) {
	r.faults = append(r.faults, mistake{aggregate.Problem{Field: field, Code: code}, n.Line})
}

// object sets a struct's fields from a mapping.
func (r *reader) object(at string, n *yaml.Node, into reflect.Value) {
	if n.Kind != yaml.MappingNode {
		r.fault(at, "fields", n)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		of := cmp.Or(called[key.Value], key.Value)
		name := strings.TrimPrefix(at+"."+of, ".")
		field, ok := fieldNamed(into, of)
		switch {
		case key.Kind != yaml.ScalarNode || !ok:
			r.fault(strings.TrimPrefix(at+"."+key.Value, "."), "unknown", key)
		case seen[of]:
			r.fault(name, "twice", key)
		default:
			r.file.lines[name] = key.Line
			r.value(name, value, field)
		}
		seen[of] = true
	}
}

// texts reads a mapping of texts with arbitrary names.
func (r *reader) texts(at string, n *yaml.Node, into reflect.Value) {
	into.Set(reflect.MakeMap(into.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, one := n.Content[i], reflect.New(into.Type().Elem()).Elem()
		name := at + "." + key.Value
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "":
			r.fault(name, "text", key)
			continue
		case into.MapIndex(reflect.ValueOf(key.Value)).IsValid():
			r.fault(name, "twice", key)
		}
		r.value(name, n.Content[i+1], one)
		into.SetMapIndex(reflect.ValueOf(key.Value), one)
	}
}

func (r *reader) value(at string, n *yaml.Node, into reflect.Value) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fault(at, "alias", n)
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		r.value(at, n, into.Elem())
	case asText(into) != nil:
		if n.Kind != yaml.ScalarNode || asText(into).UnmarshalText([]byte(n.Value)) != nil {
			r.fault(at, "text", n)
		}
	case into.Kind() == reflect.Struct:
		r.object(at, n, into)
	case into.Kind() == reflect.Map && n.Kind != yaml.MappingNode:
		r.fault(at, "fields", n)
	case into.Kind() == reflect.Slice:
		r.list(at, n, into)
	case into.Kind() == reflect.Map:
		r.texts(at, n, into)
	case !scalar(n, into):
		r.fault(at, unread[into.Kind()], n)
	}
}

// asText returns a value that is one text in files, or nil.
func asText(into reflect.Value) encoding.TextUnmarshaler {
	x, is := into.Addr().Interface().(encoding.TextUnmarshaler)
	if !is || into.Kind() != reflect.Struct {
		return nil
	}
	return x
}

func (r *reader) list(at string, n *yaml.Node, into reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		r.fault(at, "list", n)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Content), len(n.Content)))
	for i, one := range n.Content {
		name := at + "[" + strconv.Itoa(i) + "]"
		r.file.lines[name] = one.Line
		r.value(name, one, into.Index(i))
	}
}

// unread is the problem of a value that can't be read, by the type of the field.
var unread = map[reflect.Kind]string{
	reflect.Bool: "flag", reflect.Int: "whole", reflect.Float64: "number", reflect.String: "text",
}

// scalar reads a value only if it has the field's own kind: YAML 1.1 would read no as false and 1_0 as ten.
func scalar(n *yaml.Node, into reflect.Value) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch into.Kind() {
	case reflect.String:
		if n.ShortTag() != "!!str" && n.ShortTag() != "!!int" && n.ShortTag() != "!!float" {
			return false
		}
		into.SetString(n.Value)
		return true
	case reflect.Bool:
		into.SetBool(n.Value == "true")
		return plain && (n.Value == "true" || n.Value == "false")
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		into.SetInt(int64(i))
		return plain && err == nil
	case reflect.Float64:
		x, err := strconv.ParseFloat(n.Value, 64)
		into.SetFloat(x)
		return plain && err == nil
	}
	return false
}

// fieldNamed returns the struct field with this JSON name; an embedded struct's fields are the struct's own.
func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			if of, ok := fieldNamed(v.Field(i), name); ok {
				return of, true
			}
		} else if tag == name && name != "" && name != "-" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// write formats a struct as YAML. named returns the name for an id, which becomes a comment after it, or a text as it
// is. about becomes a comment at the top.
func write(v any, about string, named func(id string) string) ([]byte, error) {
	text, err := json.Marshal(v)
	var doc yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &doc) // JSON is YAML
	}
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	root := doc.Content[0]
	blocks(root, named)
	root.HeadComment = oneLine(about)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return b.Bytes(), e.Close()
}

// blocks lays out what was JSON as YAML, each member on its line, with names as comments after ids.
func blocks(n *yaml.Node, named func(id string) string) {
	n.Style = 0
	switch {
	case n.ShortTag() == "!!null" || n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		*n = yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle} // []: a list that is nil
	case n.ShortTag() == "!!str":
		if name := named(n.Value); name != n.Value {
			n.LineComment = "# " + oneLine(name)
		}
	}
	for i, one := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			one.Style = 0 // a name
			continue
		}
		blocks(one, named)
	}
}

// oneLine makes a text fit a YAML comment, which a line break would end.
func oneLine(text string) string {
	breaks := func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }
	return strings.Join(strings.FieldsFunc(text, breaks), " ")
}
