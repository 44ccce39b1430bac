package tool

import (
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
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool/schema"
	"ringi/shared/words/language"
)

// Spec describes one tool.
type Spec struct {
	Name        string
	Titles      language.Texts // its name for people
	About       language.Texts // what it does, for the administrator who allows it; empty of an MCP server's
	Description string         // for the model that plans
	Access      aggregate.Access
	Provider    string        // whose credentials it needs; empty: nobody's
	Timeout     time.Duration // the longest a call may take
	MaxRows     int           // of the longest list that it takes or gives
	MaxBytes    int           // of its result
	// InputSchema and OutputSchema are JSON Schemas.
	InputSchema  string
	OutputSchema string
	// Destination names the arguments that say where a write goes.
	Destination []string
	// Said names the arguments of a write whose words reach people.
	Said []string
	// Bound names the argument that each constraint limits; empty where the tool has to check the constraint itself, with
	// the vendor's data.
	Bound map[tenancy.Constraint]string
	// Bounds are the constraints of a tenant's permission. They are no part of the
	// version: they only narrow what people approved.
	Bounds tenancy.Constraints
	// Pin is what an administrator allowed of an MCP server's tool; nil for Ringi's own.
	Pin *tenancy.Pin
}

// Knows are the constraints that an administrator may bind the tool with, by name.
func (s Spec) Knows() []tenancy.Constraint { return slices.Sorted(maps.Keys(s.Bound)) }

// Title is the tool's name for people.
func (s Spec) Title(locale string) string { return s.Titles.In(locale) }

// Version changes with everything that people approved of a tool: its name, arguments and effect, or for an MCP
// server's tool all that was allowed.
func (s Spec) Version() string {
	if s.Pin != nil {
		return s.Pin.Version()
	}
	sum := sha256.Sum256([]byte(s.Name + "\x00" + string(s.Access) + "\x00" + s.InputSchema))
	return hex.EncodeToString(sum[:])
}

// shortVersion is how many digits of a version steps once kept.
const shortVersion = 12

// Approved reports whether the tool still has the version of a stamped step. Steps stamped long ago have the first 12
// digits. That is enough for a tool of Ringi's own, which only a release changes, but not for an MCP server's: a
// server could make another tool with the same 12.
func (s Spec) Approved(version string) bool {
	is := s.Version()
	return version == is || s.Pin == nil && len(version) == shortVersion && strings.HasPrefix(is, version)
}

// Catalog is a set of tools. It does not change once made.
type Catalog struct {
	specs   []Spec
	inputs  map[string]func() (*schema.Schema, error)
	outputs map[string]any
}

// NewCatalog makes a catalog. It returns an error for a name that is taken twice and for an invalid schema.
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

// newCatalog leaves the input schemas to be compiled when the first call needs them.
func newCatalog(specs []Spec) (*Catalog, error) {
	c := &Catalog{specs: slices.Clone(specs), inputs: map[string]func() (*schema.Schema, error){},
		outputs: map[string]any{}}
	for _, s := range specs {
		if _, taken := c.inputs[s.Name]; taken {
			return nil, fmt.Errorf("tool %s: the name is taken", s.Name)
		}
		c.inputs[s.Name] = sync.OnceValues(func() (*schema.Schema, error) {
			return schema.Compile(s.Name+".input", s.InputSchema)
		})
		output, err := schema.Decode([]byte(s.OutputSchema))
		if err != nil {
			return nil, fmt.Errorf("tool %s: output schema: %w", s.Name, err)
		}
		c.outputs[s.Name] = output
	}
	return c, nil
}

// input is a tool's compiled input schema.
func (c *Catalog) input(name string) (*schema.Schema, error) {
	compile, ok := c.inputs[name]
	if !ok {
		return nil, fmt.Errorf("there is no tool %q", name)
	}
	s, err := compile()
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", name, err)
	}
	return s, nil
}

// Builtin is the catalog of the tools that come with Ringi.
func Builtin() (*Catalog, error) {
	files, err := catalog.Files()
	if err != nil {
		return nil, err
	}
	var specs []Spec
	for _, f := range files {
		s := Spec{
			Name: f.Name, Titles: f.Title, About: f.About, Description: f.Description, Access: f.Effect, Provider: f.Provider,
			Timeout: time.Duration(f.Limits.TimeoutSeconds) * time.Second, MaxRows: f.Limits.MaxRows,
			MaxBytes:    f.Limits.MaxBytes,
			Destination: f.Destination, Said: f.Said, Bound: map[tenancy.Constraint]string{},
			InputSchema: Canonical(f.Input), OutputSchema: Canonical(f.Output),
		}
		for constraint, argument := range f.Constraints {
			s.Bound[tenancy.Constraint(constraint)] = argument
		}
		specs = append(specs, s)
	}
	return newCatalog(specs)
}

// Canonical is the JSON without insignificant space, its members sorted, so that
// a tool's version does not follow the layout of a file.
func Canonical(text json.RawMessage) string {
	v, err := schema.Decode(text)
	if err != nil {
		return string(text) // NewCatalog says what is wrong with it
	}
	b, err := encode(v)
	if err != nil {
		return string(text)
	}
	return string(b)
}

// Lookup finds a tool by name.
func (c *Catalog) Lookup(name string) (Spec, bool) {
	i := slices.IndexFunc(c.specs, func(s Spec) bool { return s.Name == name })
	if i < 0 {
		return Spec{}, false
	}
	return c.specs[i], true
}

// Knows are the constraints of a tool; a tool that is not in the catalog has none.
func (c *Catalog) Knows(name string) []tenancy.Constraint {
	s, _ := c.Lookup(name)
	return s.Knows()
}

// All returns every tool, by name.
func (c *Catalog) All() []Spec {
	all := slices.Clone(c.specs)
	slices.SortFunc(all, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Only returns a catalog of the tools that keep holds for: those that a tenant allows.
func (c *Catalog) Only(keep func(Spec) bool) *Catalog {
	return &Catalog{
		specs:  slices.DeleteFunc(slices.Clone(c.specs), func(s Spec) bool { return !keep(s) }),
		inputs: c.inputs, outputs: c.outputs,
	}
}

// Call is one call of a tool, with arguments that are resolved and checked.
type Call struct {
	Tenant    string
	Tool      string
	Arguments Resolved
	// Key is the idempotency key: the same when a call whose outcome is unknown is repeated.
	Key string
	// Locale is the language of an error's sentence, ja or en.
	Locale string
	// Thread is where the request was made.
	Thread Thread
	// Bounds are the constraints of the tenant's permission. Those on arguments have been checked. The tool itself checks
	// those that need the vendor's data, such as departments.
	Bounds tenancy.Constraints
	// Pin is the tool as it was allowed, when it is an MCP server's.
	Pin *tenancy.Pin
}

// Thread is a thread in Slack.
type Thread struct{ Channel, TS string }
