package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

// Given returns what an agent is given of a result: with personal data masked as on cards, and at most MaxCallResult
// bytes of it. Of a longer one the longest list is cut, or else the text.
func Given(value json.RawMessage) (r conversation.CallResult, err error) {
	v, err := schema.Decode(value)
	if err != nil {
		return r, fmt.Errorf("read a result: %w", err)
	}
	top := legible.MaskAll(v)
	whole, err := Written(top)
	if err != nil {
		return r, fmt.Errorf("write a result: %w", err)
	}
	if len(whole) <= conversation.MaxCallResult {
		return conversation.CallResult{Value: whole}, nil
	}
	if l := longest(top, func(x any) { top = x }); l.put != nil {
		first := func(n int) (json.RawMessage, bool) {
			l.put(l.all[:n])
			text, err := Written(top)
			return text, err == nil && len(text) <= conversation.MaxCallResult
		}
		n := sort.Search(len(l.all), func(n int) bool { _, fits := first(n + 1); return !fits })
		if text, fits := first(n); n > 0 && fits {
			return conversation.CallResult{Value: text, Entries: len(l.all), ShownEntries: n}, nil
		}
	}
	return cutText(whole)
}

// cutText returns the beginning of a text that has no list to cut, as a JSON text.
func cutText(whole json.RawMessage) (conversation.CallResult, error) {
	end := conversation.MaxCallResult * 3 / 4 // JSON spells quotation marks with two bytes
	for ; ; end = end * 3 / 4 {
		part := whole[:end]
		for len(part) > 0 && !utf8.Valid(part) {
			part = part[:len(part)-1]
		}
		text, err := Written(string(part))
		if err != nil || len(text) <= conversation.MaxCallResult {
			return conversation.CallResult{Value: text, Bytes: len(whole), ShownBytes: len(part)}, err
		}
	}
}

// Written returns JSON without escapes for < > and &.
func Written(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// list is a list in a value.
type list struct {
	all  []any
	size int       // of its text; 0: there is no list
	put  func(any) // puts another in its place
}

// longest returns the list with the longest text among those that are in no other list. put puts something in the place
// of v.
func longest(v any, put func(any)) (most list) {
	switch v := v.(type) {
	case []any:
		text, err := Written(v)
		if err != nil {
			return most
		}
		return list{v, len(text), put}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if l := longest(v[name], func(x any) { v[name] = x }); l.size > most.size {
				most = l
			}
		}
	}
	return most
}

// maxDeclared is how many bytes what is declared may have: the steps of a plan are one row.
const maxDeclared = 1024

// Declared returns what an MCP server's schema declares of the arguments that a call has, and of what is inside: a list
// of pointers, each with its title in the server's words. Those that are required come first, in the schema's order.
// What is too long is left out.
func Declared(s Spec, a Arguments) aggregate.JSON {
	if s.Pin == nil {
		return ""
	}
	var all [][2]string
	for _, m := range schema.Members(s.InputSchema) {
		if _, has := a.members[m.Path[0]]; has && m.Path[len(m.Path)-1] != schema.Rows {
			title := legible.Clip(legible.OneLine(m.Title), rules.MaxNamed)
			all = append(all, [2]string{rules.Pointer(m.Path), title})
		}
	}
	for n := len(all); n > 0; n-- {
		if b, err := json.Marshal(all[:n]); err == nil && len(b) <= maxDeclared {
			return aggregate.JSON(b)
		}
	}
	return ""
}
