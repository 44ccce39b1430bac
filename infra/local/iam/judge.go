package iam

import (
	"fmt"
	"slices"
	"strings"
)

// Request is one thing that a call asks for: an action on a resource, with what conditions may look at.
type Request struct {
	Action, Resource string
	Context          map[string][]string
}

// Right is one action on one resource that a statement allows. The same type stands for one value of a statement's
// condition, and for one statement of a managed policy that a function carries.
type Right struct{ Policy, Sid, Action, Resource string }

// value stands for one value of a condition, such as a row or an attribute that a statement names, in the form of a right.
func value(policy, sid, key, value string) Right { return Right{policy, sid, key + "=" + value, "-"} }

// carries is one statement of a managed policy, as one function carries it.
func carries(function, policy, sid string) Right {
	return Right{function, "carries", policy + "/" + sid, "-"}
}

func (r Right) String() string {
	return fmt.Sprintf("%s\t%s\t%s\t%s", r.Policy, r.Sid, r.Action, r.Resource)
}

// Verdict is what a role says to a request.
type Verdict struct {
	Allowed bool
	Denied  string  // the Sid of the statement that denies it
	By      []Right // that allow it, and the values that their conditions compare with
}

// Judge says whether the role may do what is asked for: an explicit Deny wins, and without an Allow it may not.
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

// matches are the rights of a statement that fit a request; none if one of its conditions fails.
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

// named are the values that allow something: not those of Null and StringNotEquals, which only restrict.
func (c condition) named() []string {
	if c.operator == null || c.operator == stringNotEquals {
		return nil
	}
	return c.values
}

// is compares one value of the condition with one that a call says.
func (c condition) is(value, have string) bool {
	if c.operator == stringLike {
		return like(value, have)
	}
	return value == have
}

// About reports whether a statement is on an action.
func (s Statement) About(action string) bool {
	return slices.ContainsFunc(s.Actions, func(a string) bool { return like(strings.ToLower(a), strings.ToLower(action)) })
}

// holds reports whether a condition holds for the values of its key. Where the call has no such key, ForAllValues and
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
	default: // ForAnyValue, and keys that hold one value
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
		case star >= 0: // the last * takes one more
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
