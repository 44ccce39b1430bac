package web

import (
	"context"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
)

// KnownTool is a tool that requests may call, as rules see it.
type KnownTool struct {
	rules.Known
	ID, Title string // by which the settings know it; what people call it
	Allowed   bool   // now; Ringi's own tools are known even if they are off
	Labels    []rules.Label
	Free      bool // its calls move no money, as rules see them whatever the arguments are
}

// Writes reports whether calls of the tool write.
func (k KnownTool) Writes() bool { return k.Access != aggregate.Read }

// KnownTools returns Ringi's own tools and those of MCP servers that are on.
func (c *Site) KnownTools(ctx context.Context, v *Viewer) (all []KnownTool, err error) {
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	rows, err := c.Store.ToolPermissions(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	tools, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	for _, s := range tools.Planned().All() {
		own := tenancy.Standing(rows, v.Tenant, s.Name)
		if s.Name == tenancy.DecideTool { // its mark is made from the form
			own.Mark = (&task.Matter{}).Steps(v.Locale, s.Version())[0].Mark
		}
		all = append(all, knownAs(own, s.Access, s.Title(v.Locale), own.Allowed))
	}
	for _, p := range rows {
		if s, on := tool.Pinned(p, settings.MCPServers); on { // any server may choose any title
			all = append(all, knownAs(p, s.Access, strings.TrimSpace(p.Pin.Title+" ("+p.ToolName+")"), true))
		}
	}
	return all, nil
}

func knownAs(p tenancy.ToolPermission, access aggregate.Access, title string, allowed bool) KnownTool {
	var labels []rules.Label
	if m := p.Marked(""); m != nil {
		labels = m.LabelledBy
	}
	version := "1" // of one of Ringi's own tools without a mark any will do
	if p.Mark != nil {
		version = p.Mark.Version
	}
	free := p.ToolName != tenancy.DecideTool && p.Call(version, access, "{}", p.Mark).Amount == rules.Nothing()
	return KnownTool{rules.Known{Tool: p.Tool(), Access: access}, p.ToolName, title, allowed, labels, free}
}

// KnownToRules returns tools as rules need them.
func KnownToRules(all []KnownTool) []rules.Known {
	return Each(all, func(x KnownTool) rules.Known { return x.Known })
}
