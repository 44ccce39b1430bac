package model

import (
	"encoding/json"

	"ringi/shared/tool/schema"
)

// wrapped is the one argument of a foreign tool whose schema a vendor refuses: all of its arguments, as a text.
const wrapped = "arguments_json"

// Takeable returns tools as one of the schema package's vendors takes them. A tool whose schema it refuses takes its
// arguments as a text, and says its schema.
func Takeable(tools []Tool, vendor string) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		if t.wraps(vendor) {
			t.Description += "\nWrite all arguments as one JSON object into " + wrapped + ". Its schema:\n" + string(t.Schema)
			t.Schema = json.RawMessage(`{"type":"object","properties":{"` + wrapped + `":{"type":"string"}},` +
				`"required":["` + wrapped + `"],"additionalProperties":false}`)
		}
		out[i] = t
	}
	return out
}

func (t Tool) wraps(vendor string) bool { return t.Foreign && !schema.TakenBy(vendor, t.Schema) }

// unwrap returns the arguments that a call of such a tool has in its text.
func (h *Hearing) unwrap(c *Call) {
	var in map[string]string
	for _, t := range h.asked.Tools {
		if t.Name == c.Name && t.wraps(h.Vendor) && json.Unmarshal(c.Input, &in) == nil && len(in) == 1 && in[wrapped] != "" {
			c.Input = unquoted(json.RawMessage(in[wrapped]))
		}
	}
}
