package tool

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// MaxPinned is the longest a call of an MCP server's tool may take.
const MaxPinned = time.Minute

// textOutput is what a tool gives that declares no output schema.
const textOutput = `{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`

// Pinned is the tool of an MCP server that a permission allows, as one of the
// catalog. It reports false for a tool of Ringi's own, for one that is off, and for
// one whose server the settings no longer name at the address where it was allowed.
func Pinned(p tenancy.ToolPermission, servers []tenancy.MCPServer) (Spec, bool) {
	server, _, foreign := tenancy.ServerTool(p.ToolName)
	if !foreign || !p.Allowed || p.Pin == nil || p.ChangedAt != nil ||
		!slices.Contains(servers, tenancy.MCPServer{Name: server, URL: p.Pin.URL}) {
		return Spec{}, false
	}
	s := Spec{
		Name: p.ToolName, Titles: language.Texts{language.All[0]: p.Pin.Title}, Description: p.Pin.Description,
		Access:   p.Pin.Access,
		Provider: tenancy.MCPServer{Name: server}.Provider(), Timeout: MaxPinned,
		InputSchema: string(p.Pin.Input), OutputSchema: string(p.Pin.Output), Pin: p.Pin,
	}
	if s.OutputSchema == "" {
		s.OutputSchema = textOutput
	}
	return s, true
}

// With is the catalog and more tools. It returns an error as NewCatalog does.
func (c *Catalog) With(specs ...Spec) (*Catalog, error) {
	all, err := NewCatalog(specs...)
	if err != nil {
		return nil, err
	}
	for _, s := range c.specs {
		if _, taken := all.inputs[s.Name]; taken {
			return nil, fmt.Errorf("tool %s: the name is taken", s.Name)
		}
		all.specs = append(all.specs, s)
		all.inputs[s.Name], all.outputs[s.Name] = c.inputs[s.Name], c.outputs[s.Name]
	}
	return all, nil
}
