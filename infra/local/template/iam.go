package template

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Role is the set of policies of a function or state machine.
type Role struct {
	Name     string
	Policies []Policy
}

// Policy is a list of statements. Several roles may have the same managed policy.
type Policy struct {
	Name       string
	Statements []Statement
}

// Statement allows or denies actions on resources if all its conditions hold.
type Statement struct {
	Sid        string
	Deny       bool
	Actions    []string
	Resources  []string // patterns of ARNs
	conditions []condition
}

// condition compares a condition key of the call with the policy's values.
type condition struct {
	key      string
	operator string // without a ForAllValues: or ForAnyValue: prefix
	every    bool   // ForAllValues
	any      bool   // ForAnyValue
	values   []string
}

const (
	stringEquals    = "StringEquals"
	stringNotEquals = "StringNotEquals"
	stringLike      = "StringLike"
	null            = "Null"
)

// The condition keys that calls can carry. Those with true hold a list, and only ForAllValues and ForAnyValue compare
// lists.
var (
	contextKeys = map[string]bool{
		leadingKeys: true, attributes: true, enclosingOperation: false, signingAlgorithm: false, sourceFunction: false,
	}
	contextPrefix = encryptionContext // prefix of the keys that a call names itself
)

// ReadPolicy reads a policy document whose intrinsics are resolved. It returns an error for anything that it does not
// know.
func ReadPolicy(name string, document any) (Policy, error) {
	p := Policy{Name: name}
	d, err := fields(document, "Version", "Statement")
	if err != nil {
		return p, fmt.Errorf("policy %s: %w", name, err)
	}
	if d["Version"] != "2012-10-17" {
		return p, fmt.Errorf("policy %s: Version %v is not known", name, d["Version"])
	}
	for i, v := range list(d["Statement"]) {
		s, err := readStatement(v)
		if err != nil {
			return p, fmt.Errorf("policy %s: statement %d: %w", name, i+1, err)
		}
		p.Statements = append(p.Statements, s)
	}
	return p, nil
}

func readStatement(v any) (s Statement, err error) {
	m, err := fields(v, "Sid", "Effect", "Action", "Resource", "Condition")
	if err != nil {
		return s, err
	}
	s.Sid, _ = m["Sid"].(string)
	switch m["Effect"] {
	case "Allow":
	case "Deny":
		s.Deny = true
	default:
		return s, fmt.Errorf("%s: Effect %v is not known", s.Sid, m["Effect"])
	}
	if s.Actions, err = texts(m["Action"]); err != nil {
		return s, fmt.Errorf("%s: Action: %w", s.Sid, err)
	}
	if s.Resources, err = texts(m["Resource"]); err != nil {
		return s, fmt.Errorf("%s: Resource: %w", s.Sid, err)
	}
	if s.Sid == "" || len(s.Actions) == 0 || len(s.Resources) == 0 {
		return s, fmt.Errorf("%s: a statement has a Sid, an Action and a Resource", s.Sid)
	}
	if s.conditions, err = readConditions(m["Condition"]); err != nil {
		return s, fmt.Errorf("%s: %w", s.Sid, err)
	}
	return s, nil
}

func readConditions(v any) (out []condition, err error) {
	if v == nil {
		return nil, nil
	}
	operators, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("Condition is no map")
	}
	for _, operator := range slices.Sorted(maps.Keys(operators)) {
		keys, ok := operators[operator].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is no map", operator)
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			c, err := readCondition(operator, key, keys[key])
			if err != nil {
				return nil, fmt.Errorf("Condition %s: %s: %w", operator, key, err)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func readCondition(operator, key string, values any) (c condition, err error) {
	c = condition{key: key, operator: operator}
	if rest, ok := strings.CutPrefix(operator, "ForAllValues:"); ok {
		c.operator, c.every = rest, true
	} else if rest, ok := strings.CutPrefix(operator, "ForAnyValue:"); ok {
		c.operator, c.any = rest, true
	}
	quantified := c.every || c.any
	switch c.operator {
	case stringEquals, stringLike:
	case stringNotEquals, null:
		if quantified {
			return c, fmt.Errorf("the operator is not known here")
		}
	default:
		return c, fmt.Errorf("the operator is not known here")
	}
	holdsList, known := contextKeys[key]
	if !known && !strings.HasPrefix(key, contextPrefix) {
		return c, fmt.Errorf("the condition key is not known here")
	}
	if holdsList != quantified && c.operator != null {
		return c, fmt.Errorf("ForAllValues and ForAnyValue are for keys that hold a list, and those need one of them")
	}
	if c.values, err = texts(values); err != nil {
		return c, err
	}
	if c.operator == null && (len(c.values) != 1 || c.values[0] != "true" && c.values[0] != "false") {
		return c, fmt.Errorf("Null takes true or false, not %v", c.values)
	}
	return c, nil
}

// fields returns v as a map, or an error if it has keys other than the known ones.
func fields(v any, known ...string) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%v is no map", v)
	}
	for key := range m {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%s is not known here", key)
		}
	}
	return m, nil
}

// list wraps a single value in a list, and returns a list unchanged.
func list(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func texts(v any) (out []string, err error) {
	for _, x := range list(v) {
		text, ok := x.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no text", x)
		}
		if strings.Contains(text, "${") {
			return nil, fmt.Errorf("%q: policy variables are not known here", text)
		}
		out = append(out, text)
	}
	return out, nil
}

// Request is one action on one resource that a call needs, with the values that conditions compare.
type Request struct {
	Action, Resource string
	Context          map[string][]string
}

type Verdict struct {
	Allowed bool
	By      string // the Sid of the statement that allows or denies it
}

// Judge decides whether the role allows a request. An explicit Deny wins; without an Allow the request is refused.
func (r Role) Judge(q Request) (v Verdict) {
	for _, p := range r.Policies {
		for _, s := range p.Statements {
			switch {
			case !s.matches(q):
			case s.Deny:
				return Verdict{By: s.Sid}
			case !v.Allowed:
				v = Verdict{true, s.Sid}
			}
		}
	}
	return v
}

// matches reports whether a statement is about a request and all its conditions hold.
func (s Statement) matches(q Request) bool {
	return s.About(q.Action) &&
		slices.ContainsFunc(s.Resources, func(pattern string) bool { return like(pattern, q.Resource) }) &&
		!slices.ContainsFunc(s.conditions, func(c condition) bool { return !c.holds(q.Context[c.key]) })
}

// is compares one value of the condition with one value of the call.
func (c condition) is(value, have string) bool {
	if c.operator == stringLike {
		return like(value, have)
	}
	return value == have
}

// About reports whether a statement concerns an action.
func (s Statement) About(action string) bool {
	return slices.ContainsFunc(s.Actions, func(a string) bool { return like(strings.ToLower(a), strings.ToLower(action)) })
}

// holds reports whether the condition holds for the values of its key. If the call lacks the key, ForAllValues and
// StringNotEquals hold, as in AWS.
func (c condition) holds(have []string) bool {
	wanted := func(h string) bool {
		return slices.ContainsFunc(c.values, func(v string) bool { return c.is(v, h) })
	}
	switch {
	case c.operator == null:
		return (len(have) == 0) == (c.values[0] == "true")
	case c.every:
		return !slices.ContainsFunc(have, func(h string) bool { return !wanted(h) })
	case c.operator == stringNotEquals:
		return !slices.ContainsFunc(have, wanted)
	default: // ForAnyValue, or a key with a single value
		return slices.ContainsFunc(have, wanted)
	}
}

// For path.Match neither * nor ? stands for a slash, and \ and [ are signs.
var whole, plain = strings.NewReplacer("/", "\x00"), strings.NewReplacer(`\`, `\\`, "[", `\[`, "/", "\x00")

// like matches a pattern in which * stands for any text and ? for one character.
func like(pattern, s string) bool {
	is, _ := path.Match(plain.Replace(pattern), whole.Replace(s)) // no pattern is malformed
	return is
}
