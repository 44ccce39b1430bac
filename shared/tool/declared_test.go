package tool_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// Of a server's schema the arguments of a call are known in the order in which it requires them.
func TestWhatASchemaDeclaresKeepsItsOrder(t *testing.T) {
	s := tool.Spec{Pin: &tenancy.Pin{}, InputSchema: `{"properties":{"a":true,"items":{"title":"Rows",` +
		`"items":{"properties":` +
		`{"name":{"title":"Item\u202e"},"price":{"type":"number"}},"required":["price"]}},"to/whom":{"title":"` +
		strings.Repeat("x", 50) + `"},"unused":{}},"required":["to/whom","items"]}`}
	args := expect.Value(tool.Parse(`{"a":1,"items":[],"to/whom":"x"}`))(t)
	expect.Is(t, string(tool.Declared(s, args)), `[["/to~1whom","`+strings.Repeat("x", 39)+`…"],["/items","Rows"],`+
		`["/items/*/price",""],["/items/*/name","Item⟨U+202E⟩"],["/a",""]]`)
	s.InputSchema = `{"properties":{"a":{"properties":{"` + strings.Repeat("x", 2000) + `":{}}}}}`
	expect.Is(t, string(tool.Declared(s, args)), `[["/a",""]]`)
	s.Pin = nil
	expect.Is(t, string(tool.Declared(s, args)), "")
}
