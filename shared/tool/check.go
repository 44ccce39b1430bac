package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/explain"
	"ringi/shared/tool/schema"
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
	if err := problems(input.Check(any(r.members))); err != nil {
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
	found := slices.DeleteFunc(input.Check(any(a.members)), func(p schema.Problem) bool {
		return slices.ContainsFunc(refs, func(r Ref) bool {
			return len(p.Path) >= len(r.At) && slices.Equal(p.Path[:len(r.At)], r.At)
		})
	})
	if err := problems(found); err != nil {
		return err
	}
	spec, _ := c.Lookup(name)
	if broken := spec.broken(a.members, true); broken != nil {
		return errors.New(explain.FailedCall(language.English, broken.Problem, broken.Args...))
	}
	return nil
}

// returns refuses a path that a tool's output schema excludes. Where the schema says nothing, any path is possible.
func (c *Catalog) returns(name string, p Path) error {
	at := c.outputs[name]
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
			return fmt.Errorf("$ref %s: %s returns no %q, only %s", p, name, key, strings.Join(slices.Sorted(maps.Keys(members)), ", "))
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

func problems(found []schema.Problem) error {
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
