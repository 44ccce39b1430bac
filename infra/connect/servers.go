package main

import (
	"context"
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
		return "", fmt.Errorf("the settings name no server %s, and its token is for one address: first `mcp add %s <https address>`", name, name)
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
