package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/failedcall"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/store/tasks"
	"ringi/shared/tool/mcp"
)

// Server is the vendors' MCP server, as settings name it.
func Server(s *stack.Stack) tenancy.MCPServer {
	return tenancy.MCPServer{Name: vendors.RoomsServer, URL: s.VendorsURL + vendors.RoomsPath}
}

// nameServer adds the MCP server to a tenant's settings and stores its secret. Its
// tools are off until an administrator allows them.
func nameServer(ctx context.Context, s *stack.Stack, rows *tasks.Store, v vault.Vault, tenant string) error {
	server := Server(s)
	if err := v.Connect(ctx, tenant, server.Provider(), vault.Credential{AccessToken: s.Vendors.RoomsToken(), Address: server.URL}, "{}", setup()); err != nil {
		return err
	}
	x, err := rows.Settings(ctx, tenant)
	if err != nil || slices.Contains(x.MCPServers, server) {
		return err
	}
	x.MCPServers = append(x.MCPServers, server)
	_, err = rows.SaveSettings(ctx, tenant, x, setup(), time.Now())
	return err
}

// MCP administers the tools of a stack's MCP servers.
func MCP(s *stack.Stack) mcp.Admin {
	rows := tasks.New(dynamodb.NewFromConfig(s.AWS), s.TableName)
	reach := outbound.Dialer{Allow: []string{s.VendorsHost()}}
	return mcp.Admin{
		Rows: rows, Credentials: vault.New(rows, vault.Envelope{KMS: kms.NewFromConfig(s.AWS), KeyID: s.KeyID}),
		Client: mcp.Client{HTTP: reach.Client()}, Now: time.Now,
	}
}

// Readable is Connect that also lets members of contests read by one of the vendors' tools, as an administrator does at the console.
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

// servers is the sandbox's panel over the tools of MCP servers.
type servers struct{ stack *stack.Stack }

// List asks every server that the settings name. One that can't be asked is a line that says so.
func (p servers) List(ctx context.Context) ([]sandbox.ServerTool, error) {
	d, tenant := MCP(p.stack), aggregate.TenantID(p.stack.Sandbox.TeamID())
	x, err := d.Rows.Settings(ctx, tenant)
	if err != nil {
		return nil, err
	}
	out := []sandbox.ServerTool{}
	for _, server := range x.MCPServers {
		all, err := d.Tools(ctx, tenant, server.Name)
		if err != nil {
			out = append(out, sandbox.ServerTool{Tool: server.Name, State: string(mcp.Unfit), Problem: sentence(x.Locale, err)})
		}
		for _, t := range all {
			out = append(out, sandbox.ServerTool{
				Tool: t.Name, Title: t.Tool.Title, Description: t.Tool.Description, State: string(t.State), Effect: string(t.Access), Hash: t.Hash, Problem: t.Problem,
			})
		}
	}
	return out, nil
}

// Allow lets tasks call the tool that was shown, or with an empty effect forbids it.
func (p servers) Allow(ctx context.Context, by, name, hash, effect string) error {
	d, tenant := MCP(p.stack), aggregate.TenantID(p.stack.Sandbox.TeamID())
	actor := aggregate.Actor{Type: aggregate.ActorUser, ID: by}
	if effect == "" {
		return d.Forbid(ctx, tenant, name, actor)
	}
	return d.Allow(ctx, tenant, name, hash, aggregate.Access(effect), actor)
}

// sentence is an error in words for people.
func sentence(locale string, err error) string {
	var e *failedcall.Error
	if errors.As(err, &e) {
		return failedcall.Sentence(locale, e.Problem, e.Args...)
	}
	return err.Error()
}
