package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"

	"ringi/shared/domain/aggregate"
)

// Schema is a compiled JSON Schema (draft 2020-12). It describes problems in words that help a model to repair the
// value and a person to understand it. It is safe for concurrent use.
type Schema struct {
	root     any // without references
	patterns map[string]*regexp2.Regexp
}

// Problem is a place where a value does not fit its schema.
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

// CompileSchema reads a schema from any author. It refuses a schema that refers to another document, because nothing is
// ever fetched or opened for a schema. It also refuses a schema that refers to itself, or that is so large that a check
// might not end.
func CompileSchema(name, text string) (*Schema, error) {
	r, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &r.Schema, nil
}

// Decode reads exactly one JSON value. Numbers keep their notation.
func Decode(text []byte) (any, error) {
	if weight(text) > mostDecoded {
		return nil, ErrTooMany
	}
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

// What a decoded value takes at the least, in bytes: an object, and any other. A text of some megabytes that are all
// small objects takes forty times its size, more than the functions have.
const (
	objectTakes, valueTakes = 400, 48
	mostDecoded             = 112 << 20
)

// ErrTooMany means a text with more values than are decoded.
var ErrTooMany = fmt.Errorf("too large to be read: it has over %d objects or %d values", mostDecoded/objectTakes,
	mostDecoded/valueTakes)

// weight returns about how many bytes the text's values take when they are decoded.
func weight(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			n += objectTakes
		case c == ',', c == '[':
			n += valueTakes
		}
	}
	return n
}

// Limits of a check.
const (
	maxProblems = 1000                   // places that are named
	patience    = 300 * time.Millisecond // how long all patterns together may run
	maxSteps    = 1 << 20                // schemas held against values
)

// Check returns the places where a decoded value does not fit the schema. A value comes before its parts, and members
// are sorted by name. If the value fits, there are none. A value that can't be checked in time is a problem, whatever
// else was found.
func (s *Schema) Check(value any) []Problem {
	var found problems
	if found.measure(value, nil); len(found) > 0 {
		return found
	}
	c := &checking{Schema: s, lists: map[*any]listed{}}
	found = c.value(s.root, value, nil)
	if c.unsure != "" {
		return []Problem{{Message: clip("can't be checked: " + c.unsure)}}
	}
	return found
}

// problems are what is wrong with one value by one schema.
type problems []Problem

func (f *problems) add(at []string, format string, args ...any) {
	if len(*f) < maxProblems {
		*f = append(*f, Problem{append([]string(nil), at...), clip(fmt.Sprintf(format, args...))})
	}
}

func (f *problems) take(more problems) {
	*f = append(*f, more[:min(len(more), maxProblems-len(*f))]...)
}

// measure finds numbers that can't be compared.
func (f *problems) measure(v any, at []string) {
	switch v := v.(type) {
	case json.Number:
		if exact(v) == nil {
			f.add(at, "the number is too large")
		}
	case []any:
		for i, x := range v {
			f.measure(x, append(at, strconv.Itoa(i)))
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			f.measure(v[name], append(at, name))
		}
	}
}

// clip removes the middle of a long message. The beginning says which value was checked, and the end what is wrong.
func clip(s string) string {
	const begin, end = 60, 160
	if r := []rune(s); len(r) > begin+end {
		return string(r[:begin]) + " … " + string(r[len(r)-end:])
	}
	return s
}

// Member is a part of a value that a schema declares.
type Member struct {
	Path         []string // from the value's root; Rows stands for every row of a list
	Title, About string   // what the schema says of it or, of rows, of their list
	Leaf         bool     // it may be a text, a number, or yes or no
}

// Rows is the part of a path that stands for every row of a list.
const Rows = "*"

const maxDeclaredDepth = 8

// SchemaMembers returns what a schema declares of objects and lists: required members come first, in the schema's
// order. It returns nothing for a schema that can't be read.
func SchemaMembers(text string) (all []Member) {
	declared(&all, ParsedSchema(text), Member{})
	return slices.DeleteFunc(all, func(m Member) bool { return m.Path == nil })
}

// ParsedSchema returns a schema without references, nil if it can't be read.
func ParsedSchema(text string) any {
	r, err := read(text)
	if err != nil {
		return nil
	}
	return r.root
}

func declared(all *[]Member, v any, is Member) {
	s, ok := v.(map[string]any)
	if !ok && v != true || len(is.Path) > maxDeclaredDepth {
		return
	}
	title, _ := s["title"].(string)
	about, _ := s["description"].(string)
	is.Title, is.About = cmp.Or(title, is.Title), cmp.Or(about, is.About)
	is.Leaf = s["enum"] != nil && s["type"] == nil || slices.ContainsFunc(typesOf(s), func(name string) bool {
		return slices.Contains([]string{"number", "integer", "string", "boolean"}, name)
	})
	same := func(m Member) bool { return slices.Equal(m.Path, is.Path) }
	if at := slices.IndexFunc(*all, same); at < 0 {
		*all = append(*all, is)
	} else if !(*all)[at].Leaf {
		(*all)[at] = is
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range listOf(s[keyword]) {
			declared(all, one, Member{Path: is.Path, Title: is.Title, About: is.About})
		}
	}
	members, _ := s["properties"].(map[string]any)
	required := listOf(s["required"])
	place := func(name string) int { return slices.Index(append(required, name), any(name)) }
	for _, name := range slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	}) {
		if name != "" && name != Rows {
			declared(all, members[name], Member{Path: append(slices.Clone(is.Path), name)})
		}
	}
	if s["items"] != nil {
		declared(all, s["items"], Member{Path: append(slices.Clone(is.Path), Rows), Title: is.Title, About: is.About})
	}
}

// listOf returns a keyword's list, nil if it has none.
func listOf(v any) []any {
	all, _ := v.([]any)
	return all
}

// typesOf are those that a schema allows.
func typesOf(s map[string]any) (all []string) {
	for _, v := range append(listOf(s["type"]), s["type"]) {
		if name, ok := v.(string); ok {
			all = append(all, name)
		}
	}
	return all
}

// CanonicalSchema returns a schema in the form in which schemas are compared: what is a set has one order. It returns
// the text of a schema that can't be read.
func CanonicalSchema(text string) string {
	v, err := Decode([]byte(text))
	if err != nil {
		return text
	}
	return string(written(sorted(v)))
}

// named reports whether a schema has members that JSON Schema hasn't, such as enumNames, which may name its values in
// their order.
func named(s map[string]any) bool {
	for keyword := range s {
		if keywords()[aggregate.Form(keyword)] == "" {
			return true
		}
	}
	return false
}

// sorted returns a copy of a schema with its sets in one order. Values within it stay as they are.
func sorted(v any) any {
	s, is := v.(map[string]any)
	if !is {
		return v
	}
	out := maps.Clone(s)
	for keyword, x := range s {
		list, isList := x.([]any)
		members, isObject := x.(map[string]any)
		switch {
		case slices.Contains([]string{"const", "default", "examples"}, keyword) || keywords()[aggregate.Form(keyword)] == "":
		case keyword == "enum" && named(s): // what stands beside has its order
		case isList && slices.Contains([]string{"required", "type", "enum"}, keyword):
			out[keyword] = slices.SortedFunc(slices.Values(list), func(a, b any) int {
				return cmp.Compare(written(a), written(b))
			})
		case isList:
			all := make([]any, len(list))
			for i, one := range list {
				all[i] = sorted(one)
			}
			out[keyword] = all
		case isObject && slices.Contains([]string{"properties", "patternProperties", "$defs", "definitions"}, keyword):
			all := map[string]any{}
			for name, one := range members {
				all[name] = sorted(one)
			}
			out[keyword] = all
		default:
			out[keyword] = sorted(x)
		}
	}
	return out
}
