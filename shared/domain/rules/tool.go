package rules

import (
	"net/url"
	"strings"
)

// Tool names a tool by the address of its server, so that a second name for the same server changes nothing.
type Tool struct {
	Address string `json:"address,omitempty"` // of the MCP server; empty: Ringi's own
	Name    string `json:"name"`              // as the server calls it
}

// Same reports whether two names are of one tool. An address's scheme and host in other letters, its scheme's usual
// port and slashes at the end make no difference.
func (t Tool) Same(other Tool) bool {
	return t.Name == other.Name && plainAddress(t.Address) == plainAddress(other.Address)
}

var usualPorts = map[string]string{"https": ":443", "http": ":80"}

func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	u.Host = strings.TrimSuffix(u.Host, usualPorts[u.Scheme])
	u.Host = strings.TrimSuffix(u.Host, ".")
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u.String()
}
