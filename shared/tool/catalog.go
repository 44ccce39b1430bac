// Package tool is the catalog of the tools that steps may call. It makes the tools from their files in
// shared/domain/tenancy/tools, defines how arguments refer to earlier results, and checks JSON against JSON Schemas. It
// calls no vendor: the packages below it are the vendors' clients and the runner that calls them.
//
// It imports slack and the areas under it. Begin with a file of shared/domain/tenancy/tools, then runner.
package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Spec describes one tool.
type Spec struct {
	Name        string
	Titles      language.Texts // its name for people
	About       language.Texts // what it does, for the administrator who allows it; empty for an MCP server's
	Description string         // for the model that plans
	Access      aggregate.Access
	Provider    string        // whose credentials it needs; empty: none
	Sourced     bool          // only conversations with a source may call it; see tenancy.OwnTool
	Timeout     time.Duration // the longest a call may take
	MaxRows     int           // rows in the longest list that it takes or returns
	MaxBytes    int           // size of its result
	MaxMessage  int           // length of the message that Said makes; see tooLong
	// InputSchema and OutputSchema are JSON Schemas.
	InputSchema  string
	OutputSchema string
	// Destination names the arguments that determine where a write goes.
	Destination []string
	// Said names the arguments of a write that people will read.
	Said []string
	// Bound names the argument that each constraint limits. The name is empty if the tool itself has to check the
	// constraint against the vendor's data.
	Bound map[tenancy.Constraint]string
	// Bounds are the constraints of a tenant's permission. They only narrow what people approved, so Version ignores
	// them.
	Bounds tenancy.Constraints
	// Pin is the form of an MCP server's tool that an administrator allowed; nil for Ringi's own tools.
	Pin *tenancy.Pin

	input func() (*Schema, error) // compiles InputSchema at the first call
}

// Knows returns the names of the constraints that an administrator may set for the tool.
func (s Spec) Knows() []tenancy.Constraint { return slices.Sorted(maps.Keys(s.Bound)) }

// Title is the tool's name for people.
func (s Spec) Title(locale string) string { return s.Titles.In(locale) }

// Version changes with everything about a tool that people approved: its name, arguments and effect or, for an MCP
// server's tool, everything that was allowed.
func (s Spec) Version() string {
	if s.Pin != nil {
		return s.Pin.Version()
	}
	sum := sha256.Sum256([]byte(s.Name + "\x00" + string(s.Access) + "\x00" + s.InputSchema))
	return hex.EncodeToString(sum[:])
}

// Catalog is an immutable set of tools.
type Catalog struct{ specs []Spec }

// NewCatalog makes a catalog. It returns an error for a duplicate name or an invalid schema.
func NewCatalog(specs ...Spec) (*Catalog, error) {
	c, err := newCatalog(specs)
	if err != nil {
		return nil, err
	}
	for _, s := range specs {
		if _, err := c.input(s.Name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// newCatalog makes a catalog whose input schemas are compiled at the first call that needs them.
func newCatalog(specs []Spec) (*Catalog, error) {
	c := &Catalog{specs: slices.Clone(specs)}
	for i, s := range c.specs {
		if slices.ContainsFunc(c.specs[:i], func(x Spec) bool { return x.Name == s.Name }) {
			return nil, fmt.Errorf("tool %s: the name is taken", s.Name)
		}
		if !json.Valid([]byte(s.OutputSchema)) {
			return nil, fmt.Errorf("tool %s: the output schema is no JSON", s.Name)
		}
		c.specs[i].input = sync.OnceValues(func() (*Schema, error) {
			return CompileSchema(s.Name+".input", s.InputSchema)
		})
	}
	return c, nil
}

// input is a tool's compiled input schema.
func (c *Catalog) input(name string) (*Schema, error) {
	spec, known := c.Lookup(name)
	if !known {
		return nil, fmt.Errorf("there is no tool %q", name)
	}
	s, err := spec.input()
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", name, err)
	}
	return s, nil
}

// Builtin returns the catalog of Ringi's own tools. It is made at the first call, and nobody changes it.
func Builtin() (*Catalog, error) { return builtin() }

var builtin = sync.OnceValues(func() (*Catalog, error) {
	files, err := tenancy.OwnTools()
	if err != nil {
		return nil, err
	}
	var specs []Spec
	for _, f := range files {
		s := Spec{
			Name: f.Name, Titles: f.Title, About: f.About, Description: f.Description, Access: f.Effect, Provider: f.Provider,
			Sourced: f.Sourced,
			Timeout: time.Duration(f.Limits.TimeoutSeconds) * time.Second, MaxRows: f.Limits.MaxRows,
			MaxBytes: f.Limits.MaxBytes, MaxMessage: f.Limits.MaxMessage,
			Destination: f.Destination, Said: f.Said, Bound: map[tenancy.Constraint]string{},
			InputSchema: Canonical(f.Input), OutputSchema: Canonical(f.Output),
		}
		for constraint, argument := range f.Constraints {
			s.Bound[tenancy.Constraint(constraint)] = argument
		}
		specs = append(specs, s)
	}
	return newCatalog(specs)
})

// Canonical returns the JSON in the form in which values are compared, so that a tool's version does not depend on the
// layout of a file.
func Canonical(text json.RawMessage) string {
	v, err := Decode(text)
	if err != nil {
		return string(text) // NewCatalog reports the error
	}
	return string(written(v))
}

// Lookup finds a tool by name.
func (c *Catalog) Lookup(name string) (Spec, bool) {
	i := slices.IndexFunc(c.specs, func(s Spec) bool { return s.Name == name })
	if i < 0 {
		return Spec{}, false
	}
	return c.specs[i], true
}

// Knows returns the constraints that a tool supports, none for an unknown tool.
func (c *Catalog) Knows(name string) []tenancy.Constraint {
	s, _ := c.Lookup(name)
	return s.Knows()
}

// All returns every tool, sorted by name.
func (c *Catalog) All() []Spec {
	all := slices.Clone(c.specs)
	slices.SortFunc(all, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Planned returns the tools that plans of tasks may have.
func (c *Catalog) Planned() *Catalog { return c.Only(func(s Spec) bool { return !s.Sourced }) }

// Modelled returns the tools that models may plan. The other one, which records decisions, is never called.
func (c *Catalog) Modelled() *Catalog {
	return c.Only(func(s Spec) bool { return s.Name != tenancy.DecideTool })
}

// Only returns a catalog of the tools for which keep returns true.
func (c *Catalog) Only(keep func(Spec) bool) *Catalog {
	return &Catalog{slices.DeleteFunc(slices.Clone(c.specs), func(s Spec) bool { return !keep(s) })}
}

// Runner makes calls. *runner.Runner implements it.
type Runner interface {
	Run(ctx context.Context, c Call) (json.RawMessage, error)
	// Look returns the result of an earlier call if it can be seen to have arrived.
	Look(ctx context.Context, c Call) (result json.RawMessage, found bool)
}

// Call is one call of a tool. Its arguments are resolved and checked.
type Call struct {
	Tenant    string
	Tool      string
	Arguments Resolved
	// Key is the idempotency key. A repeated call has the same key.
	Key string
	// Locale is the language of error messages and of the line below a message, ja or en.
	Locale string
	// Asked and Stamped are the Slack ids of who asked for the call and of all who approved it. Stamped is empty if
	// nobody was asked to.
	Asked   string
	Stamped []string
	// Bounds are the constraints of the tenant's permission. Constraints on arguments have been checked before the
	// call. The tool itself checks those that need the vendor's data, such as departments.
	Bounds tenancy.Constraints
	// Pin is the form of an MCP server's tool that was allowed; nil for Ringi's own tools.
	Pin *tenancy.Pin
}

// Call returns a call of the tool with these arguments, as the permission allows it.
func (s Spec) Call(arguments Resolved) Call {
	return Call{Tool: s.Name, Arguments: arguments, Bounds: s.Bounds, Pin: s.Pin}
}

// Step completes a step with what its tool and arguments say, before are the tools of earlier steps by their ids.
// Whoever wrote the step, it gets a human check if it passes results to an MCP server, or if where it writes comes from
// a result.
func (s Spec) Step(x task.Step, a Arguments, before map[string]string) (task.Step, error) {
	x.Access, x.ToolVersion, x.ToolTitle = s.Access, s.Version(), ""
	if s.Pin != nil {
		x.ToolTitle = s.Pin.Title
	}
	var err error
	if x.ToolInput, err = a.JSON(); err != nil {
		return x, err
	}
	x.LeftOut, x.Declared = LeftOut(s, a), Declared(s, a)
	// Does the call give an MCP server what another vendor's tool returned? Arguments of reads reach it, too.
	to, _, foreign := tenancy.ServerTool(s.Name)
	passesOn := foreign && slices.ContainsFunc(a.Refs(), func(r Ref) bool {
		from, _, _ := tenancy.ServerTool(before[r.Path.StepID])
		return from != to
	})
	x.RequiresHumanCheck = x.RequiresHumanCheck || passesOn || s.Access == aggregate.Write && Dynamic(s, a)
	return x, nil
}

// Marked returns steps with the marks of the tools that write. A model neither sees nor writes marks.
func Marked(steps []task.Step, permissions []tenancy.ToolPermission) []task.Step {
	steps = slices.Clone(steps)
	for i, s := range steps {
		for _, p := range permissions {
			if p.ToolName == s.Tool && s.Access == aggregate.Write {
				steps[i].Mark = p.Mark
			}
		}
	}
	return steps
}
