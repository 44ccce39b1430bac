package tool

import (
	"encoding/json"
	"slices"
	"strconv"

	"ringi/shared/domain/aggregate"
	"ringi/shared/tool/schema"
)

// Unseen reports whether a write has a destination that people have not seen: none of the texts in seen names it, and
// it is not among the values of a constraint. Any argument of an MCP server's tool may determine the destination. So
// every text, number and boolean counts there, and so do empty values (many servers take an empty list of people for
// everybody) and member names that the schema does not declare. References are not examined; see Dynamic.
func Unseen(s Spec, a Arguments, seen ...string) bool {
	return s.Access == aggregate.Write && Unnamed(s, a, seen...)
}

// Unnamed is Unseen for reads, too: what an agent looks up with a server tells the server what the agent knows.
func Unnamed(s Spec, a Arguments, seen ...string) bool {
	if s.Pin != nil && slices.ContainsFunc(s.chosenNames(a), func(name string) bool { return !anySays(seen, name) }) {
		return true
	}
	for name, v := range a.members {
		if s.Pin == nil && (!slices.Contains(s.Destination, name) || s.listed(name)) {
			continue
		}
		if !named(name, v, seen) {
			return true
		}
	}
	return false
}

// chosenNames returns the member names that the tool's schema does not declare, or all if the schema can't be read.
func (s Spec) chosenNames(a Arguments) []string {
	input, err := schema.Compile(s.Name+".input", s.InputSchema)
	if err != nil {
		input, _ = schema.Compile(s.Name+".input", "true")
	}
	// Parse has checked every reference, so walk can't fail.
	values, _ := walk(a.members, nil, func(Path, []string) (any, error) { return nil, nil })
	return input.Undeclared(values)
}

func saysEmpty(seen []string, member string) bool {
	for _, word := range []string{"なし", "無し", "null", "none", "[]", "{}"} {
		if slices.ContainsFunc(seen, func(text string) bool { return saysMember(text, member, word) }) {
			return true
		}
	}
	return false
}

// named reports whether the texts name each text, number and boolean of a member, and say that each empty value is
// empty.
func named(member string, v any, seen []string) bool {
	switch v := v.(type) {
	case string:
		return anySays(seen, v)
	case json.Number:
		return slices.ContainsFunc(seen, func(text string) bool { return saysNumber(text, v) })
	case bool:
		return slices.ContainsFunc(seen, func(text string) bool { return saysMember(text, member, strconv.FormatBool(v)) })
	case nil:
		return saysEmpty(seen, member)
	case []any:
		if len(v) == 0 {
			return saysEmpty(seen, member)
		}
		return !slices.ContainsFunc(v, func(x any) bool { return !named(member, x, seen) })
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return true
		}
		if len(v) == 0 {
			return saysEmpty(seen, member)
		}
		for name, x := range v {
			if !named(name, x, seen) {
				return false
			}
		}
	}
	return true
}

func anySays(seen []string, value string) bool {
	return slices.ContainsFunc(seen, func(text string) bool { return says(text, value) })
}
