package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Filter passes records that match one of its patterns; without patterns it
// passes all.
type Filter struct{ patterns []map[string]any }

// ParseFilter reads FilterCriteria patterns.
//
// It returns an error for what AWS would refuse when the mapping is made.
func ParseFilter(patterns []string) (Filter, error) {
	var f Filter
	for _, text := range patterns {
		v, err := decodeJSON([]byte(text))
		if err != nil {
			return f, fmt.Errorf("filter %s: %w", text, err)
		}
		pattern, ok := v.(map[string]any)
		if !ok {
			return f, fmt.Errorf("filter %s: it is no object", text)
		}
		if err := check(pattern); err != nil {
			return f, fmt.Errorf("filter %s: %w", text, err)
		}
		f.patterns = append(f.patterns, pattern)
	}
	return f, nil
}

// Passes tells whether a record, as JSON, gets through.
func (f Filter) Passes(record []byte) (bool, error) {
	if len(f.patterns) == 0 {
		return true, nil
	}
	v, err := decodeJSON(record)
	if err != nil {
		return false, fmt.Errorf("filter a record: %w", err)
	}
	return slices.ContainsFunc(f.patterns, func(p map[string]any) bool { return matchObject(p, v) }), nil
}

// decodeJSON keeps numbers as they are written.
func decodeJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func check(pattern map[string]any) error {
	for key, want := range pattern {
		switch want := want.(type) {
		case map[string]any:
			if err := check(want); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		case []any:
			if len(want) == 0 {
				return fmt.Errorf("%s: an empty list matches nothing", key)
			}
			for _, m := range want {
				if err := checkMatcher(key, m); err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
			}
		default:
			return fmt.Errorf("%s: values stand in lists, not %v", key, want)
		}
	}
	return nil
}

func checkMatcher(key string, m any) error {
	rule, ok := m.(map[string]any)
	if !ok {
		return nil
	}
	if key == "$or" {
		return check(rule)
	}
	if len(rule) != 1 {
		return fmt.Errorf("a rule has one operator, not %d", len(rule))
	}
	for operator, operand := range rule {
		switch operator {
		case "prefix", "suffix", "equals-ignore-case":
			if _, ok := operand.(string); !ok {
				return fmt.Errorf("%s takes a text", operator)
			}
		case "exists":
			if _, ok := operand.(bool); !ok {
				return fmt.Errorf("exists takes true or false")
			}
		case "numeric":
			return checkNumeric(operand)
		case "anything-but":
		default:
			return fmt.Errorf("there is no operator %q", operator)
		}
	}
	return nil
}

func matchObject(pattern map[string]any, v any) bool {
	object, isObject := v.(map[string]any)
	for key, want := range pattern {
		if alternatives, ok := want.([]any); ok && key == "$or" {
			if !slices.ContainsFunc(alternatives, func(a any) bool { p, ok := a.(map[string]any); return ok && matchObject(p, v) }) {
				return false
			}
			continue
		}
		got, present := object[key]
		present = present && isObject
		switch want := want.(type) {
		case map[string]any:
			if !matchObject(want, got) {
				return false
			}
		case []any:
			if !matchList(want, got, present) {
				return false
			}
		}
	}
	return true
}

// matchList is a leaf: one rule has to hold, for one element if the value is a list.
func matchList(rules []any, got any, present bool) bool {
	values := []any{got}
	if list, ok := got.([]any); ok {
		values = list
	}
	for _, rule := range rules {
		if r, ok := rule.(map[string]any); ok {
			if exists, ok := r["exists"].(bool); ok {
				_, isObject := got.(map[string]any)
				if exists == (present && !isObject) {
					return true
				}
				continue
			}
		}
		if present && slices.ContainsFunc(values, func(v any) bool { return matchValue(rule, v) }) {
			return true
		}
	}
	return false
}

func matchValue(rule, v any) bool {
	r, ok := rule.(map[string]any)
	if !ok {
		return equal(rule, v)
	}
	text, isText := v.(string)
	for operator, operand := range r {
		switch operator {
		case "prefix":
			return isText && strings.HasPrefix(text, operand.(string))
		case "suffix":
			return isText && strings.HasSuffix(text, operand.(string))
		case "equals-ignore-case":
			return isText && strings.EqualFold(text, operand.(string))
		case "numeric":
			return matchNumeric(operand.([]any), v)
		case "anything-but":
			if list, ok := operand.([]any); ok {
				return !slices.ContainsFunc(list, func(o any) bool { return matchValue(o, v) })
			}
			return !matchValue(operand, v)
		}
	}
	return false
}
