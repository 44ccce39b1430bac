package tool

import (
	"encoding/json"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

// maxDeclared is how many bytes what is declared may have: the steps of a plan are one row.
const maxDeclared = 1024

// Declared returns what an MCP server's schema declares of the arguments that a call has, and of what is inside: a list
// of pointers, each with its title in the server's words. Those that are required come first, in the schema's order.
// What is too long is left out.
func Declared(s Spec, a Arguments) aggregate.JSON {
	if s.Pin == nil {
		return ""
	}
	var all [][2]string
	for _, m := range schema.Members(s.InputSchema) {
		if _, has := a.members[m.Path[0]]; has && m.Path[len(m.Path)-1] != schema.Rows {
			title := legible.Clip(legible.OneLine(m.Title), rules.MaxNamed)
			all = append(all, [2]string{rules.Pointer(m.Path), title})
		}
	}
	for n := len(all); n > 0; n-- {
		if b, err := json.Marshal(all[:n]); err == nil && len(b) <= maxDeclared {
			return aggregate.JSON(b)
		}
	}
	return ""
}
