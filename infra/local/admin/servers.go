package admin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/tool/mcp"
)

func Server(s *stack.Stack) tenancy.MCPServer {
	return tenancy.MCPServer{Name: vendors.RoomsServer, URL: s.VendorsURL + vendors.RoomsPath}
}

// nameServer adds the MCP server to a tenant's settings and stores its secret. Its tools stay off until an
// administrator allows them.
func nameServer(ctx context.Context, s *stack.Stack, tenant string) error {
	server := Server(s)
	token := vault.Credential{AccessToken: s.Vendors.RoomsToken(), Address: server.URL}
	if err := credentials(s).Connect(ctx, tenant, server.Provider(), token, "{}", setup()); err != nil {
		return err
	}
	x, err := rows(s).Settings(ctx, tenant)
	if err != nil || slices.Contains(x.MCPServers, server) {
		return err
	}
	x.MCPServers = append(x.MCPServers, server)
	if s.Sandbox != nil && tenant == aggregate.TenantID(s.Sandbox.TeamID()) {
		x.Sources = append(x.Sources, Shop(s))
		for _, own := range s.Vendors.Own {
			x.Sources = append(x.Sources, own.Source)
		}
	}
	_, err = rows(s).SaveSettings(ctx, tenant, x, setup(), time.Now())
	return err
}

// Shop is the source that a stack's first workspace has: the demo repository, for everybody.
func Shop(s *stack.Stack) agent.Source { return s.Vendors.Shop() }

func MCP(s *stack.Stack) mcp.Admin {
	reach := outbound.Dialer{Allow: []string{s.VendorsHost()}}
	return mcp.Admin{Rows: rows(s), Credentials: credentials(s), Client: mcp.Client{HTTP: reach.Client()}, Now: time.Now}
}

// Readable is Connect, and also lets members of contests call one of the MCP server's tools, as an administrator can
// allow at the console.
func Readable(ctx context.Context, s *stack.Stack, team string) error {
	if err := Connect(ctx, s, team); err != nil {
		return err
	}
	d, tenant := MCP(s), aggregate.TenantID(team)
	all, err := d.Tools(ctx, tenant, vendors.RoomsServer)
	if err != nil {
		return fmt.Errorf("list the tools of %s: %w", vendors.RoomsServer, err)
	}
	i := slices.IndexFunc(all, func(x mcp.Listed) bool { return x.Name == vendors.HouseRules })
	if i < 0 || all[i].Contests {
		return nil
	}
	if err := d.Allow(ctx, tenant, vendors.HouseRules, all[i].Hash, aggregate.Read, setup()); err != nil {
		return fmt.Errorf("allow %s: %w", vendors.HouseRules, err)
	}
	return d.ForContests(ctx, tenant, vendors.HouseRules, all[i].Hash, true, setup())
}
