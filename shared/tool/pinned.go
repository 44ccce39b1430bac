package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// MaxPinned is the longest time that a call of an MCP server's tool may take.
const MaxPinned = time.Minute

// textOutput is the output schema of a tool that declares none.
const textOutput = `{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`

// Pinned returns the catalog's form of an MCP server's tool that a permission allows. It reports false for a tool of
// Ringi's own and for a tool that is off. It also does so if the settings no longer name the server with the address at
// which the tool was allowed.
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

// With returns the catalog with additional tools. It returns the same errors as NewCatalog.
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

// LeftOut returns the default values in an MCP server's schema for the arguments that a write omits, as an object by
// name; empty if there are none. Cards show them, because people who approve the call have not read the schema.
// Defaults of nested members are not included.
func LeftOut(s Spec, a Arguments) aggregate.JSON {
	if s.Pin == nil || s.Access != aggregate.Write {
		return ""
	}
	var input struct{ Properties map[string]json.RawMessage }
	if json.Unmarshal([]byte(s.InputSchema), &input) != nil {
		return ""
	}
	out := map[string]json.RawMessage{}
	for name, schema := range input.Properties {
		var member struct{ Default json.RawMessage }
		if _, given := a.members[name]; given || json.Unmarshal(schema, &member) != nil { // a schema may also be true or false
			continue
		}
		if d := string(member.Default); d != "" && d != "null" {
			out[name] = member.Default
		}
	}
	if len(out) == 0 {
		return ""
	}
	b, err := json.Marshal(out)
	if err != nil { // impossible: the values were read as JSON
		return ""
	}
	return aggregate.JSON(b)
}
