package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// Under returns a tenant's catalog: without tools that its permissions forbid, with the
// constraints of the others. It leaves out tools whose constraints can't be read; the error names them, and the catalog
// is returned all the same.
func (c *Catalog) Under(permissions []tenancy.ToolPermission) (*Catalog, error) {
	forbidden, bounds := map[string]bool{}, map[string]tenancy.Constraints{}
	var unread error
	for _, p := range permissions {
		b, err := p.Bounds(c.Knows(p.ToolName))
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("tool %s: %w", p.ToolName, err))
		}
		forbidden[p.ToolName], bounds[p.ToolName] = !p.Allowed || err != nil, b
	}
	out := c.Only(func(s Spec) bool { return !forbidden[s.Name] })
	for i := range out.specs {
		out.specs[i].Bounds = bounds[out.specs[i].Name]
	}
	return out, unread
}

// Hold checks resolved arguments against the constraints, and returns the first violation or nil. If an earlier result
// made a complete argument of one of Ringi's own tools null, Hold returns ProblemNoValue: null means everything, and
// people who stamped the reference did not see that. A null in the plan is allowed because people saw it, and a null
// inside a list or an object is allowed because it is an empty cell.
func (s Spec) Hold(r Resolved) *explain.CallError {
	if s.Pin == nil && len(r.nulls) > 0 {
		from := r.nulls[0].Path
		return explain.Fail(explain.ProblemNoValue, nil, s.Name, dotted(r.nulls[0].At),
			strings.TrimPrefix(from.StepID, "step-"), dotted(from.Keys))
	}
	return s.broken(r.members, false)
}

// broken returns the first limit that arguments exceed or constraint that they violate, nil if there is none. In planned arguments it skips
// references: their values are checked before the call.
func (s Spec) broken(members map[string]any, planned bool) *explain.CallError {
	if e := s.tooLong(members); e != nil {
		return e
	}
	for _, name := range s.Knows() {
		if s.Bound[name] == "" {
			continue
		}
		v := members[s.Bound[name]]
		if ref, ok := v.(map[string]any); ok && planned && ref["$ref"] != nil {
			continue
		}
		if e := s.breaks(name, v); e != nil {
			return e
		}
	}
	return nil
}

func (s Spec) breaks(name tenancy.Constraint, v any) *explain.CallError {
	if name == tenancy.MaxRows {
		if rows, ok := v.([]any); ok && s.Bounds.MaxRows > 0 && len(rows) > s.Bounds.MaxRows {
			return explain.Fail(explain.ProblemTooMany, nil, s.Name, string(name), s.Bounds.MaxRows, len(rows))
		}
		return nil
	}
	listed := s.Bounds.Listed(name)
	if len(listed) == 0 || slices.ContainsFunc(listed, func(one string) bool { return same(one, v) }) {
		return nil
	}
	return NotListed(s.Name, name, v, listed)
}

// NotListed returns the error that a constraint does not allow a value.
func NotListed(name string, c tenancy.Constraint, v any, listed []string) *explain.CallError {
	shown := listed
	if len(shown) > maxNamed {
		shown = append(slices.Clone(shown[:maxNamed]), "…")
	}
	text, ok := v.(string)
	if !ok {
		text = kind(v)
	}
	return explain.Fail(explain.ProblemNotListed, nil, name, string(c), legible.Clip(spaced(text), 100),
		strings.Join(shown, ", "))
}

// same compares texts. In e-mail addresses the case of A to Z does not matter.
func same(one string, v any) bool {
	text, ok := v.(string)
	return ok && (text == one || strings.Contains(one, "@") && lowerASCII(one) == lowerASCII(text))
}

// listed reports whether a constraint limits an argument to listed values.
func (s Spec) listed(argument string) bool {
	for name, bound := range s.Bound {
		if bound == argument && len(s.Bounds.Listed(name)) > 0 {
			return true
		}
	}
	return false
}
