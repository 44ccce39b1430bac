package tool

import (
	"encoding/json"
	"fmt"
	"ringi/shared/words/language"
	"strconv"
	"strings"
)

// Limits of a reference's text, and of a step's arguments before and after references are replaced.
const (
	MaxPath      = 200     // characters
	MaxArguments = 16_384  // bytes, as planned
	MaxResolved  = 4 << 20 // bytes, with references replaced
	maxDepth     = 32
	maxNested    = 10_000 // with references replaced; the limit of encoding/json
)

// Path refers to a value of an earlier step's result: step-1.result.employees.0.email.
type Path struct {
	StepID string
	Keys   []string // names and array indexes from the result's root
}

var (
	stepForm = language.Regexp{Text: `^step-[1-9][0-9]{0,3}$`}
	keyForm  = language.Regexp{Text: `^[A-Za-z0-9_-]{1,100}$`}
)

// ParsePath reads a reference: `step-<n>.result` and any number of `.<name>` ([A-Za-z0-9_-]) and `.<index>`.
func ParsePath(text string) (Path, error) {
	if len(text) > MaxPath {
		return Path{}, fmt.Errorf("$ref is %d bytes long, the limit is %d", len(text), MaxPath)
	}
	parts := strings.Split(text, ".")
	if len(parts) < 2 || !stepForm.Get().MatchString(parts[0]) || parts[1] != "result" {
		return Path{}, fmt.Errorf("$ref %q must begin with step-<n>.result", text)
	}
	for _, key := range parts[2:] {
		if !keyForm.Get().MatchString(key) {
			return Path{}, fmt.Errorf("$ref %q: %q is neither a name nor an index", text, key)
		}
	}
	return Path{StepID: parts[0], Keys: parts[2:]}, nil
}

func (p Path) String() string {
	return strings.Join(append([]string{p.StepID, "result"}, p.Keys...), ".")
}

func (p Path) in(result any) (any, error) {
	at := result
	for i, key := range p.Keys {
		switch v := at.(type) {
		case map[string]any:
			member, ok := v[key]
			if !ok {
				return nil, fmt.Errorf("$ref %s: the result has no %q", p, strings.Join(p.Keys[:i+1], "."))
			}
			at = member
		case []any:
			n, err := index(key)
			if err != nil {
				return nil, fmt.Errorf("$ref %s: %w", p, err)
			}
			if n >= len(v) {
				return nil, fmt.Errorf("$ref %s: index %d of a list of %d", p, n, len(v))
			}
			at = v[n]
		default:
			return nil, fmt.Errorf("$ref %s: %s has no members", p, kind(at))
		}
	}
	return at, nil
}

// index reads an array index: digits without a leading zero.
func index(key string) (int, error) {
	n, err := strconv.Atoi(key)
	if err != nil || n < 0 || strconv.Itoa(n) != key {
		return 0, fmt.Errorf("%q is no index of a list", key)
	}
	return n, nil
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a text"
	case json.Number, float64:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}
