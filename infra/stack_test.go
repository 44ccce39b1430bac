// Package infra_test checks template.yaml, and the files that it refers to, by rules that linters don't know and whose
// violation a deployment would only show late.
package infra_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// stack is template.yaml read twice: as written, with its intrinsics, and resolved as the local stack resolves it.
type stack struct {
	text       string // the template
	resources  map[string]resource
	globals    map[string]any // of functions
	parameters map[string]bool
	functions  map[string]template.Function
	queues     map[string]template.Queue // by ARN
	table      template.Table
	machines   map[string]machine // by logical id
	pipeline   machine            // that of tasks
	files      map[string]string  // the texts by path

	roles map[string]template.Role // of functions and state machines, where everything is switched on
}

// resource is a resource of the template. Intrinsics in its properties have the long form: !Ref X is {"Ref": "X"}.
type resource struct {
	Type, Condition                     string
	DeletionPolicy, UpdateReplacePolicy string
	Metadata                            map[string]any
	Properties                          map[string]any
}

// rule reports a stack's faults.
type rule func(s *stack, wrong report)

// report takes a fault's description, like fmt.Sprintf.
type report func(format string, args ...any)

// where reports a fault if a rule is broken.
func (wrong report) where(broken bool, format string, args ...any) {
	if broken {
		wrong(format, args...)
	}
}

const (
	templateFile   = "template.yaml"
	definitionFile = "infra/pipeline.asl.json"
)

// files returns the template and the state machines of the repository, by path.
func files(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{templateFile: textOf(t, filepath.Join(repository, templateFile))}
	found := expect.Value(filepath.Glob("*.asl.json"))(t)
	expect.Must(t, len(found) != 0, "no state machine is found")
	for _, name := range found {
		texts["infra/"+name] = textOf(t, name)
	}
	return texts
}

// read makes a stack of the texts.
func read(dir string, texts map[string]string) (*stack, error) {
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	resolved, err := template.Read(filepath.Join(dir, templateFile), anyAccount, map[string]string{"Stage": "dev"})
	if err != nil {
		return nil, err
	}
	roles, err := template.Roles(filepath.Join(dir, templateFile), anyAccount,
		map[string]string{"Stage": "dev", "Sandbox": "on", "ContestWorkspace": "s3://contests/files"})
	if err != nil {
		return nil, err
	}
	s := &stack{roles: roles, text: texts[templateFile], files: texts,
		functions: map[string]template.Function{}, queues: map[string]template.Queue{}, machines: map[string]machine{}}
	for _, m := range resolved.Machines {
		if s.machines[m.ID], err = parseMachine(m.Definition); err != nil {
			return nil, err
		}
	}
	if len(resolved.Tables) != 1 {
		return nil, fmt.Errorf("there are %d tables, one is wanted", len(resolved.Tables))
	}
	s.table, s.pipeline = resolved.Tables[0], s.machines["Pipeline"]
	for _, f := range resolved.Functions {
		s.functions[f.ID] = f
	}
	for _, q := range resolved.Queues {
		s.queues[q.ARN] = q
	}
	var d struct {
		Parameters map[string]any       `yaml:"Parameters"`
		Resources  map[string]yaml.Node `yaml:"Resources"`
		Globals    struct {
			Function yaml.Node `yaml:"Function"`
		} `yaml:"Globals"`
	}
	if err := yaml.Unmarshal([]byte(s.text), &d); err != nil {
		return nil, err
	}
	s.globals, s.parameters = object(plain(&d.Globals.Function)), map[string]bool{}
	for name := range d.Parameters {
		s.parameters[name] = true
	}
	s.resources = map[string]resource{}
	for id, n := range d.Resources {
		s.add(id, plain(&n))
	}
	return s, nil
}

func (s *stack) add(id string, v any) {
	m := object(v)
	s.resources[id] = resource{Type: text(m["Type"]), Condition: text(m["Condition"]),
		DeletionPolicy: text(m["DeletionPolicy"]), UpdateReplacePolicy: text(m["UpdateReplacePolicy"]),
		Metadata: object(m["Metadata"]), Properties: object(m["Properties"])}
}

// plain turns a node into maps, lists and scalars, and its tags into the long form.
func plain(n *yaml.Node) any {
	var v any
	switch n.Kind {
	case yaml.AliasNode:
		return plain(n.Alias)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		all := object(m["<<"])
		if delete(m, "<<"); all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, m)
		v = all
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, plain(c))
		}
		v = list
	default:
		v = n.Value
	}
	switch tag, ours := strings.CutPrefix(n.Tag, "!"); {
	case !ours || strings.HasPrefix(tag, "!"):
		return v
	case tag == "Ref" || tag == "Condition":
		return map[string]any{tag: v}
	default:
		return map[string]any{"Fn::" + tag: v}
	}
}

// at returns a value within maps, nil if it is missing.
func at(v any, path ...string) any {
	for _, key := range path {
		v = object(v)[key]
	}
	return v
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func text(v any) string { s, _ := v.(string); return s }

// list returns a list; a single value becomes a list of one.
func list(v any) []any {
	if l, ok := v.([]any); ok || v == nil {
		return l
	}
	return []any{v}
}

var bare = strings.NewReplacer("${", "", "}", "")

// target returns the logical id that a Ref, GetAtt or Sub refers to, with its attribute if there is one.
func target(v any) string {
	for _, name := range []string{"Ref", "Fn::GetAtt", "Fn::Sub"} {
		if s := text(at(v, name)); s != "" {
			return bare.Replace(s)
		}
	}
	return text(v)
}

// of returns the ids of all resources of a type, in order.
func (s *stack) of(kind string) []string {
	var ids []string
	for id, r := range s.resources {
		if r.Type == kind {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// problems returns what all rules find wrong.
func problems(t *testing.T, texts map[string]string) []string {
	t.Helper()
	s, err := read(t.TempDir(), texts)
	if err != nil {
		return []string{err.Error()}
	}
	var all []string
	for _, r := range []rule{rightRule, auditRule, aloneRule, keptRule, forgottenRule, versionRule, deliveryRule,
		alarmRule, shapeRule, errorRule, callRule} {
		r(s, func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) })
	}
	return all
}

func TestStackKeepsEveryRule(t *testing.T) {
	for _, p := range problems(t, files(t)) {
		t.Error(p)
	}
}
