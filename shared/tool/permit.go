package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// maxUnset is the longest time of a call whose tool doesn't say.
const maxUnset = MaxPinned

var (
	// ErrForbidden means a tool that the tenant does not allow.
	ErrForbidden = errors.New("the tool is not allowed")
	// ErrOther means a tool that is not the version that people approved.
	ErrOther = errors.New("the tool is not the one that was approved")
)

// noteWithin bounds the commit that switches off a tool which its server has changed.
const noteWithin = 5 * time.Second

// NoteChanged switches off a tool if a call's error says that its server has changed it. A failure is only logged: the
// tool's next call finds the change again.
func NoteChanged(ctx context.Context, rows interface {
	NoteToolChanged(ctx context.Context, p tenancy.ToolPermission, now time.Time) error
}, p tenancy.ToolPermission, now time.Time, failed error) {
	if e, is := errors.AsType[*explain.CallError](failed); !is || e.Problem != explain.ProblemChanged {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWithin)
	defer cancel()
	if err := rows.NoteToolChanged(ctx, p, now); err != nil {
		slog.WarnContext(ctx, "a changed tool is not off", "tool", p.ToolName, "err", err)
	}
}

// Keyed reports whether keys of outside agents may have the tool.
func (s Spec) Keyed() bool { return !s.Sourced && s.Name != tenancy.DecideTool }

// Allowed returns a tenant's catalog: Under, with the tools of MCP servers that an administrator allowed. The error
// names
// tools that are left out because their schemas can't be compiled; the catalog is returned all the same.
func (c *Catalog) Allowed(permissions []tenancy.ToolPermission, servers []tenancy.MCPServer) (*Catalog, error) {
	allowed, unread := c.Under(permissions)
	for _, p := range permissions {
		s, ok := Pinned(p, servers)
		if !ok {
			continue
		}
		with, err := allowed.With(s)
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("tool %s: %w", s.Name, err))
			continue
		}
		allowed = with
	}
	return allowed, unread
}

// Permitted is a tool under a tenant's present permission.
type Permitted struct {
	Spec    Spec     // with the permission's constraints
	Catalog *Catalog // knows it
}

// Permit returns a tool that people approved in this version and with this access. It returns ErrForbidden, ErrOther,
// or
// an *explain.CallError for constraints that aren't known.
func (c *Catalog) Permit(name, version string, access aggregate.Access, p tenancy.ToolPermission,
	servers []tenancy.MCPServer) (t Permitted, err error) {
	if !p.Allowed {
		return t, ErrForbidden
	}
	t.Catalog = c
	if pinned, ok := Pinned(p, servers); ok {
		if t.Catalog, err = c.With(pinned); err != nil {
			return t, ErrOther
		}
	}
	var known bool
	t.Spec, known = t.Catalog.Lookup(name)
	if !known || t.Spec.Version() != version || t.Spec.Access != access {
		return t, ErrOther
	}
	if t.Spec.Bounds, err = p.Bounds(t.Spec.Knows()); err != nil {
		return t, explain.Fail(explain.ProblemUnbound, err, name, err.Error())
	}
	if t.Spec.Timeout == 0 {
		t.Spec.Timeout = maxUnset
	}
	return t, nil
}

// Literal reads arguments that are proposed without steps before them, so none of them may be a reference. It checks
// them against the tool's schema and the tenant's constraints. Its errors are worded for a model.
func (c *Catalog) Literal(name string, raw aggregate.JSON) (Arguments, Resolved, error) {
	a, err := Parse(raw)
	if err != nil {
		return a, Resolved{}, err
	}
	if refs := a.Refs(); len(refs) > 0 {
		return a, Resolved{}, fmt.Errorf("argument %s: a $ref is for plans of steps; write the value itself",
			dotted(refs[0].At))
	}
	r, err := a.Resolve(nil)
	if err == nil {
		r, err = c.Check(name, r)
	}
	if err != nil {
		return a, r, err
	}
	spec, _ := c.Lookup(name)
	return a, r, worded(spec.Hold(r))
}

// MaxPinned is the longest time that a call of an MCP server's tool may take.
const MaxPinned = time.Minute

// textOutput is the output schema of a tool that declares none.
const textOutput = `{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],` +
	`"type":"object"}`

// Pinned returns the catalog's form of an MCP server's tool that a permission allows. It reports false for a tool of
// Ringi's own and for a tool that is off, and if the settings no longer name the server with the address at which the
// tool was allowed.
func Pinned(p tenancy.ToolPermission, servers []tenancy.MCPServer) (Spec, bool) {
	server, _, foreign := tenancy.ServerTool(p.ToolName)
	if !foreign || !p.Allowed || p.Pin == nil || p.ChangedAt != nil ||
		!slices.Contains(servers, tenancy.MCPServer{Name: server, URL: p.Pin.URL}) {
		return Spec{}, false
	}
	s := Spec{
		Name: p.ToolName, Titles: language.Texts{language.All[0]: p.Pin.Title}, Description: p.Pin.Description,
		Access:   p.Pin.Access,
		Provider: tenancy.MCPServer{Name: server}.Provider(), Timeout: MaxPinned,
		InputSchema: string(p.Pin.Input), OutputSchema: string(p.Pin.Output), Pin: p.Pin,
	}
	if s.OutputSchema == "" {
		s.OutputSchema = textOutput
	}
	return s, true
}

// With returns the catalog with additional tools. It returns the same errors as NewCatalog.
func (c *Catalog) With(specs ...Spec) (*Catalog, error) {
	all, err := NewCatalog(specs...)
	if err != nil {
		return nil, err
	}
	for _, s := range c.specs {
		if _, taken := all.Lookup(s.Name); taken {
			return nil, fmt.Errorf("tool %s: the name is taken", s.Name)
		}
		all.specs = append(all.specs, s)
	}
	return all, nil
}

// LeftOut returns the default values in an MCP server's schema for the arguments that a write omits, as an object by
// name; empty if there are none. Cards show them, because people who approve the call have not read the schema.
// Defaults of nested members are not included.
func LeftOut(s Spec, a Arguments) aggregate.JSON {
	if s.Pin == nil || s.Access != aggregate.Write {
		return ""
	}
	out := map[string]any{}
	for name, p := range s.parameters() {
		if _, given := a.members[name]; !given && p["default"] != nil {
			out[name] = p["default"]
		}
	}
	if len(out) == 0 {
		return ""
	}
	b, err := json.Marshal(out)
	if err != nil { // impossible: the values were read as JSON
		return ""
	}
	return aggregate.JSON(b)
}

// maxPlainNumber is how many characters a number may have that nobody wrote: a longer one could carry a text.
const maxPlainNumber = 15

// parameter is what a tool's schema says of one argument. It may say nothing.
type parameter map[string]any

// parameters are those of a tool's arguments, nil if the schema can't be read.
func (s Spec) parameters() map[string]parameter {
	top, ok := ParsedSchema(s.InputSchema).(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]parameter{}
	members, _ := top["properties"].(map[string]any)
	for name, v := range members {
		p, _ := v.(map[string]any)
		out[name] = p
	}
	return out
}

// free reports whether the argument may be a text of anybody's choice, or hold one.
func (p parameter) free() bool {
	if len(listOf(p["enum"])) > 0 || p["const"] != nil || p["format"] == "date" || p["format"] == "date-time" {
		return false
	}
	types := typesOf(p)
	return len(types) == 0 || slices.ContainsFunc(types, func(t string) bool {
		return !slices.Contains([]string{"integer", "number", "boolean", "null"}, t)
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
	return all != nil && !slices.ContainsFunc(slices.Collect(maps.Values(all)), parameter.free)
}

// Plain reports whether nothing in the arguments of a listed read was composed by a model: each is one of the schema's
// enumeration, a number, a date, true, false or null, or stands word for word in a text of said, which people wrote.
func Plain(s Spec, r Resolved, said ...string) bool {
	all := s.parameters()
	for name, v := range r.members {
		p, declared := all[name]
		if !declared || !p.plain(v) && !saidWholly(v, said) {
			return false
		}
	}
	return true
}

// saidWholly reports whether people wrote a value, or each of a list, without a letter or a digit next to it.
func saidWholly(v any, said []string) bool {
	switch v := v.(type) {
	case string:
		return slices.ContainsFunc(said, func(text string) bool { return stands(text, v) })
	case json.Number:
		return saidWholly(v.String(), said)
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(x any) bool { return !saidWholly(x, said) })
	}
	return false // names of an object's members would be the model's
}

func stands(text, value string) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }
	for from := 0; strings.ContainsFunc(value, word); {
		at := strings.Index(text[from:], value)
		if at < 0 {
			break
		}
		before, _ := utf8.DecodeLastRuneInString(text[:from+at])
		after, size := utf8.DecodeRuneInString(text[from+at+len(value):])
		if !word(before) && !word(after) {
			return true
		}
		from += at + max(size, 1)
	}
	return false
}

func (p parameter) plain(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case json.Number:
		return len(v) <= maxPlainNumber
	case string:
		for _, form := range []string{time.DateOnly, "2006-01"} { // a day or a month
			if t, err := time.Parse(form, v); err == nil && t.Format(form) == v {
				return true
			}
		}
		return slices.Contains(listOf(p["enum"]), any(v)) || p["const"] == any(v)
	}
	return false
}
