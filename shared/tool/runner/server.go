package runner

import (
	"context"

	"ringi/shared/tool"
	"ringi/shared/tool/mcp"
)

// callServer calls an MCP server's tool as it was allowed.
func (r *Runner) callServer(ctx context.Context, c tool.Call) (any, error) {
	return mcp.Client{HTTP: r.config.Outbound}.CallAllowed(ctx, r.config.Credentials, c.Tenant, c.Tool, *c.Pin,
		c.Arguments.JSON())
}
