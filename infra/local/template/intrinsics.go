package template

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// noValue is the value of !Ref AWS::NoValue. A property with this value is left out.
type noValue struct{}

// resolver converts YAML nodes to plain values and resolves every intrinsic.
type resolver struct {
	names      Names
	parameters map[string]any
	conditions map[string]yaml.Node
	resources  map[string]string // type by logical id
}

// value resolves a node and its children.
func (r *resolver) value(n *yaml.Node) (any, error) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		return r.intrinsic(strings.TrimPrefix(n.Tag, "!"), untagged(n))
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0])
	case yaml.MappingNode:
		return r.mapping(n)
	case yaml.SequenceNode:
		return r.sequence(n)
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
		if _, isText := v.(string); !isText && n.ShortTag() == "!!timestamp" {
			return n.Value, nil
		}
		return v, nil
	}
}

func untagged(n *yaml.Node) *yaml.Node {
	c := *n
	c.Tag = ""
	if c.Kind == yaml.ScalarNode {
		c.Tag = "!!str"
	}
	return &c
}

func (r *resolver) mapping(n *yaml.Node) (any, error) {
	if len(n.Content) == 2 {
		name := n.Content[0].Value
		if name == "Ref" {
			return r.intrinsic(name, n.Content[1])
		}
		if short, ok := strings.CutPrefix(name, "Fn::"); ok {
			return r.intrinsic(short, n.Content[1])
		}
	}
	all, own := map[string]any{}, map[string]any{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i].Value
		v, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if merged, ok := v.(map[string]any); ok && key == "<<" {
			all = merged
		} else if v != (noValue{}) {
			own[key] = v
		}
	}
	maps.Copy(all, own)
	return all, nil
}

func (r *resolver) sequence(n *yaml.Node) (any, error) {
	list := []any{}
	for i, c := range n.Content {
		v, err := r.value(c)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		if v != any(noValue{}) {
			list = append(list, v)
		}
	}
	return list, nil
}

func (r *resolver) intrinsic(name string, n *yaml.Node) (any, error) {
	v, err := r.call(name, n)
	if err != nil {
		return nil, fmt.Errorf("line %d: !%s: %w", n.Line, name, err)
	}
	return v, nil
}

// arguments has the number of arguments of an intrinsic, and their names for errors.
var arguments = map[string]struct {
	n    int
	what string
}{
	"Equals": {2, "two values"}, "Join": {2, "a separator and a list"}, "Select": {2, "an index and a list"}, "Split": {2,
		"a separator and a text"},
}

func (r *resolver) call(name string, n *yaml.Node) (any, error) {
	switch name {
	case "If":
		return r.choose(n)
	case "Sub":
		return r.substitute(n)
	}
	v, err := r.value(n)
	if err != nil {
		return nil, err
	}
	args, _ := v.([]any)
	if wanted, known := arguments[name]; known && len(args) != wanted.n {
		return nil, fmt.Errorf("takes %s, got %d", wanted.what, len(args))
	}
	switch name {
	case "Ref":
		return r.ref(fmt.Sprint(v))
	case "GetAtt":
		if len(args) == 2 {
			return r.attribute(fmt.Sprint(args[0]), fmt.Sprint(args[1]))
		}
		id, attribute, _ := strings.Cut(fmt.Sprint(v), ".")
		return r.attribute(id, attribute)
	case "Equals":
		return fmt.Sprint(args[0]) == fmt.Sprint(args[1]), nil
	case "Not", "And", "Or":
		return combine(name, args)
	case "Join":
		return join(args)
	case "Select":
		return choice(args)
	case "Split":
		return split(args)
	default:
		return nil, fmt.Errorf("not known to the local stack")
	}
}

func (r *resolver) ref(id string) (any, error) {
	if id == "AWS::NoValue" {
		return noValue{}, nil
	}
	if v, ok := r.parameters[id]; ok {
		return v, nil
	}
	if v, ok := r.names.pseudo(id); ok {
		return v, nil
	}
	kind, ok := r.resources[id]
	if !ok {
		return nil, fmt.Errorf("%q is no parameter and no resource", id)
	}
	return r.names.Ref(id, kind), nil
}

func (r *resolver) attribute(id, attribute string) (any, error) {
	kind, ok := r.resources[id]
	if !ok {
		return nil, fmt.Errorf("%q is no resource", id)
	}
	return r.names.Attribute(id, kind, attribute), nil
}

func (r *resolver) choose(n *yaml.Node) (any, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) != 3 {
		return nil, fmt.Errorf("takes a condition and two values")
	}
	holds, err := r.condition(n.Content[0].Value)
	if err != nil {
		return nil, err
	}
	if holds {
		return r.value(n.Content[1])
	}
	return r.value(n.Content[2])
}

func (r *resolver) condition(name string) (bool, error) {
	n, ok := r.conditions[name]
	if !ok {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	v, err := r.value(&n)
	if err != nil {
		return false, fmt.Errorf("condition %s: %w", name, err)
	}
	holds, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("condition %s is %v, not true or false", name, v)
	}
	return holds, nil
}

var placeholder = regexp.MustCompile(`\$\{(!?)([^}]+)\}`)

func (r *resolver) substitute(n *yaml.Node) (any, error) {
	text, own := n.Value, map[string]any{}
	if n.Kind == yaml.SequenceNode {
		if len(n.Content) != 2 {
			return nil, fmt.Errorf("takes a text, or a text and a map")
		}
		v, err := r.value(n.Content[1])
		if err != nil {
			return nil, err
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("its second value is no map")
		}
		text, own = n.Content[0].Value, m
	}
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		parts := placeholder.FindStringSubmatch(match)
		if parts[1] == "!" {
			return "${" + parts[2] + "}"
		}
		name := strings.TrimSpace(parts[2])
		if v, ok := own[name]; ok {
			return fmt.Sprint(v)
		}
		v, err := r.name(name)
		if err != nil {
			failed = err
			return match
		}
		return fmt.Sprint(v)
	})
	return out, failed
}

// name resolves the name inside ${…}: a Ref, or an attribute after a dot.
func (r *resolver) name(name string) (any, error) {
	if id, attribute, ok := strings.Cut(name, "."); ok {
		return r.attribute(id, attribute)
	}
	return r.ref(name)
}

// These intrinsics depend on their arguments only.

func combine(name string, args []any) (any, error) {
	var bools []bool
	for _, a := range args {
		b, ok := a.(bool)
		if !ok {
			return nil, fmt.Errorf("%v is not true or false", a)
		}
		bools = append(bools, b)
	}
	if len(bools) == 0 || name == "Not" && len(bools) != 1 {
		return nil, fmt.Errorf("has %d conditions", len(bools))
	}
	switch name {
	case "Not":
		return !bools[0], nil
	case "And":
		return !slices.Contains(bools, false), nil
	default:
		return slices.Contains(bools, true), nil
	}
}

func join(args []any) (any, error) {
	list, ok := args[1].([]any)
	if !ok {
		return nil, fmt.Errorf("its second value is no list")
	}
	var parts []string
	for _, v := range list {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, fmt.Sprint(args[0])), nil
}

func choice(args []any) (any, error) {
	at, err := strconv.Atoi(fmt.Sprint(args[0]))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	list, ok := args[1].([]any)
	if !ok || at < 0 || at >= len(list) {
		return nil, fmt.Errorf("there is no element %d", at)
	}
	return list[at], nil
}

func split(args []any) (any, error) {
	list := []any{}
	for part := range strings.SplitSeq(fmt.Sprint(args[1]), fmt.Sprint(args[0])) {
		list = append(list, part)
	}
	return list, nil
}
