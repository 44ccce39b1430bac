package tool

import (
	"errors"
	"fmt"

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

// Allowed returns a tenant's catalog: Under, with the tools of MCP servers that an administrator allowed. The error names
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

// Permit returns a tool that people approved in this version and with this access. It returns ErrForbidden, ErrOther, or
// a *failedcall.Error for constraints that aren't known.
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
	if !known || !t.Spec.Approved(version) || t.Spec.Access != access {
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
	if broken := spec.Hold(r); broken != nil {
		return a, r, errors.New(explain.FailedCall(language.English, broken.Problem, broken.Args...))
	}
	return a, r, nil
}
