package tenancy

import (
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestServersThatSettingsMayName(t *testing.T) {
	for _, url := range []string{"https://example.com/mcp", "https://example.com:8443/", "http://127.0.0.1:4000/mcp", "http://[::1]:4000/mcp"} {
		s := DefaultSettings()
		s.MCPServers = []MCPServer{{"rooms-2", url}}
		err := s.Validate()
		expect.That(t, err == nil, "%s: %v", url, err)
	}
	many := []MCPServer{}
	for i := range MaxMCPServers + 1 {
		many = append(many, MCPServer{strings.Repeat("a", i+1), "https://example.com"})
	}
	for name, test := range map[string]struct {
		servers []MCPServer
		field   string
	}{
		"too many":         {many, "mcp_servers"},
		"no name":          {[]MCPServer{{"", "https://example.com"}}, "mcp_servers[0].name"},
		"a dot":            {[]MCPServer{{"a.b", "https://example.com"}}, "mcp_servers[0].name"},
		"a long name":      {[]MCPServer{{strings.Repeat("a", 33), "https://example.com"}}, "mcp_servers[0].name"},
		"twice":            {[]MCPServer{{"a", "https://example.com"}, {"a", "https://example.org"}}, "mcp_servers[1].name"},
		"http":             {[]MCPServer{{"a", "http://example.com"}}, "mcp_servers[0].url"},
		"http on a name":   {[]MCPServer{{"a", "http://localhost:1"}}, "mcp_servers[0].url"},
		"http, private":    {[]MCPServer{{"a", "http://10.0.0.1"}}, "mcp_servers[0].url"},
		"a file":           {[]MCPServer{{"a", "file:///etc/passwd"}}, "mcp_servers[0].url"},
		"a password":       {[]MCPServer{{"a", "https://me:word@example.com"}}, "mcp_servers[0].url"},
		"a key in a query": {[]MCPServer{{"a", "https://example.com/?key=1"}}, "mcp_servers[0].url"},
		"no address":       {[]MCPServer{{"a", ""}}, "mcp_servers[0].url"},
		"no host":          {[]MCPServer{{"a", "https:///mcp"}}, "mcp_servers[0].url"},
		"opaque":           {[]MCPServer{{"a", "https:example.com"}}, "mcp_servers[0].url"},
	} {
		t.Run(name, func(t *testing.T) {
			s := DefaultSettings()
			s.MCPServers = test.servers
			var field aggregate.ErrField
			err := s.Validate()
			expect.That(t, errors.As(err, &field) && field.Field == test.field, "got %v, want the field %s", err, test.field)
		})
	}
}

func TestAPinIsAnotherWhenAnythingOfItIs(t *testing.T) {
	a := Pin{URL: "https://a", Title: "t", Description: "d", Input: `{"type":"object"}`, Output: `{}`, Access: aggregate.Write, Hash: "h"}
	seen := map[string]bool{a.Version(): true}
	for _, change := range []func(*Pin){
		func(p *Pin) { p.URL = "https://b" }, func(p *Pin) { p.Description = "e" }, func(p *Pin) { p.Input = `{}` },
		func(p *Pin) { p.Output = "" }, func(p *Pin) { p.Access = aggregate.Read }, func(p *Pin) { p.Hash = "i" }, func(p *Pin) { p.Title = "u" },
	} {
		b := a
		change(&b)
		expect.That(t, !seen[b.Version()], "%+v has a version that another has", b)
		seen[b.Version()] = true
	}
}
