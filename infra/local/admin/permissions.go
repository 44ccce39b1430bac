package admin

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"ringi/infra/local/sandbox"
	"ringi/shared/domain/aggregate"
	"ringi/shared/tool"
)

// permissions is the sandbox's panel over which of Ringi's own tools tasks may call,
// and within which constraints.
type permissions struct{ settings }

// List returns every tool of the catalog with the tenant's rules for it.
func (p permissions) List(ctx context.Context) ([]sandbox.Permission, error) {
	catalog, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	out := []sandbox.Permission{}
	for _, s := range catalog.All() {
		x, _, err := p.rows().ToolPermission(ctx, p.tenant(), s.Name)
		if err != nil {
			return nil, err
		}
		one := sandbox.Permission{Tool: s.Name, Title: s.Title("ja"), TitleEN: s.Title("en"), Allowed: x.Allowed, Constraints: json.RawMessage(x.Constraints), Knows: []string{}}
		for _, name := range s.Knows() {
			one.Knows = append(one.Knows, string(name))
		}
		out = append(out, one)
	}
	return out, nil
}

// Save writes the rules for one tool, as the person by.
func (p permissions) Save(ctx context.Context, by string, one sandbox.Permission) error {
	catalog, err := tool.Builtin()
	if err != nil {
		return err
	}
	spec, known := catalog.Lookup(one.Tool)
	if !known {
		return sandbox.FieldErrors{"tool": "is none of Ringi's own"}
	}
	x, _, err := p.rows().ToolPermission(ctx, p.tenant(), one.Tool)
	if err != nil {
		return err
	}
	x.Allowed, x.Constraints = one.Allowed, aggregate.JSON(one.Constraints)
	_, err = p.rows().SaveToolPermission(ctx, x, aggregate.Actor{Type: aggregate.ActorUser, ID: by}, time.Now(), spec.Knows()...)
	var field aggregate.ErrField
	if errors.As(err, &field) {
		return sandbox.FieldErrors{field.Field: field.Limit}
	}
	return err
}
