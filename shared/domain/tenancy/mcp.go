package tenancy

import (
	"encoding/json"
	"strings"

	"ringi/shared/domain/aggregate"
)

// MCPServer is a server of tools that a tenant's settings name.
type MCPServer struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// MaxMCPServers is the maximum number of servers per tenant.
const MaxMCPServers = 10

// Pin is an MCP server's tool as the administrator saw it when allowing it.
type Pin struct {
	URL         string         `json:"url"` // the server's address
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Input       aggregate.JSON `json:"input_schema"`
	Output      aggregate.JSON `json:"output_schema,omitempty"`
	// Access was declared by the administrator; the server's own annotations are not trusted.
	Access aggregate.Access `json:"effect"`
	Hash   string           `json:"hash"` // hash of everything that the server said about the tool
}

// Version changes when the tool or its server's address changes. It is the full hash, because a server's author could
// find two schemas whose truncated hashes are equal.
func (p Pin) Version() string {
	b, err := json.Marshal(p)
	if err != nil { // invalid schemas must not equal any version
		return "invalid: " + err.Error()
	}
	return aggregate.HashOf(string(b))
}

// ServerTool splits the name `<server>.<tool>`. It returns false for Ringi's own tools.
func ServerTool(name string) (server, tool string, ok bool) { return strings.Cut(name, ".") }

// ServerProvider begins the provider name of every MCP server's integration.
const ServerProvider = "mcp:"

// Provider returns the name of the integration that holds the server's secret.
func (s MCPServer) Provider() string { return ServerProvider + s.Name }
