package lambda

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Filter passes the records that match one of its patterns, or all records if it has none. Of EventBridge's pattern
// language it supports plain values and {"prefix":"…"}.
type Filter struct{ patterns []map[string]any }

// ParseFilter reads the patterns of FilterCriteria. It returns an error for a pattern that AWS would refuse when the
// mapping is created, and for an operator that Filter does not support.
func ParseFilter(patterns []string) (Filter, error) {
	var f Filter
	for _, text := range patterns {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
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

func (f Filter) Passes(record []byte) (bool, error) {
	if len(f.patterns) == 0 {
		return true, nil
	}
	var v any
	if err := json.Unmarshal(record, &v); err != nil {
		return false, fmt.Errorf("filter a record: %w", err)
	}
	return slices.ContainsFunc(f.patterns, func(p map[string]any) bool { return matches(p, v) }), nil
}

func check(pattern map[string]any) error {
	for key, want := range pattern {
		if strings.HasPrefix(key, "$") {
			return unknownOperator(key)
		}
		var err error
		switch want := want.(type) {
		case map[string]any:
			err = check(want)
		case []any:
			err = checkRules(want)
		default:
			err = fmt.Errorf("values stand in lists, not %v", want)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func checkRules(rules []any) error {
	if len(rules) == 0 {
		return fmt.Errorf("an empty list matches nothing")
	}
	for _, rule := range rules {
		switch rule := rule.(type) {
		case map[string]any:
			if _, ok := prefixOf(rule); ok {
				continue
			}
			return unknownOperator(strings.Join(slices.Sorted(maps.Keys(rule)), ", "))
		case []any:
			return fmt.Errorf("%v is a list in a list", rule)
		}
	}
	return nil
}

func unknownOperator(name string) error {
	return fmt.Errorf("the local stack's filters know no operator %q, plain values and prefix only", name)
}

// prefixOf returns the prefix of a rule {"prefix":"…"}.
func prefixOf(rule any) (string, bool) {
	operators, _ := rule.(map[string]any)
	prefix, ok := operators["prefix"].(string)
	return prefix, ok && len(operators) == 1
}

// holds reports whether a value satisfies a rule.
func holds(rule, v any) bool {
	if prefix, ok := prefixOf(rule); ok {
		text, isText := v.(string)
		return isText && strings.HasPrefix(text, prefix)
	}
	return rule == v
}

// matches reports whether the record has, for each key of the pattern, one of the values that the pattern lists. If the
// record's value is a list, one of its elements must match.
func matches(pattern map[string]any, v any) bool {
	object, _ := v.(map[string]any)
	for key, want := range pattern {
		got, present := object[key]
		switch want := want.(type) {
		case map[string]any:
			if !matches(want, got) {
				return false
			}
		case []any:
			list, isList := got.([]any)
			if !isList {
				list = []any{got}
			}
			if !present || !slices.ContainsFunc(list, func(v any) bool {
				return slices.ContainsFunc(want, func(rule any) bool { return holds(rule, v) })
			}) {
				return false
			}
		}
	}
	return true
}
