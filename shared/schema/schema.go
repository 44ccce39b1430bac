// Package schema checks JSON against JSON Schemas and names what is wrong in
// words that a model can repair and a person can read.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a compiled JSON Schema. It may be used by several goroutines.
type Schema struct{ compiled *jsonschema.Schema }

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

// Compile reads a schema. A schema that refers to another document is refused:
// nothing is ever fetched or opened on its behalf.
func Compile(name, text string) (*Schema, error) {
	doc, err := Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	url := "mem:///" + name
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &Schema{compiled}, nil
}

type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: schemas may not refer to other documents", url)
}

// Decode reads exactly one JSON value, keeping numbers as they are written.
func Decode(text []byte) (any, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("not one JSON value: %w", err)
	}
	return v, nil
}

// Check returns every place where a decoded value differs from the schema, in
// the schema's own order; none when it fits.
func (s *Schema) Check(value any) []Problem {
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return []Problem{{Message: err.Error()}}
	}
	return leaves(v, message.NewPrinter(language.English))
}

func leaves(e *jsonschema.ValidationError, p *message.Printer) []Problem {
	if len(e.Causes) == 0 {
		return []Problem{{Path: e.InstanceLocation, Message: e.ErrorKind.LocalizedString(p)}}
	}
	var out []Problem
	for _, c := range e.Causes {
		out = append(out, leaves(c, p)...)
	}
	return out
}
