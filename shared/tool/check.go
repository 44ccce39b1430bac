package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// maxNamed is how many of a value's problems an error lists.
const maxNamed = 10

// Check compares resolved arguments with a tool's input schema, and returns them marked as checked. Arguments that were
// already checked with the same schema are not checked again.
func (c *Catalog) Check(name string, r Resolved) (Resolved, error) {
	input, err := c.input(name)
	if err != nil || r.fits == input {
		return r, err
	}
	if err := refusal(input.Check(any(r.members))); err != nil {
		return r, err
	}
	r.fits = input
	return r, nil
}

// CheckPlanned compares planned arguments with a tool's input schema and constraints. A reference passes both, but it
// must name an earlier step, which earlier looks up, and a value that the tool of that step returns.
func (c *Catalog) CheckPlanned(name string, a Arguments, earlier func(stepID string) (tool string, ok bool)) error {
	input, err := c.input(name)
	if err != nil {
		return err
	}
	refs := a.Refs()
	for _, r := range refs {
		from, ok := earlier(r.Path.StepID)
		if !ok {
			return fmt.Errorf("argument %s: %s is no earlier step", dotted(r.At), r.Path.StepID)
		}
		if err := c.returns(from, r.Path); err != nil {
			return fmt.Errorf("argument %s: %w", dotted(r.At), err)
		}
	}
	found := slices.DeleteFunc(input.Check(any(a.members)), func(p Problem) bool {
		return slices.ContainsFunc(refs, func(r Ref) bool {
			return len(p.Path) >= len(r.At) && slices.Equal(p.Path[:len(r.At)], r.At)
		})
	})
	if err := refusal(found); err != nil {
		return err
	}
	spec, _ := c.Lookup(name)
	return worded(spec.broken(a.members, true))
}

// worded returns a refusal in words for a model.
func worded(e *explain.CallError) error {
	if e == nil {
		return nil
	}
	return errors.New(explain.FailedCall(language.English, e.Problem, e.Args...))
}

// returns refuses a path that a tool's output schema excludes. Where the schema says nothing, any path is possible.
func (c *Catalog) returns(name string, p Path) error {
	spec, _ := c.Lookup(name)
	at, _ := Decode([]byte(spec.OutputSchema))
	for i, key := range p.Keys {
		s, _ := at.(map[string]any)
		if items, ok := s["items"]; ok {
			if _, err := index(key); err != nil {
				return fmt.Errorf("$ref %s: %w", p, err)
			}
			at = items
			continue
		}
		members, ok := s["properties"].(map[string]any)
		if !ok {
			if t, scalar := s["type"].(string); scalar && t != "object" && t != "array" {
				return fmt.Errorf("$ref %s: %q of %s has no members", p, strings.Join(p.Keys[:i], "."), name)
			}
			return nil
		}
		if at, ok = members[key]; !ok {
			return fmt.Errorf("$ref %s: %s returns no %q, only %s", p, name, key,
				strings.Join(slices.Sorted(maps.Keys(members)), ", "))
		}
	}
	return nil
}

// Dynamic reports whether the destination of a write comes from an earlier result. Then people have not seen it when
// they approve the steps. A destination that a constraint limits to listed values does not count. Arguments that can't
// be read count as dynamic. For an MCP server's tool every argument counts, because any of them may determine the
// destination.
func Dynamic(s Spec, a Arguments) bool {
	if len(s.Destination) == 0 && s.Pin == nil {
		return false
	}
	return a.members == nil || slices.ContainsFunc(a.Refs(), func(r Ref) bool {
		return s.Pin != nil || slices.Contains(s.Destination, r.At[0]) && !s.listed(r.At[0])
	})
}

func refusal(found []Problem) error {
	if len(found) == 0 {
		return nil
	}
	var said []string
	for _, p := range found[:min(len(found), maxNamed)] {
		said = append(said, p.String())
	}
	if more := len(found) - maxNamed; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(said, "; "))
}

func dotted(at []string) string { return strings.Join(at, ".") }

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

// broken returns the first limit that arguments exceed or constraint that they violate, nil if there is none. In
// planned arguments it skips
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
		text = typeOf(v)
	}
	return explain.Fail(explain.ProblemNotListed, nil, name, string(c),
		language.Clip(strings.Join(strings.Fields(text), " "), 100), strings.Join(shown, ", "))
}

// same compares texts. In e-mail addresses the case of A to Z does not matter.
func same(one string, v any) bool {
	text, ok := v.(string)
	return ok && (text == one || strings.Contains(one, "@") && lowerASCII(one) == lowerASCII(text))
}

// lowerASCII converts only A to Z to lower case: the Kelvin sign and the long s are other letters.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
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

// perDetail is how many characters a message has for each entry of a list beside its texts: a line end, a bullet with a
// space, and a colon with a space.
const perDetail = 5

// tooLong returns an error if the message that the arguments make is longer than the vendor takes at once. A message is
// sent as it was approved or not at all. References don't count: their values are measured before the call.
func (s Spec) tooLong(members map[string]any) *explain.CallError {
	if s.MaxMessage == 0 {
		return nil
	}
	total, longest, where := 0, -1, ""
	for _, name := range s.Said {
		length(members[name], []string{name}, func(n int, at []string) {
			if total += n; n > longest {
				longest, where = n, dotted(at)
			}
		})
		if list, ok := members[name].([]any); ok {
			total += perDetail * len(list)
		}
	}
	if total <= s.MaxMessage {
		return nil
	}
	return explain.Fail(explain.ProblemTooLong, nil, s.Name, where, total, s.MaxMessage)
}

// length tells add the length of each text, number and boolean in a value.
func length(v any, at []string, add func(n int, at []string)) {
	switch v := v.(type) {
	case string:
		add(Units(v), at)
	case json.Number:
		add(len(v), at)
	case bool:
		add(len(strconv.FormatBool(v)), at)
	case []any:
		for i, x := range v {
			length(x, append(slices.Clip(at), strconv.Itoa(i)), add)
		}
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			length(v[name], append(slices.Clip(at), name), add)
		}
	}
}

// Units is a text's length by the strictest reading of Slack's limits: UTF-16 units, once Slack's control characters
// are
// escaped.
func Units(s string) (n int) {
	for _, r := range s {
		switch r {
		case '&':
			n += len("&amp;")
		case '<', '>':
			n += len("&lt;")
		default:
			n += max(1, utf16.RuneLen(r))
		}
	}
	return n
}
