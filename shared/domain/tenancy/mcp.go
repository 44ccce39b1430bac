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

// MaxMCPServers is how many a tenant may name.
const MaxMCPServers = 10

// Pin is a tool of an MCP server as an administrator saw and allowed it.
type Pin struct {
	URL         string         `json:"url"` // of the server
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Input       aggregate.JSON `json:"input_schema"`
	Output      aggregate.JSON `json:"output_schema,omitempty"`
	// Access is what the administrator declared; the server's own annotations are not trusted.
	Access aggregate.Access `json:"effect"`
	Hash   string           `json:"hash"` // of all that the server said of the tool
}

// Version changes when the tool or its server's address changes. It is the whole hash: for a
// part of it, a server's author could find two schemas with the same value.
func (p Pin) Version() string {
	b, err := json.Marshal(p)
	if err != nil { // schemas that are not JSON must not equal any version
		return "invalid: " + err.Error()
	}
	return aggregate.HashOf(string(b))
}

// ServerTool takes the name `<server>.<tool>` apart. It reports false for a tool of Ringi's own.
func ServerTool(name string) (server, tool string, ok bool) { return strings.Cut(name, ".") }

// ServerProvider begins the name of every MCP server's integration.
const ServerProvider = "mcp:"

// Provider is the integration that holds a server's secret.
func (s MCPServer) Provider() string { return ServerProvider + s.Name }
