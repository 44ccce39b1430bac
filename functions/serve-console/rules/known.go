package rules

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
)

// knownTool is a tool that a tenant's requests may call.
type knownTool struct {
	rules.Known
	Title   string
	Allowed bool // now; Ringi's own tools are known even if they are off
	To      bool // it is known where its arguments have destinations
}

// knownTools returns Ringi's own tools and those of MCP servers that are on.
func (c *Pages) knownTools(ctx context.Context, v *web.Viewer) (all []knownTool, err error) {
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	rows, err := c.Store.ToolPermissions(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	catalog, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	for _, s := range catalog.Planned().All() {
		x := knownTool{Title: s.Title(v.Locale), Allowed: true}
		x.Tool, x.Access = rules.Tool{Name: s.Name}, s.Access
		own := tenancy.ToolPermission{ToolName: s.Name, Allowed: true}
		if i := slices.IndexFunc(rows, func(p tenancy.ToolPermission) bool { return p.ToolName == s.Name }); i >= 0 {
			own = rows[i]
		}
		x.Allowed = own.Allowed
		x.mark(own.Marked(""))
		all = append(all, x)
	}
	for _, p := range rows {
		s, on := tool.Pinned(p, settings.MCPServers)
		if !on {
			continue
		}
		x := knownTool{Title: cmp.Or(p.Pin.Title, p.ToolName), Allowed: true}
		x.Tool, x.Access = p.Tool(), s.Access
		x.mark(p.Marked(""))
		all = append(all, x)
	}
	return all, nil
}

// knownOf returns the tools as rules need them; now leaves out those that are off.
func knownOf(all []knownTool, now bool) (out []rules.Known) {
	for _, x := range all {
		if x.Allowed || !now {
			out = append(out, x.Known)
		}
	}
	return out
}

// toolValue is a tool as the value of an input; toolOf reads it.
func toolValue(t rules.Tool) string { return t.Address + " " + t.Name }

func toolOf(value string) rules.Tool {
	address, name, _ := strings.Cut(value, " ")
	return rules.Tool{Address: address, Name: name}
}

func find(all []knownTool, t rules.Tool) (knownTool, bool) {
	i := slices.IndexFunc(all, func(x knownTool) bool { return x.Tool.Same(t) })
	if i < 0 {
		return knownTool{}, false
	}
	return all[i], true
}

func (k *knownTool) mark(m *rules.Mark) {
	k.Unmarked = m == nil || m.How != rules.HowNothing && len(m.Pointers) == 0
	k.To = m != nil && len(m.Destinations) > 0
}

func (k knownTool) writes() bool { return k.Access != aggregate.Read }
