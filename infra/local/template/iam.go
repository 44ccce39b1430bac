package template

import (
	"fmt"
	"maps"
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
	Managed    bool
	Statements []Statement
}

// Statement allows or denies actions on resources if all its conditions hold.
type Statement struct {
	Sid        string
	Deny       bool
	Actions    []string
	Resources  []PolicyResource
	conditions []condition
}

// PolicyResource is a pattern of ARNs. Name is the pattern's name, which is the same in every stack.
type PolicyResource struct{ Pattern, Name string }

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

// ReadPolicy reads a policy document whose intrinsics are resolved. named is the same document with names that are
// equal in every stack. ReadPolicy returns an error for anything that it does not know.
func ReadPolicy(name string, document, named any) (Policy, error) {
	p := Policy{Name: name}
	d, err := fields(document, "Version", "Statement")
	if err != nil {
		return p, fmt.Errorf("policy %s: %w", name, err)
	}
	if d["Version"] != "2012-10-17" {
		return p, fmt.Errorf("policy %s: Version %v is not known", name, d["Version"])
	}
	n, _ := named.(map[string]any)
	names := list(n["Statement"])
	for i, v := range list(d["Statement"]) {
		s, err := readStatement(v, names[i])
		if err != nil {
			return p, fmt.Errorf("policy %s: statement %d: %w", name, i+1, err)
		}
		p.Statements = append(p.Statements, s)
	}
	return p, nil
}

func readStatement(v, named any) (s Statement, err error) {
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
	patterns, err := texts(m["Resource"])
	if err != nil {
		return s, fmt.Errorf("%s: Resource: %w", s.Sid, err)
	}
	n, _ := named.(map[string]any)
	names, err := texts(n["Resource"])
	if err != nil || len(names) != len(patterns) {
		return s, fmt.Errorf("%s: Resource: it has not one name for each pattern", s.Sid)
	}
	for i := range patterns {
		s.Resources = append(s.Resources, PolicyResource{patterns[i], plainName(names[i])})
	}
	if s.Sid == "" || len(s.Actions) == 0 || len(s.Resources) == 0 {
		return s, fmt.Errorf("%s: a statement has a Sid, an Action and a Resource", s.Sid)
	}
	if s.conditions, err = readConditions(m["Condition"]); err != nil {
		return s, fmt.Errorf("%s: %w", s.Sid, err)
	}
	return s, nil
}

// plainName returns the last part of an ARN, such as table/ringi-Table/index/GSI1.
func plainName(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	return parts[len(parts)-1]
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

// Right is one action on one resource that a statement allows. A Right may also represent one value of a statement's
// condition (see value), or one statement of a function's managed policy (see carries).
type Right struct{ Policy, Sid, Action, Resource string }

// value represents one value of a condition, such as a row or an attribute, as a Right.
func value(policy, sid, key, value string) Right { return Right{policy, sid, key + "=" + value, "-"} }

// carries represents one statement of a function's managed policy as a Right.
func carries(function, policy, sid string) Right {
	return Right{function, "carries", policy + "/" + sid, "-"}
}

func (r Right) String() string {
	return fmt.Sprintf("%s\t%s\t%s\t%s", r.Policy, r.Sid, r.Action, r.Resource)
}

type Verdict struct {
	Allowed bool
	Denied  string  // the Sid of the statement that denies it
	By      []Right // the rights that allow it, and the condition values that match
}

// Judge decides whether the role allows a request. An explicit Deny wins; without an Allow the request is refused.
func (r Role) Judge(q Request) Verdict {
	var v Verdict
	for _, p := range r.Policies {
		for _, s := range p.Statements {
			if s.Deny && len(s.matches(p.Name, q)) > 0 {
				return Verdict{Denied: s.Sid}
			}
			if !s.Deny {
				v.By = append(v.By, s.matches(p.Name, q)...)
			}
		}
	}
	v.Allowed = len(v.By) > 0
	return v
}

// matches returns the rights of a statement that fit a request, or none if one of its conditions fails.
func (s Statement) matches(policy string, q Request) (out []Right) {
	for _, a := range s.Actions {
		if !like(strings.ToLower(a), strings.ToLower(q.Action)) {
			continue
		}
		for _, r := range s.Resources {
			if like(r.Pattern, q.Resource) {
				out = append(out, Right{policy, s.Sid, a, r.Name})
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	for _, c := range s.conditions {
		if !c.holds(q.Context[c.key]) {
			return nil
		}
		for _, v := range c.named() {
			if slices.ContainsFunc(q.Context[c.key], func(have string) bool { return c.is(v, have) }) {
				out = append(out, value(policy, s.Sid, c.key, v))
			}
		}
	}
	return out
}

// named returns the values that allow something. Values of Null and StringNotEquals only restrict, so they are left
// out.
func (c condition) named() []string {
	if c.operator == null || c.operator == stringNotEquals {
		return nil
	}
	return c.values
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

// like matches a pattern in which * stands for any text and ? for one character.
func like(pattern, s string) bool {
	star, from := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0: // the last * matches one more character
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
