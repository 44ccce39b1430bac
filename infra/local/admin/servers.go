package admin

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/task"
	"ringi/shared/tool/mcp"
)

// Server is the vendors' MCP server, as settings name it.
func Server(s *stack.Stack) task.MCPServer {
	return task.MCPServer{Name: vendors.RoomsServer, URL: s.VendorsURL + vendors.RoomsPath}
}

// nameServer names the MCP server in a tenant's settings and opens its door. Its
// tools are off until somebody allows them.
func nameServer(ctx context.Context, s *stack.Stack, rows *store.Store, v vault.Vault, tenant string) error {
	server := Server(s)
	if err := v.Connect(ctx, tenant, server.Provider(), vault.Credential{AccessToken: s.Vendors.RoomsToken()}, "{}", task.System()); err != nil {
		return err
	}
	x, err := rows.Settings(ctx, tenant)
	if err != nil || slices.Contains(x.MCPServers, server) {
		return err
	}
	x.MCPServers = append(x.MCPServers, server)
	_, err = rows.SaveSettings(ctx, tenant, x, task.System(), time.Now())
	return err
}

// Desk is where the tools of a stack's MCP servers are allowed.
func Desk(s *stack.Stack) mcp.Desk {
	rows := store.New(dynamodb.NewFromConfig(s.AWS), s.TableName)
	reach := outbound.Dialer{Allow: []string{s.VendorsHost()}}
	return mcp.Desk{
		Rows: rows, Credentials: vault.New(rows, vault.Envelope{KMS: kms.NewFromConfig(s.AWS), KeyID: s.KeyID}),
		Client: mcp.Client{HTTP: reach.Client()}, Now: time.Now,
	}
}
