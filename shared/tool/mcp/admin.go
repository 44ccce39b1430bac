package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// Rows reads and saves the decisions of a tenant's administrators.
type Rows interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	SaveToolPermission(ctx context.Context, x tenancy.ToolPermission, by aggregate.Actor, now time.Time,
		known ...tenancy.Constraint) (tenancy.ToolPermission, error)
}

// Credentials returns the secret of a server at an address. It returns aggregate.ErrNotFound if there never was one,
// and ErrNotConnected if the secret was removed or is for another address.
type Credentials interface {
	ServerToken(ctx context.Context, tenant string, s tenancy.MCPServer) (string, error)
}

// Admin lists servers' tools for an administrator, and allows or forbids them.
type Admin struct {
	Rows        Rows
	Credentials Credentials
	Client      Client
	Now         func() time.Time
}

// State says whether tasks may call a tool or why not.
type State string

const (
	Off     State = "off"     // nobody allowed it, or somebody forbade it
	On      State = "on"      // allowed, and still what was allowed
	Changed State = "changed" // allowed, but the server has changed it since: it is off
	Gone    State = "gone"    // allowed, but the server no longer has it
	Unfit   State = "unfit"   // it can't be allowed
)

// Listed is a tool of a server as an administrator sees it.
type Listed struct {
	Name    string // <server>.<tool>
	URL     string // the server's address
	Tool    Tool
	Hash    string // required by Allow; empty if the server no longer has the tool
	State   State
	Access  aggregate.Access // as allowed; empty if the tool was never allowed
	Problem string           // why the tool can't be allowed
	// Contests says that it is listed for contests.
	Contests bool
}

// Tools lists a server's tools, including allowed tools that the server no longer has. It returns ErrField for a server
// that the settings don't name, and a *failedcall.Error if the server can't be asked.
func (d Admin) Tools(ctx context.Context, tenant, server string) ([]Listed, error) {
	s, err := d.server(ctx, tenant, server)
	if err != nil {
		return nil, err
	}
	rows, err := d.Rows.ToolPermissions(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list the tools of %s: %w", server, err)
	}
	now, err := d.Client.List(ctx, s)
	if err != nil {
		return nil, err
	}
	var all []Listed
	for i, t := range now {
		x := Listed{Name: s.Name + "." + t.Name, URL: s.URL, Tool: t, Hash: t.Hash(), State: Off, Problem: t.Problem()}
		if named := func(u Tool) bool { return u.Name == t.Name }; slices.ContainsFunc(now[:i], named) ||
			slices.ContainsFunc(now[i+1:], named) {
			x.Problem = "its name is there twice"
		}
		row, allowed := permission(rows, x.Name)
		switch {
		case x.Problem != "":
			x.State = Unfit
		case allowed && row.ChangedAt == nil && row.Pin.Hash == x.Hash && row.Pin.URL == s.URL:
			x.State, x.Access, x.Contests = On, row.Pin.Access, row.Contests
		case allowed:
			x.State, x.Access = Changed, row.Pin.Access
		}
		all = append(all, x)
	}
	for _, row := range rows {
		mine := strings.HasPrefix(row.ToolName, s.Name+".") && row.Allowed && row.Pin != nil
		if mine && !slices.ContainsFunc(all, func(x Listed) bool { return x.Name == row.ToolName }) {
			_, name, _ := tenancy.ServerTool(row.ToolName)
			all = append(all, Listed{Name: row.ToolName, URL: s.URL, Tool: Tool{Name: name, Title: row.Pin.Title}, State: Gone,
				Access: row.Pin.Access})
		}
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// server returns a server of the settings with its secret, if it has one.
func (d Admin) server(ctx context.Context, tenant, name string) (Server, error) {
	settings, err := d.Rows.Settings(ctx, tenant)
	if err != nil {
		return Server{}, fmt.Errorf("find the server %s: %w", name, err)
	}
	i := slices.IndexFunc(settings.MCPServers, func(s tenancy.MCPServer) bool { return s.Name == name })
	if i < 0 {
		return Server{}, aggregate.ErrField{Field: "server", Limit: "is none that the settings name"}
	}
	s := Server{MCPServer: settings.MCPServers[i]}
	s.Secret, err = d.Credentials.ServerToken(ctx, tenant, s.MCPServer)
	if ended := (tenancy.ErrNotConnected{}); errors.As(err, &ended) && ended.Reason == tenancy.CredentialElsewhere {
		return Server{}, explain.Fail(explain.ProblemElsewhere, err, s.provider())
	}
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return Server{}, fmt.Errorf("read the secret of %s: %w", name, err)
	}
	return s, nil
}

func permission(rows []tenancy.ToolPermission, name string) (p tenancy.ToolPermission, allowed bool) {
	i := slices.IndexFunc(rows, func(p tenancy.ToolPermission) bool { return p.ToolName == name })
	if i < 0 {
		return p, false
	}
	return rows[i], rows[i].Allowed && rows[i].Pin != nil
}
