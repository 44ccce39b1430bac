package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"ringi/shared/task"
)

// Untold reports whether a write would tell people something that a policy doesn't
// have: a text or a number, planned as it stands, in an argument whose words reach them.
// Spaces make no difference. Arguments that cannot be read count as untold.
func Untold(s Spec, raw task.JSON, policy string) bool {
	if s.Effect != task.Write || len(s.Said) == 0 {
		return false
	}
	a, err := Parse(raw)
	if err != nil {
		return true
	}
	policy = spaced(policy)
	return slices.ContainsFunc(s.Said, func(name string) bool { return untold(a.members[name], policy) })
}

func untold(v any, policy string) bool {
	switch v := v.(type) {
	case string:
		return !strings.Contains(policy, spaced(v))
	case json.Number:
		return !saysNumber(policy, v)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return untold(x, policy) })
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return false
		}
		for _, x := range v {
			if untold(x, policy) {
				return true
			}
		}
	}
	return false
}

// spaced is a text with one space for each run of them.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
