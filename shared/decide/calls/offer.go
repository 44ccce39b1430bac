package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
)

// Offers are the tools of a tenant that a key may ask for now.
type Offers struct {
	Specs       []tool.Spec // by name
	Settings    tenancy.Settings
	Permissions map[string]tenancy.ToolPermission // by the tool's name
}

// Offers reads them. only: the name of one tool; empty for all. What runs where the agent runs is no tool of
// Ringi's, and not among them.
func (x Calls) Offers(ctx context.Context, key tenancy.Key, only string) (o Offers, err error) {
	o.Permissions = map[string]tenancy.ToolPermission{}
	both, within := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		o.Settings, err = x.Store.Settings(within, key.TenantID)
		return err
	})
	both.Go(func() error {
		if only != "" {
			p, _, err := x.Store.ToolPermission(within, key.TenantID, only)
			o.Permissions[only] = p
			return err
		}
		all, err := x.Store.ToolPermissions(within, key.TenantID)
		for _, p := range all {
			o.Permissions[p.ToolName] = p
		}
		return err
	})
	if err := both.Wait(); err != nil {
		return o, fmt.Errorf("read the tools of key %s: %w", key.ID, err)
	}
	for _, name := range slices.Sorted(slices.Values(key.Tools)) {
		p, has := o.Permissions[name]
		if only != "" && name != only {
			continue
		} else if !has {
			p = tenancy.Unsaved(key.TenantID, name)
		}
		spec, known := tool.Pinned(p, o.Settings.MCPServers)
		if !known {
			spec, known = x.Catalog.Lookup(name)
		}
		if known && p.Allowed && spec.Keyed() {
			o.Specs = append(o.Specs, spec)
		}
	}
	return o, nil
}

// ErrAsked says that people are to be asked about a call although it only reads.
var ErrAsked = errors.New("people are asked about this read")

// Read counts a call of the tool that o offers, which only reads, and returns it ready to be made; end counts that it
// is over. It returns aggregate.Problem for its arguments, aggregate.ErrFull for the key's quota or its reads under
// way, and ErrAsked if a rule takes such calls.
func (x Calls) Read(ctx context.Context, key tenancy.Key, o Offers, arguments []byte) (c tool.Call, end func(),
	err error) {
	name := o.Specs[0].Name
	p := o.Permissions[name]
	if err := key.Holds(name, x.Now()); err != nil {
		return c, nil, err
	}
	if _, err := call.Members(arguments); err != nil {
		return c, nil, err
	}
	of := call.Content{Key: key.ID, Answers: key.Answers, Tool: name, Arguments: string(arguments)}
	spec, _, resolved, err := x.read(&of, p, o.Settings)
	if err != nil {
		return c, nil, err
	}
	if of.Arguments = string(resolved.JSON()); spec.Access != aggregate.Read {
		return c, nil, tool.ErrForbidden
	}
	r, err := decide.Rules(ctx, x.Store, key.TenantID, o.Settings)
	if err != nil {
		return c, nil, err
	}
	if r != nil && r.Takes(rules.KindCall, rules.Known{Tool: p.Tool(), Access: spec.Access}) {
		return c, nil, ErrAsked
	}
	began := x.Now()
	if err := x.Store.Count(ctx, key.TenantID, call.OfDay(key, began), call.Reads(key, 1, began)); err != nil {
		return c, nil, err
	}
	end = func() { // a count that is lost ends with its half minute
		_ = x.Store.Count(context.WithoutCancel(ctx), key.TenantID, call.Reads(key, -1, began))
	}
	c = spec.Call(resolved)
	c.Tenant, c.Locale, c.Key, c.Asked = key.TenantID, o.Settings.Locale, aggregate.NewID(), key.Answers
	return c, end, nil
}
