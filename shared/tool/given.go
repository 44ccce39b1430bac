package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
)

// Given returns what an agent is given of a result: with personal data masked as on cards, and at most MaxCallResult
// bytes of it. Of a longer one that is its beginning, as a JSON text.
func Given(value json.RawMessage) (r conversation.CallResult, err error) {
	v, err := Decode(value)
	if err != nil {
		return r, fmt.Errorf("read a result: %w", err)
	}
	whole, err := aggregate.Written(language.MaskAll(v))
	if err != nil {
		return r, fmt.Errorf("write a result: %w", err)
	}
	if r.Value = whole; len(whole) <= conversation.MaxCallResult {
		return r, nil
	}
	r.Bytes = len(whole)
	for len(r.Value) > conversation.MaxCallResult || r.ShownBytes == 0 { // JSON spells quotation marks with two bytes
		whole = whole[:min(len(whole), conversation.MaxCallResult)*3/4]
		said := strings.ToValidUTF8(string(whole), "")
		if r.Value, err = aggregate.Written(said); err != nil {
			return r, fmt.Errorf("write a result: %w", err)
		}
		r.ShownBytes = len(said)
	}
	return r, nil
}

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
	for _, m := range SchemaMembers(s.InputSchema) {
		if _, has := a.members[m.Path[0]]; has && m.Path[len(m.Path)-1] != Rows {
			title := language.Clip(language.OneLine(m.Title), rules.MaxNamed)
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
