package template

import (
	"fmt"
	"slices"
	"strings"
)

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
