// Package schema checks JSON against JSON Schemas and names what is wrong in
// words that a model can repair and a person can read.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Schema is a compiled JSON Schema. It may be used by several goroutines.
type Schema struct{ root *part }

// Problem is one place where a value differs from its schema.
type Problem struct {
	Path    []string // from the value's root; empty for the root itself
	Message string
}

func (p Problem) String() string {
	if len(p.Path) == 0 {
		return p.Message
	}
	return strings.Join(p.Path, ".") + ": " + p.Message
}

// Compile reads a schema, whoever wrote it. One that refers to another document
// is refused: nothing is ever fetched or opened on its behalf. So is one that
// refers to itself, or is so large that checking with it has no end in sight.
func Compile(name, text string) (*Schema, error) {
	root, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &Schema{root}, nil
}

// Decode reads exactly one JSON value, keeping numbers as they are written.
func Decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows it")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("not one JSON value: %w", err)
	}
	return v, nil
}

// maxProblems is how many places Check names at most.
const maxProblems = 1000

// Check returns the places where a decoded value differs from the schema, each
// with the first thing that is wrong there: a value before what is in it, members
// by name. It returns none when the value fits.
func (s *Schema) Check(value any) []Problem {
	var found problems
	if v := found.measurable(value, nil); len(found) == 0 {
		s.root.check(v, nil, &found)
	}
	return found
}

// problems are what was found so far.
type problems []Problem

func (f *problems) add(at []string, message string) {
	if len(*f) < maxProblems {
		*f = append(*f, Problem{append([]string(nil), at...), clip(message)})
	}
}

func (f *problems) take(more problems) {
	*f = append(*f, more[:min(len(more), maxProblems-len(*f))]...)
}

// measurable copies a value with comparable numbers in the place of their texts. A number beyond a float64 is
// a problem.
func (f *problems) measurable(v any, at []string) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n
		}
		n, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			f.add(at, "the number is too large")
		}
		return n
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = f.measurable(v[i], append(at, strconv.Itoa(i)))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = f.measurable(v[name], append(at, name))
		}
		return out
	}
	return v
}

// clip leaves out the middle of a long message: its begin says what was looked at,
// its end what is wrong.
func clip(s string) string {
	const begin, end = 60, 160
	if r := []rune(s); len(r) > begin+end {
		return string(r[:begin]) + " … " + string(r[len(r)-end:])
	}
	return s
}
