// Package infra_test checks template.yaml, and the files that it refers to, by rules that linters don't know and whose
// violation a deployment would only show late.
package infra_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// stack is template.yaml read twice: as written, with its intrinsics, and resolved as the local stack resolves them.
type stack struct {
	text       string
	resources  map[string]resource
	globals    map[string]any // of functions
	parameters map[string]bool
	functions  map[string]template.Function
	queues     map[string]template.Queue // by ARN
	table      template.Table
	machines   map[string]machine // by file
	pipeline   machine            // that of tasks
	files      map[string]string  // the texts by path

	said map[string][]statement // statements of roles by logical id, read when a rule first asks for them
}

// The tests that comments of the template name exist.
func TestTheTemplateNamesTestsThatExist(t *testing.T) {
	named := testFile.FindAllString(textOf(t, "../template.yaml"), -1)
	expect.That(t, len(named) != 0, "the template names no test that holds it")
	for _, name := range named {
		_, err := os.Stat(filepath.Join("..", name))
		expect.That(t, err == nil, "template.yaml names %s: %v", name, err)
	}
}

var testFile = regexp.MustCompile(`[a-z0-9_/]+_test\.go`)

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
	texts := map[string]string{}
	for _, name := range append(definitions(t), templateFile) {
		texts[name] = textOf(t, filepath.Join(repository, name))
	}
	return texts
}

// definitions returns the paths of all state machines.
func definitions(t *testing.T) (names []string) {
	t.Helper()
	found, err := filepath.Glob("*.asl.json")
	if err != nil || len(found) == 0 {
		t.Fatal("no state machine is found:", err)
	}
	for _, name := range found {
		names = append(names, "infra/"+name)
	}
	return names
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
	if len(resolved.Tables) != 1 || len(resolved.Machines) != len(texts)-1 {
		return nil, fmt.Errorf("there are %d tables, one is wanted, and %d state machines of %d files", len(resolved.Tables), len(resolved.Machines), len(texts)-1)
	}
	s := &stack{text: texts[templateFile], files: texts, said: map[string][]statement{}, functions: map[string]template.Function{}, queues: map[string]template.Queue{}, table: resolved.Tables[0]}
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
		m, _ := plain(&n).(map[string]any)
		s.resources[id] = resource{
			Type: text(m["Type"]), Condition: text(m["Condition"]), DeletionPolicy: text(m["DeletionPolicy"]),
			UpdateReplacePolicy: text(m["UpdateReplacePolicy"]), Metadata: object(m["Metadata"]), Properties: object(m["Properties"]),
		}
	}
	s.machines = map[string]machine{}
	for name, text := range texts {
		if name == templateFile {
			continue
		}
		if s.machines[name], err = parseMachine(text); err != nil {
			return nil, err
		}
	}
	s.pipeline = s.machines[definitionFile]
	return s, nil
}

// plain turns a node into maps, lists and scalars, and its tags into the long form.
func plain(n *yaml.Node) any {
	var v any
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		v = m
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
	for _, r := range slices.Concat(storageRules(), functionRules(), eventRules(), permissionRules(), alarmRules(), dashboardRules(), pipelineRules(), []rule{timeRules}) {
		r(s, func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) })
	}
	return all
}

func TestStackKeepsEveryRule(t *testing.T) {
	for _, p := range problems(t, files(t)) {
		t.Error(p)
	}
}
