package tenancy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"ringi/shared/aggregate"
	"ringi/shared/lazy"
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

var serverForm = lazy.Regexp(`^[a-z0-9-]{1,32}$`)

// checkServers returns ErrField for the first server that is not valid.
func checkServers(list []MCPServer) error {
	if len(list) > MaxMCPServers {
		return aggregate.ErrField{Field: "mcp_servers", Limit: fmt.Sprintf("must be at most %d", MaxMCPServers)}
	}
	seen := map[string]bool{}
	for i, s := range list {
		field := func(name string) string { return fmt.Sprintf("mcp_servers[%d].%s", i, name) }
		if !serverForm().MatchString(s.Name) {
			return aggregate.ErrField{Field: field("name"), Limit: "must be 1 to 32 of a-z, 0-9 and -"}
		}
		if seen[s.Name] {
			return aggregate.ErrField{Field: field("name"), Limit: "is taken"}
		}
		seen[s.Name] = true
		if limit := wrongAddress(s.URL); limit != "" {
			return aggregate.ErrField{Field: field("url"), Limit: limit}
		}
	}
	return nil
}

// wrongAddress says what is wrong with a server's address, nothing if it is right.
// Plain http is for servers on this machine, which the local stack alone reaches.
func wrongAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > 500 || u.Host == "" || u.Opaque != "" {
		return "must be an address of at most 500 bytes like https://example.com/mcp"
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "must have no name, password, query or fragment: what is secret belongs to the connection"
	}
	here, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && !(u.Scheme == "http" && err == nil && here.IsLoopback()) {
		return "must begin with https://"
	}
	return ""
}
