// Package settingsyaml writes a workspace's settings as YAML and reads them back, to save, compare or copy to another
// workspace.
package settingsyaml

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/lazy"
)

// MaxBytes is the largest file that is read.
const MaxBytes = 128 << 10

// Rules that only a file can break.
const (
	RuleSyntax  tenancy.Rule = "yaml"      // the file is no YAML
	RuleLarge   tenancy.Rule = "yaml_size" // larger than Max bytes
	RuleUnknown tenancy.Rule = "unknown"   // no setting has this name
	RuleTwice   tenancy.Rule = "twice"
	RuleAlias   tenancy.Rule = "alias"  // a name that stands for what is written elsewhere
	RuleOwn     tenancy.Rule = "own"    // a setting that each workspace has for itself
	RuleFields  tenancy.Rule = "fields" // settings of their own, by name
)

// Fault is a problem and its line in the file; 0: none.
type Fault struct {
	tenancy.Problem
	Line int
}

// own reports whether a setting is left out of files because it is unique to one workspace.
func own(name string) bool {
	x, ok := tenancy.SettingNamed(name)
	return ok && x.Own
}

type File struct {
	Settings tenancy.Settings
	// Names maps ids to the names in the comments after them: who the ids were in the workspace that wrote the file.
	Names map[string]string
	lines map[string]int
}

// Line returns the line of a field or of the field around it; 0 if the file has neither.
func (f File) Line(field string) int {
	for field != "" {
		if n := f.lines[field]; n > 0 {
			return n
		}
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
	}
	return 0
}

// Read applies a file to settings; settings that the file lacks stay as they are. It returns all of the file's faults
// at once, including broken rules of settings. If the file has none, the caller must still check the rules of the
// resulting settings.
func Read(text []byte, over tenancy.Settings) (File, []Fault) {
	f := File{Settings: over, Names: map[string]string{}, lines: map[string]int{}}
	if len(text) > MaxBytes {
		return f, []Fault{{Problem: tenancy.Problem{Rule: RuleLarge, Max: MaxBytes}}}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return f, []Fault{{tenancy.Problem{Rule: RuleSyntax}, lineOf(err)}}
	}
	if len(doc.Content) == 0 {
		return f, []Fault{{tenancy.Problem{Rule: RuleFields}, 1}}
	}
	r := reader{file: &f}
	r.object("", doc.Content[0], reflect.ValueOf(&f.Settings).Elem())
	if len(r.faults) > 0 {
		r.faults = append(r.faults, r.broken()...)
		slices.SortStableFunc(r.faults, func(a, b Fault) int { return a.Line - b.Line })
		f.Settings = over
	}
	return f, r.faults
}

// broken returns the rules of settings that a faulty file's readable values break.
func (r *reader) broken() (all []Fault) {
	for _, p := range r.file.Settings.Problems() {
		known := slices.ContainsFunc(r.faults, func(f Fault) bool {
			rest, ok := strings.CutPrefix(p.Field, f.Field)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
		if line := r.file.Line(p.Field); line > 0 && !known {
			all = append(all, Fault{p, line})
		}
	}
	return all
}

type reader struct {
	file   *File
	faults []Fault
}

func (r *reader) fault(field string, rule tenancy.Rule, n *yaml.Node) {
	r.faults = append(r.faults, Fault{tenancy.Problem{Field: field, Rule: rule}, n.Line})
}

// object sets a struct's fields from a mapping.
func (r *reader) object(at string, n *yaml.Node, into reflect.Value) {
	if n.Kind != yaml.MappingNode {
		r.fault(at, RuleFields, n)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		called := key.Value
		if known, ok := seedNames[called]; ok {
			called = known
		}
		name := strings.TrimPrefix(at+"."+called, ".")
		field, ok := fieldNamed(into, called)
		switch {
		case key.Kind != yaml.ScalarNode || !ok:
			r.fault(strings.TrimPrefix(at+"."+key.Value, "."), RuleUnknown, key)
		case seen[called]:
			r.fault(name, RuleTwice, key)
		case own(name):
			r.fault(name, RuleOwn, key)
		default:
			r.file.lines[name] = key.Line
			r.value(name, value, field)
		}
		seen[called] = true
	}
}

// texts reads a mapping of texts with arbitrary names.
func (r *reader) texts(at string, n *yaml.Node, into reflect.Value) {
	if n.Kind != yaml.MappingNode {
		r.fault(at, RuleFields, n)
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, one := n.Content[i], reflect.New(into.Type().Elem()).Elem()
		name := at + "." + key.Value
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "":
			r.fault(name, tenancy.RuleText, key)
			continue
		case into.MapIndex(reflect.ValueOf(key.Value)).IsValid():
			r.fault(name, RuleTwice, key)
		}
		r.value(name, n.Content[i+1], one)
		into.SetMapIndex(reflect.ValueOf(key.Value), one)
	}
}

func (r *reader) value(at string, n *yaml.Node, into reflect.Value) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fault(at, RuleAlias, n)
	case into.Kind() == reflect.Struct:
		r.object(at, n, into)
	case into.Kind() == reflect.Slice:
		r.list(at, n, into)
	case into.Kind() == reflect.Map:
		r.texts(at, n, into)
	case !scalar(n, into):
		r.fault(at, tenancy.Unread(at, into).Rule, n)
	default:
		if name := strings.TrimSpace(strings.TrimLeft(n.LineComment, "#")); name != "" {
			r.file.Names[n.Value] = name
		}
	}
}

func (r *reader) list(at string, n *yaml.Node, into reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		r.fault(at, tenancy.RuleList, n)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(n.Content), len(n.Content)))
	for i, one := range n.Content {
		name := at + "[" + strconv.Itoa(i) + "]"
		r.file.lines[name] = one.Line
		r.value(name, one, into.Index(i))
	}
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

// seedNames are other accepted spellings of settings.
var seedNames = map[string]string{
	"aiAgents": "agents", "aiSessions": "ai_sessions", "isDefault": "is_default", "authRef": "auth_ref",
}

// fieldNamed returns the struct field with this JSON name.
func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if tagOf(v.Type().Field(i)) == name && name != "" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func tagOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

var atLine = lazy.Regexp{Text: `line (\d+)`}

// lineOf returns the line in an error of the YAML reader.
func lineOf(err error) int {
	var typed *yaml.TypeError
	text := err.Error()
	if errors.As(err, &typed) && len(typed.Errors) > 0 {
		text = typed.Errors[0]
	}
	m := atLine.Get().FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}
