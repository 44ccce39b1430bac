package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/outbound"
	"ringi/shared/store"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
	"ringi/shared/words/language"
)

// digits is the length of a tool's hash in hexadecimal digits. Nobody may give fewer: a server's author could make two
// tools whose hashes start alike.
const digits = 64

const usage = `mcp takes one of
  add <server> <https address>            name a server in the settings
  remove <server>                         name it no longer
  tools <server>                          show its tools, with what it says of them
  allow <server>.<tool> <hash> read|write let tasks call the tool that was shown; all 64 digits of its hash
  forbid <server>.<tool>                  switch it off
  contests <server>.<tool> <hash>|off     let members of contests call the tool, if it reads; they ask nobody`

// servers runs `mcp …`.
func servers(ctx context.Context, rows *store.TaskStore, o order, args []string, out io.Writer) error {
	d := mcp.Admin{Rows: rows, Credentials: o.vault,
		Client: mcp.Client{HTTP: outbound.Allowing(os.Getenv("OUTBOUND_ALLOW")).Client()}, Now: time.Now}
	err := errors.New(usage)
	switch verb := strings.Join(args[:min(1, len(args))], ""); {
	case verb == "add" && len(args) == 3:
		err = o.rename(ctx, rows, args[1], args[2])
	case verb == "remove" && len(args) == 2:
		err = o.rename(ctx, rows, args[1], "")
	case verb == "tools" && len(args) == 2:
		return show(ctx, d, o.tenant, args[1], out)
	case verb == "allow" && len(args) == 4:
		err = allow(ctx, d, o, args[1], args[2], aggregate.Access(args[3]))
	case verb == "forbid" && len(args) == 2:
		err = d.Forbid(ctx, o.tenant, args[1], o.by)
	case verb == "contests" && len(args) == 3:
		err = d.ForContests(ctx, o.tenant, args[1], args[2], args[2] != "off", o.by)
	}
	if err != nil {
		return said(err)
	}
	fmt.Fprintf(out, "%s: done for %s\n", strings.Join(args[:2], " "), o.team)
	return nil
}

// rename sets a server's address in the settings. An empty address removes the server.
func (o order) rename(ctx context.Context, rows *store.TaskStore, name, address string) error {
	return again(ctx, func() error {
		x, err := rows.Settings(ctx, o.tenant)
		if err != nil {
			return err
		}
		x.MCPServers = slices.DeleteFunc(slices.Clone(x.MCPServers), func(s tenancy.MCPServer) bool { return s.Name == name })
		if address != "" {
			x.MCPServers = append(x.MCPServers, tenancy.MCPServer{Name: name, URL: address})
		}
		_, err = rows.SaveSettings(ctx, o.tenant, x, o.by, time.Now())
		return err
	})
}

// show prints everything that a server says about its tools, so that an administrator allows nothing unseen.
func show(ctx context.Context, d mcp.Admin, tenant, server string, out io.Writer) error {
	all, err := d.Tools(ctx, tenant, server)
	if err != nil {
		return said(err)
	}
	for _, x := range all {
		state := string(x.State)
		if x.Access != "" {
			state += ", " + string(x.Access)
		}
		if x.Contests {
			state += ", for contests"
		}
		fmt.Fprintf(out, "%s (%s)\n", visible(x.Name), state)
		for _, line := range [][2]string{
			{"can't be allowed", x.Problem}, {"hash", x.Hash}, {"title", x.Tool.Title}, {"description", x.Tool.Description},
			{"arguments", x.Tool.Input}, {"result", x.Tool.Output},
		} {
			if line[1] != "" {
				fmt.Fprintf(out, "  %s: %s\n", line[0], visible(line[1]))
			}
		}
	}
	return nil
}

// allow allows a tool by the complete hash that show printed.
func allow(ctx context.Context, d mcp.Admin, o order, name, hash string, access aggregate.Access) error {
	if access != aggregate.Read && access != aggregate.Write {
		return fmt.Errorf("say whether %s reads or writes: a tool that writes is never called twice on its own", name)
	}
	server, _, _ := tenancy.ServerTool(name)
	look := fmt.Sprintf("look at it with `mcp tools %s`", server)
	if len(hash) != digits {
		return fmt.Errorf("the hash has %d digits, not %d: copy all of them; %s", digits, len(hash), look)
	}
	err := d.Allow(ctx, o.tenant, name, hash, access, o.by)
	if errors.Is(err, mcp.ErrChanged) {
		return fmt.Errorf("%s has not the hash %.80q (any more); %s", name, hash, look)
	}
	return err
}

// address returns a server's address from the settings.
func (o order) address(ctx context.Context, rows *store.TaskStore, name string) (string, error) {
	x, err := rows.Settings(ctx, o.tenant)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(x.MCPServers, func(s tenancy.MCPServer) bool { return s.Name == name })
	if i < 0 {
		return "", fmt.Errorf("the settings name no server %s, and its token is for one address: first `mcp add %s "+
			"<https address>`", name, name)
	}
	return x.MCPServers[i].URL, nil
}

// said replaces a refusal with its sentence; it returns other errors unchanged.
func said(err error) error {
	var e *explain.CallError
	if errors.As(err, &e) {
		return errors.New(explain.FailedCall(language.English, e.Problem, e.Args...))
	}
	return err
}

// visible escapes characters that a terminal would hide or interpret.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || r == '\u3000' { // a full-width space looks like a space, and people type it
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
	}
	return b.String()
}

const toolUsage = `tool takes one of
  list                                   show which tools tasks may call, and within which constraints
  allow <tool> [<constraint>=<value> …]  let tasks call it; constraints that are not named stay,
                                         departments= and max_rows=0 lift one
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
