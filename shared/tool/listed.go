package tool

import (
	"encoding/json"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// maxPlainNumber is how many characters a number may have that nobody wrote: a longer one could carry a text.
const maxPlainNumber = 15

// parameter is what a tool's schema says of one argument.
type parameter struct {
	Type   any    `json:"type"`
	Enum   []any  `json:"enum"`
	Const  any    `json:"const"`
	Format string `json:"format"`
}

func (s Spec) parameters() map[string]parameter {
	var input struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal([]byte(s.InputSchema), &input) != nil {
		return nil
	}
	out := map[string]parameter{}
	for name, text := range input.Properties {
		var p parameter
		_ = json.Unmarshal(text, &p) // a schema may also be true, which says nothing
		out[name] = p
	}
	return out
}

// free reports whether the argument may be a text of anybody's choice, or hold one.
func (p parameter) free() bool {
	if len(p.Enum) > 0 || p.Const != nil || p.Format == "date" || p.Format == "date-time" {
		return false
	}
	types, many := p.Type.([]any)
	if !many {
		types = []any{p.Type}
	}
	return slices.ContainsFunc(types, func(t any) bool {
		return !slices.Contains([]any{"integer", "number", "boolean", "null"}, t)
	})
}

// Listable reports whether an administrator may list a tool as a read that needs no yes: one of Ringi's own that reads,
// or an MCP server's that reads and takes no free text, which could carry to the server what the agent knows.
func Listable(s Spec) bool {
	if s.Access != aggregate.Read {
		return false
	}
	if s.Pin == nil {
		return true
	}
	all := s.parameters()
	if all == nil {
		return false
	}
	for _, p := range all {
		if p.free() {
			return false
		}
	}
	return true
}

// Plain reports whether nothing in the arguments of a listed read was composed by a model: each is one of the schema's
// enumeration, a number, a date, true, false or null, or stands word for word in a text of said, which people wrote.
func Plain(s Spec, r Resolved, said ...string) bool {
	all := s.parameters()
	for name, v := range r.members {
		p, declared := all[name]
		if !declared || !p.plain(v) && !saidWholly(name, v, said) {
			return false
		}
	}
	return true
}

// saidWholly reports whether people wrote a value that has content.
func saidWholly(name string, v any, said []string) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && named(name, v, said)
	case map[string]any:
		return false // its members' names would be the model's
	}
	return named(name, v, said)
}

func (p parameter) plain(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case json.Number:
		return len(v) <= maxPlainNumber
	case string:
		return slices.Contains(p.Enum, any(v)) || p.Const == any(v) || isDate(v)
	}
	return false
}

// isDate reports whether a text is a day or a month, as 2026-10-31 or 2026-10.
func isDate(s string) bool {
	for _, form := range []string{time.DateOnly, "2006-01"} {
		if t, err := time.Parse(form, s); err == nil && t.Format(form) == s {
			return true
		}
	}
	return false
}
