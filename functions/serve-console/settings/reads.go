package settings

import (
	"context"
	"fmt"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
)

// listable returns the problems of the sources and of the reads that x lists and was doesn't.
func (c *Pages) listable(ctx context.Context, v *web.Viewer, was tenancy.Settings, x *tenancy.Settings) (
	[]tenancy.Problem, error) {
	all, err := c.GitHub.list(ctx, v, was, x)
	if err != nil {
		return nil, err
	}
	reads, err := c.unlistableReads(ctx, v, was, *x)
	if err != nil {
		return nil, err
	}
	unplayable, err := c.unplayable(ctx, v, was, *x)
	return append(append(all, reads...), unplayable...), err
}

// unlistableReads returns the problems of new entries: the tool must be there in this version, and be one that may be
// listed. An entry that stays is not asked for, so that a tool which changed prevents no other setting.
func (c *Pages) unlistableReads(ctx context.Context, v *web.Viewer, was, x tenancy.Settings) (all []tenancy.Problem,
	err error) {
	catalog, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	for i, r := range x.ListedReads {
		same := func(old agent.ListedRead) bool { return old.Tool == r.Tool && old.Version == r.Version }
		if slices.ContainsFunc(was.ListedReads, same) {
			continue
		}
		p, _, err := c.Store.ToolPermission(ctx, v.Tenant, r.Tool)
		if err != nil {
			return nil, fmt.Errorf("read the permission of %s: %w", r.Tool, err)
		}
		s, known := catalog.Lookup(r.Tool)
		if pinned, is := tool.Pinned(p, x.MCPServers); is {
			s, known = pinned, true
		}
		field, rule := "tool", agent.Rule("")
		switch {
		case !known || !p.Allowed:
			rule = agent.RuleListedUnknown
		case !tool.Listable(s):
			rule = agent.RuleListedFree
		case s.Version() != r.Version:
			field, rule = "version", agent.RuleListedOther
		}
		if rule != "" {
			all = append(all, tenancy.Problem{Field: fmt.Sprintf("listed_reads[%d].%s", i, field), Rule: tenancy.Rule(rule)})
		}
	}
	return all, nil
}
