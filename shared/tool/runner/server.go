package runner

import (
	"context"
	"errors"

	"ringi/shared/aggregate"
	"ringi/shared/failure"
	"ringi/shared/tenancy"
	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
)

// callServer calls an MCP server's tool as it was allowed, where it was. A server
// that was never connected is called without credentials: it may ask for none.
func (r *Runner) callServer(ctx context.Context, c tool.Call) (any, error) {
	name, toolName, _ := tenancy.ServerTool(c.Tool)
	s := mcp.Server{MCPServer: tenancy.MCPServer{Name: name, URL: c.Pin.URL}}
	var err error
	s.Secret, err = r.config.Credentials.ServerToken(ctx, c.Tenant, s.MCPServer)
	if ended := (tenancy.ErrNotConnected{}); errors.As(err, &ended) || err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return nil, noTokenError(failure.Provider(s.Provider()), err)
	}
	return mcp.Client{HTTP: r.config.Outbound}.Call(ctx, mcp.Call{Server: s, Tool: toolName, Hash: c.Pin.Hash, Arguments: c.Arguments.JSON()})
}
