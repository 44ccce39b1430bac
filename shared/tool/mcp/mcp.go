// Package mcp calls the tools of MCP servers over streamable HTTP, and lists them for an
// administrator. What a server says of itself is not trusted: names, descriptions,
// schemas and results are bounded, and a tool is called only while its description and
// schemas are exactly those that were allowed.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/failure"
	"ringi/shared/tenancy"
)

// Client calls servers.
type Client struct {
	HTTP *http.Client // of the outbound dialer
}

// Server is one server, with the secret that authenticates us to it.
type Server struct {
	tenancy.MCPServer
	// Secret goes with every request: a token for the Authorization header, or a
	// whole header as `Name: value`. Empty: the server asks for none, or refuses.
	Secret string
}

func (s Server) provider() failure.Provider { return failure.Provider(s.Provider()) }

// Call is one call of a tool.
type Call struct {
	Server    Server
	Tool      string // as the server names it
	Hash      string // of the tool as it was allowed
	Arguments json.RawMessage
}

// Call makes the call if the server still has the tool that was allowed, and returns its
// result: the structured content if the tool declares an output schema, else {"text": …}.
// Its errors are *failure.Error: Failed when the call was not made or was refused, else
// Unknown.
func (c Client) Call(ctx context.Context, call Call) (any, error) {
	s, err := c.open(ctx, call.Server)
	if err != nil {
		return nil, err
	}
	defer s.close()
	declares, err := s.find(ctx, call.Tool, call.Hash)
	if err != nil {
		return nil, err
	}
	r := new(record)
	answer, err := s.CallTool(r.in(ctx), &sdk.CallToolParams{Name: call.Tool, Arguments: call.Arguments})
	if e := r.judge(ctx, call.Server, err); e != nil {
		return nil, e
	}
	return result(call.Server.provider(), answer, r, declares)
}

// find looks for the tool that was allowed among those that the server has now.
func (s session) find(ctx context.Context, name, hash string) (declares bool, err error) {
	all, err := s.list(ctx)
	if err != nil {
		return false, err
	}
	var found []Tool
	for _, t := range all {
		if t.Name == name {
			found = append(found, t)
		}
	}
	if len(found) != 1 || found[0].Hash() != hash {
		return false, &failure.Error{
			Outcome: failure.Failed, Problem: failure.ProblemChanged, Args: []any{s.server.provider(), name},
			Err: fmt.Errorf("the server has %d such tools, none as allowed", len(found)),
		}
	}
	return found[0].Output != "", nil
}
