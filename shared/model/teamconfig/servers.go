package teamconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/domain/tenancy"
)

// Server is an MCP server by whose tools members of type web-search read where no administrator lists any: on one
// machine.
type Server struct {
	Name string `json:"name"` // the table's
	URL  string `json:"url"`
	// TokenEnv is the variable of the environment that has the server's token, or a whole header: TokenVariable of its
	// name; nil: it asks for none.
	TokenEnv *string  `json:"token_env"`
	Tools    []string `json:"tools"` // those that members may call
}

// TokenVariable is the one variable that a file may name for the token of a server: workspaces are passed on, and a
// file of somebody else's must send neither the keys of models nor another server's token to its own.
func TokenVariable(server string) string {
	return "MCP_" + strings.ToUpper(strings.ReplaceAll(server, "-", "_")) + "_TOKEN"
}

// Servers reads a file of MCP servers, which are in the order of their names.
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
		top.refuse("", "must be at most %d servers, these are %d", tenancy.MaxMCPServers, len(names))
		names = names[:tenancy.MaxMCPServers]
	}
	all, listed := []Server{}, 0
	for _, name := range names {
		keys := top.table(name)
		if keys == nil {
			continue
		}
		s := r.section(file, "servers."+name+".", keys).server(name)
		all, listed = append(all, s), listed+len(s.Tools)
	}
	if listed > tenancy.MaxContestTools {
		top.refuse("", "must list at most %d tools together, these are %d", tenancy.MaxContestTools, listed)
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
		case !blank(x.URL): // that it is, is said
			if p.Rule == tenancy.RuleAddressOnly {
				s.keys["url"] = nil // it has what is secret
			}
			s.refuse("url", "%s", p.Err().Limit)
		}
	}
	if own := TokenVariable(name); x.TokenEnv != nil && *x.TokenEnv != own {
		s.keys["token_env"] = nil // it may be the token itself
		s.refuse("token_env", "must be %s, the variable of the environment that belongs to this server's name", own)
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

// Wrong is a finding about a field of a server, with the value that it has in the file.
func (s Server) Wrong(file, field, value, format string, a ...any) Finding {
	f := Finding{File: file, Field: strings.TrimSuffix("servers."+s.Name+"."+field, "."),
		Message: fmt.Sprintf(format, a...)}
	if value != "" {
		f.Value = written(value)
	}
	return f
}
