package teamconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/domain/tenancy"
)

// Server is an MCP server for members of type web-search, for contests on one machine without an administrator.
type Server struct {
	Name string `json:"name"` // the table's
	URL  string `json:"url"`
	// TokenEnv names the environment variable that has the server's token or a complete header. It must be
	// TokenVariable of the server's name; nil: the server needs no token.
	TokenEnv *string  `json:"token_env"`
	Tools    []string `json:"tools"` // those that members may call
}

// TokenVariable is the only variable that a file may name for a server's token. People pass workspaces on, and another
// person's file must not be able to send the keys of models, or another server's token, to its own server.
func TokenVariable(server string) string {
	return "MCP_" + strings.ToUpper(strings.ReplaceAll(server, "-", "_")) + "_TOKEN"
}

// Servers reads a file of MCP servers and sorts them by name.
func (w Workspace) Servers(file string) ([]Server, []Finding) {
	r := &reading{w: w}
	tables := r.file(file, "")
	if tables == nil {
		return nil, r.found
	}
	return r.servers(file, tables), r.found
}

func (r *reading) servers(file string, tables map[string]any) []Server {
	top := r.topTable(file, "", "servers", "MCP servers", tables)
	if top == nil {
		return nil
	}
	top.path = "servers."
	names := slices.Sorted(maps.Keys(top.keys))
	if len(names) > tenancy.MaxMCPServers {
		top.refuse("", "must be at most %d servers, but there are %d", tenancy.MaxMCPServers, len(names))
		names = names[:tenancy.MaxMCPServers]
	}
	all, listed := []Server{}, 0
	for _, name := range names {
		keys := top.table(name)
		if keys == nil {
			continue
		}
		r.assign("servers."+name+".name", file)
		s := r.section(file, "servers."+name+".", keys).server(name)
		all, listed = append(all, s), listed+len(s.Tools)
	}
	if listed > tenancy.MaxContestTools {
		top.refuse("", "must list at most %d tools in total, but there are %d", tenancy.MaxContestTools, listed)
	}
	return all
}

func (s *section) server(name string) Server {
	x := Server{Name: name, URL: s.needed("url"), TokenEnv: s.text("token_env"), Tools: s.texts("tools")}
	if x.Tools == nil {
		x.Tools = []string{}
	}
	for _, p := range (tenancy.MCPServer{Name: name, URL: x.URL}).Problems() {
		switch {
		case p.Field == "name":
			s.refuse("", "the name %s", p.Err().Limit)
		case !blank(x.URL): // a blank URL has a finding already
			if p.Rule == tenancy.RuleAddressOnly {
				s.keys["url"] = nil // it contains a secret
			}
			s.refuse("url", "%s", p.Err().Limit)
		}
	}
	if own := TokenVariable(name); x.TokenEnv != nil && *x.TokenEnv != own {
		s.keys["token_env"] = nil // it may be the token itself
		s.refuse("token_env", "must be %s, the environment variable for this server's name", own)
	}
	for i, tool := range x.Tools {
		if blank(tool) {
			s.refuse("tools", "must not have an empty name: tools[%d]", i)
		}
	}
	if twice := repeated(slices.DeleteFunc(slices.Clone(x.Tools), blank)); twice != "" {
		s.refuse("tools", "Duplicate tool detected: %s", twice)
	}
	s.end()
	return x
}

// Wrong returns a finding about a server's field and its value.
func (s Server) Wrong(file, field, value, format string, a ...any) Finding {
	f := Finding{File: file, Field: strings.TrimSuffix("servers."+s.Name+"."+field, "."),
		Message: fmt.Sprintf(format, a...)}
	if value != "" {
		f.Value = written(value)
	}
	return f
}
