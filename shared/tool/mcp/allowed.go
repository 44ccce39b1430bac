package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/failedcall"
)

// CallAllowed calls a tenant's tool, named <server>.<tool>, as it was allowed, where it was. A server that was never
// connected is called without credentials: it may ask for none. Its errors are those of Call.
func (c Client) CallAllowed(ctx context.Context, of Credentials, tenant, name string, pin tenancy.Pin,
	arguments json.RawMessage) (any, error) {
	server, tool, _ := tenancy.ServerTool(name)
	s := Server{MCPServer: tenancy.MCPServer{Name: server, URL: pin.URL}}
	var err error
	s.Secret, err = of.ServerToken(ctx, tenant, s.MCPServer)
	if ended := (tenancy.ErrNotConnected{}); errors.As(err, &ended) || err != nil &&
		!errors.Is(err, aggregate.ErrNotFound) {
		return nil, failedcall.NoToken(s.provider(), err)
	}
	return c.Call(ctx, Call{Server: s, Tool: tool, Hash: pin.Hash, Arguments: arguments})
}
