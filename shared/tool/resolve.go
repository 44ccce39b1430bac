package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Arguments are a step's planned arguments: values, some of which are references. Only Parse makes them. The zero value
// stands for arguments that can't be read.
type Arguments struct {
	members map[string]any
}

// Parse reads a step's planned arguments. They must be one JSON object of at most MaxArguments bytes. An object in them
// with a "$ref" must have no other member and a valid path.
func Parse(raw aggregate.JSON) (Arguments, error) {
	if len(raw) > MaxArguments {
		return Arguments{}, fmt.Errorf("arguments are %d bytes, the limit is %d", len(raw), MaxArguments)
	}
	v, err := Decode([]byte(raw))
	if err != nil {
		return Arguments{}, fmt.Errorf("arguments: %w", err)
	}
	members, ok := v.(map[string]any)
	if !ok {
		return Arguments{}, fmt.Errorf("arguments are of the type %s, they must be an object", typeOf(v))
	}
	if _, ref := members["$ref"]; ref {
		return Arguments{}, errors.New("arguments must be named one by one, not by a single $ref")
	}
	if _, err := walk(v, nil, func(Path, []string) (any, error) { return nil, nil }); err != nil {
		return Arguments{}, err
	}
	return Arguments{members}, nil
}

// Ref is a reference and the position of its argument.
type Ref struct {
	At   []string // from the arguments' root
	Path Path
}

// Refs lists the references in the order of the arguments' names.
func (a Arguments) Refs() []Ref {
	var refs []Ref
	// Parse has checked every reference, so walk can't fail.
	_, _ = walk(a.members, nil, func(p Path, at []string) (any, error) {
		refs = append(refs, Ref{At: slices.Clone(at), Path: p})
		return nil, nil
	})
	return refs
}

// JSON returns the planned arguments in the form in which values are compared.
func (a Arguments) JSON() (aggregate.JSON, error) { return aggregate.Canonical(a.members) }

// Resolved are the arguments of a call, as text and as values. They carry the schema with which they were checked, so
// that they are read and checked only once. Nobody may change the shared values.
type Resolved struct {
	text    json.RawMessage
	members map[string]any
	fits    *Schema // nil: not checked yet
	nulls   []Ref   // references that replaced a complete argument by null
}

// JSON returns the arguments as text.
func (r Resolved) JSON() json.RawMessage { return r.text }

// Members returns the arguments by name, with each number as in the text.
func (r Resolved) Members() map[string]any { return r.members }

// Resolve replaces the references by earlier results. A result is only a value: a "$ref" in it is not followed.
func (a Arguments) Resolve(results func(stepID string) (json.RawMessage, error)) (Resolved, error) {
	values, err := a.values(results)
	if err != nil {
		return Resolved{}, err
	}
	var nulls []Ref
	v, err := walk(a.members, nil, func(p Path, at []string) (any, error) {
		value := values[p.String()]
		if value == nil && len(at) == 1 {
			nulls = append(nulls, Ref{At: slices.Clone(at), Path: p})
		}
		return value, nil
	})
	if err != nil {
		return Resolved{}, err
	}
	v = aggregate.ByValue(v)
	text, err := aggregate.Written(v)
	switch {
	case err != nil:
		return Resolved{}, fmt.Errorf("write the resolved arguments: %w", err)
	case len(text) > MaxResolved:
		return Resolved{}, fmt.Errorf("resolved arguments are %d bytes, the limit is %d", len(text), MaxResolved)
	case bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxNested &&
		!json.Valid(text): // who is called could not read them
		return Resolved{}, fmt.Errorf("resolved arguments are nested deeper than %d", maxNested)
	}
	return Resolved{text: text, members: v.(map[string]any), nulls: nulls}, nil
}

// values returns the values that are referred to, by their paths. It decodes one result after the other.
func (a Arguments) values(results func(stepID string) (json.RawMessage, error)) (map[string]any, error) {
	of := map[string][]Path{}
	for _, r := range a.Refs() {
		of[r.Path.StepID] = append(of[r.Path.StepID], r.Path)
	}
	values, size := map[string]any{}, 0
	for _, step := range slices.Sorted(maps.Keys(of)) {
		text, err := results(step)
		if err != nil {
			return nil, fmt.Errorf("$ref %s: %w", of[step][0], err)
		}
		result, err := Decode(text)
		if err != nil {
			return nil, fmt.Errorf("$ref %s: the result is %w", of[step][0], err)
		}
		for _, p := range of[step] {
			value, err := p.in(result)
			if err != nil {
				return nil, err
			}
			text, err := aggregate.Written(value)
			if err != nil {
				return nil, fmt.Errorf("$ref %s: %w", p, err)
			}
			if size += len(text); size > MaxResolved {
				return nil, fmt.Errorf("resolved arguments are over %d bytes", MaxResolved)
			}
			values[p.String()] = value
		}
	}
	return values, nil
}

// walk copies a value and replaces every reference, in the order of sorted names.
func walk(v any, at []string, replace func(p Path, at []string) (any, error)) (any, error) {
	if len(at) > maxDepth {
		return nil, fmt.Errorf("arguments are nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"]; ok {
			text, isText := ref.(string)
			if !isText || len(v) != 1 {
				return nil, fmt.Errorf("argument %s: an object with $ref holds one text and nothing else", dotted(at))
			}
			p, err := ParsePath(text)
			if err != nil {
				return nil, fmt.Errorf("argument %s: %w", dotted(at), err)
			}
			return replace(p, at)
		}
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member, err := walk(v[name], append(at, name), replace)
			if err != nil {
				return nil, err
			}
			out[name] = member
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			member, err := walk(v[i], append(at, strconv.Itoa(i)), replace)
			if err != nil {
				return nil, err
			}
			out[i] = member
		}
		return out, nil
	}
	return v, nil
}

// Limits of a reference's text, and of a step's arguments before and after references are replaced.
const (
	MaxPath      = 200     // characters
	MaxArguments = 16_384  // bytes, as planned
	MaxResolved  = 1 << 20 // bytes, with references replaced; decoded, they take many times their size
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
			return nil, fmt.Errorf("$ref %s: the type %s has no members", p, typeOf(at))
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
