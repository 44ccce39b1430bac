package tool

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
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
	declared(&all, "", json.RawMessage(s.InputSchema), func(name string) bool { _, has := a.members[name]; return has })
	for n := len(all); n > 0; n-- {
		if b, err := json.Marshal(all[:n]); err == nil && len(b) <= maxDeclared {
			return aggregate.JSON(b)
		}
	}
	return ""
}

func declared(all *[][2]string, pointer string, text json.RawMessage, has func(name string) bool) {
	var x struct {
		Properties map[string]json.RawMessage
		Required   []string
		Items      json.RawMessage
	}
	if json.Unmarshal(text, &x) != nil { // a schema may also be true
		return
	}
	place := func(name string) int {
		if at := slices.Index(x.Required, name); at >= 0 {
			return at
		}
		return len(x.Required)
	}
	every := func(string) bool { return true }
	for _, name := range slices.SortedFunc(maps.Keys(x.Properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	}) {
		if !has(name) {
			continue
		}
		var about struct{ Title string }
		_ = json.Unmarshal(x.Properties[name], &about)
		at := pointer + "/" + rules.Token(name)
		*all = append(*all, [2]string{at, legible.Clip(legible.OneLine(about.Title), rules.MaxNamed)})
		declared(all, at, x.Properties[name], every)
	}
	if x.Items != nil {
		declared(all, pointer+"/*", x.Items, every)
	}
}
