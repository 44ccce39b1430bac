package driver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/tool/mcp"
)

func MCPServer(s *stack.Stack) tenancy.MCPServer {
	return tenancy.MCPServer{Name: vendors.RoomsServer, URL: s.VendorsURL + vendors.RoomsPath}
}

// nameServer adds the MCP server to a tenant's settings and stores its secret. Its tools stay off until somebody allows
// them.
func nameServer(ctx context.Context, s *stack.Stack, tenant string) error {
	server := MCPServer(s)
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

func MCPAdmin(s *stack.Stack) mcp.Admin {
	reach := outbound.Dialer{Allow: []string{s.VendorsHost()}}
	return mcp.Admin{Rows: rows(s), Credentials: credentials(s), Client: mcp.Client{HTTP: reach.Client()}, Now: time.Now}
}

// Readable is Connect, and also lets members of contests call one of the MCP server's tools, as an administrator can
// allow at the console.
func ConnectReadable(ctx context.Context, s *stack.Stack, team string) error {
	if err := Connect(ctx, s, team); err != nil {
		return err
	}
	tenant := aggregate.TenantID(team)
	x, err := listed(ctx, s, tenant, vendors.HouseRules)
	if err != nil || x.Hash == "" || x.Contests {
		return err
	}
	d := MCPAdmin(s)
	if err := d.Allow(ctx, tenant, x.Name, x.Hash, aggregate.Read, setup()); err != nil {
		return fmt.Errorf("allow %s: %w", x.Name, err)
	}
	return d.ForContests(ctx, tenant, x.Name, x.Hash, true, setup())
}

// listed returns one of the MCP server's tools, without a hash if the server has none of the name.
func listed(ctx context.Context, s *stack.Stack, tenant, name string) (mcp.Listed, error) {
	all, err := MCPAdmin(s).Tools(ctx, tenant, vendors.RoomsServer)
	if err != nil {
		return mcp.Listed{}, fmt.Errorf("list the tools of %s: %w", vendors.RoomsServer, err)
	}
	if i := slices.IndexFunc(all, func(x mcp.Listed) bool { return x.Name == name }); i >= 0 {
		return all[i], nil
	}
	return mcp.Listed{}, nil
}

// Ordering allows the tool that orders from suppliers, and marks what an order costs and from whom it is, so that rules
// by amount and destination have something to meet.
func ConnectOrdering(ctx context.Context, s *stack.Stack, tenant string) error {
	x, err := listed(ctx, s, tenant, vendors.PlaceOrder)
	if err != nil || x.Hash == "" || x.State == mcp.On {
		return err
	}
	if err := MCPAdmin(s).Allow(ctx, tenant, x.Name, x.Hash, aggregate.Write, setup()); err != nil {
		return fmt.Errorf("allow %s: %w", x.Name, err)
	}
	p, _, err := rows(s).ToolPermission(ctx, tenant, x.Name)
	if err != nil {
		return fmt.Errorf("mark %s: %w", x.Name, err)
	}
	p.Mark = &rules.Mark{
		Version: p.Pin.Version(), How: rules.HowProduct, Pointers: []string{"/items/*/quantity", "/items/*/unit_price"},
		Currency: "JPY", Units: []string{"/currency"}, Destinations: []string{"/supplier"},
	}
	_, err = rows(s).SaveToolPermission(ctx, p, setup(), time.Now())
	return err
}
