package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
	"ringi/shared/tool"
)

const toolUsage = `tool takes one of
  list                                   show which tools tasks may call, and within which constraints
  allow <tool> [<constraint>=<value> …]  let tasks call it; constraints that are not named stay, departments= and max_rows=0 lift one
  forbid <tool>                          switch it off; its constraints stay`

// tools runs `tool …` for Ringi's own tools.
func tools(ctx context.Context, rows *store.TaskStore, o order, args []string, out io.Writer) error {
	allow, forbid := len(args) > 1 && args[0] == "allow", len(args) == 2 && args[0] == "forbid"
	catalog, err := tool.Builtin()
	if err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "list":
		if err := listTools(ctx, rows, o.tenant, catalog, out); err != nil {
			return err
		}
		return known(ctx, rows, o, out)
	case !allow && !forbid:
		return errors.New(toolUsage)
	}
	name := args[1]
	if _, _, foreign := tenancy.ServerTool(name); foreign {
		return fmt.Errorf("%s is an MCP server's: `mcp %s` is for those", visible(name), args[0])
	}
	spec, ok := catalog.Lookup(name)
	if !ok {
		return aggregate.ErrField{Field: visible(name), Limit: "is no tool: `tool list` shows all that there are"}
	}
	var x tenancy.ToolPermission
	err = again(ctx, func() (err error) {
		if x, _, err = rows.ToolPermission(ctx, o.tenant, name); err != nil {
			return err
		}
		x.Allowed = allow
		if x.Constraints, err = bound(x, spec.Knows(), args[2:]); err != nil {
			return err
		}
		x, err = rows.SaveToolPermission(ctx, x, o.by, time.Now(), spec.Knows()...)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, line(x, spec.Knows()))
	return known(ctx, rows, o, out)
}

// bound applies arguments to a permission's constraints.
func bound(x tenancy.ToolPermission, knows []tenancy.Constraint, args []string) (aggregate.JSON, error) {
	c, err := x.Bounds(knows)
	if err != nil {
		return "", fmt.Errorf("read the constraints of %s: %w", x.ToolName, err)
	}
	err = assign(tenancy.Members(&c), args, func(name string) error {
		return aggregate.ErrField{Field: name, Limit: "is no constraint; those of " + x.ToolName + " are: " + names(knows)}
	})
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(c)
	return aggregate.JSON(b), err
}

func names(knows []tenancy.Constraint) string {
	var all []string
	for _, c := range knows {
		all = append(all, string(c))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

func listTools(ctx context.Context, rows *store.TaskStore, tenant string, catalog *tool.Catalog, out io.Writer) error {
	for _, s := range catalog.All() {
		x, _, err := rows.ToolPermission(ctx, tenant, s.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s (knows: %s)\n", line(x, s.Knows()), names(s.Knows()))
	}
	all, err := rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return err
	}
	for _, x := range all {
		if server, _, foreign := tenancy.ServerTool(x.ToolName); foreign {
			fmt.Fprintf(out, "%s (`mcp tools %s` shows it)\n", line(x, nil), server)
		}
	}
	return nil
}

// line describes a permission, with its constraints as allow accepts them.
func line(x tenancy.ToolPermission, knows []tenancy.Constraint) string {
	state := "forbidden"
	if x.Allowed {
		state = "allowed"
	}
	if x.ChangedAt != nil {
		state = "off, since its server changed it"
	}
	words := []string{x.ToolName + ": " + state}
	c, err := x.Bounds(knows)
	if err != nil {
		words = append(words, "but its constraints can't be read, and nothing calls it: "+err.Error())
	}
	for _, f := range tenancy.Members(&c) {
		if !f.Value.IsZero() {
			words = append(words, f.Name+"="+shown(f))
		}
	}
	return visible(strings.Join(words, " "))
}
