//go:build mcp

package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func init() { made = append(made, call) }

// call links what a call of an MCP server needs; its client is made at the first call.
func call(ctx context.Context) error {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{}, nil)
	if err == nil {
		_, err = s.CallTool(ctx, &mcp.CallToolParams{})
	}
	return err
}
