package template

import (
	"fmt"
	"maps"
	"regexp"
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
	if name, tagged := strings.CutPrefix(n.Tag, "!"); tagged && !strings.HasPrefix(name, "!") {
		v, err := r.call(name, untagged(n))
		if err != nil {
			return nil, fmt.Errorf("line %d: !%s: %w", n.Line, name, err)
		}
		return v, nil
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
	all, own := map[string]any{}, map[string]any{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if key == "Ref" || strings.HasPrefix(key, "Fn::") {
			return nil, fmt.Errorf("line %d: the local stack knows the short forms of intrinsics only, not %s", n.Line, key)
		}
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

// arguments is how many intrinsics take.
var arguments = map[string]int{"Equals": 2, "Not": 1, "Join": 2, "Select": 2, "Split": 2}

func (r *resolver) call(name string, n *yaml.Node) (any, error) {
	if single := name == "Ref" || name == "Sub" || name == "GetAtt"; single && n.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("takes a text")
	}
	switch name {
	case "If":
		return r.choose(n)
	case "Ref":
		return r.ref(n.Value)
	case "Sub":
		return r.substitute(n.Value)
	case "GetAtt":
		id, attribute, _ := strings.Cut(n.Value, ".")
		return r.attribute(id, attribute)
	}
	v, err := r.value(n)
	if err != nil {
		return nil, err
	}
	args, _ := v.([]any)
	if wanted, known := arguments[name]; known && len(args) != wanted {
		return nil, fmt.Errorf("takes %d, got %d", wanted, len(args))
	}
	switch name {
	case "Equals":
		return fmt.Sprint(args[0]) == fmt.Sprint(args[1]), nil
	case "Not":
		holds, ok := args[0].(bool)
		if !ok {
			return nil, fmt.Errorf("%v is not true or false", args[0])
		}
		return !holds, nil
	case "Join":
		list, err := words(args[1])
		return strings.Join(list, fmt.Sprint(args[0])), err
	case "Select":
		at, err := strconv.Atoi(fmt.Sprint(args[0]))
		list, _ := args[1].([]any)
		if err != nil || at < 0 || at >= len(list) {
			return nil, fmt.Errorf("there is no element %v", args[0])
		}
		return list[at], nil
	case "Split":
		list := []any{}
		for part := range strings.SplitSeq(fmt.Sprint(args[1]), fmt.Sprint(args[0])) {
			list = append(list, part)
		}
		return list, nil
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
	if v, ok := pseudo[id]; ok {
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

var placeholder = regexp.MustCompile(`\$\{([^}]+)\}`)

// substitute replaces each ${…} by a Ref, or by an attribute if it has a dot.
func (r *resolver) substitute(text string) (any, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		v, err := any(nil), error(nil)
		if id, attribute, ok := strings.Cut(name, "."); ok {
			v, err = r.attribute(id, attribute)
		} else {
			v, err = r.ref(name)
		}
		if err != nil {
			failed = err
		}
		return fmt.Sprint(v)
	})
	return out, failed
}

// words returns the elements of a list as texts.
func words(v any) (list []string, err error) {
	elements, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("its second value is no list")
	}
	for _, e := range elements {
		list = append(list, fmt.Sprint(e))
	}
	return list, nil
}
