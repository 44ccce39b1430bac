package model

import (
	"encoding/json"
	"unicode/utf8"

	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

// wrapped is the one argument of a foreign tool whose schema a vendor refuses: all of its arguments, as a text.
const wrapped = "arguments_json"

// Takeable returns tools as one of the schema package's vendors takes them. A tool whose schema it refuses takes its
// arguments as a text, whose description has the schema. A description that is too long stands in the schema, of which
// vendors limit nothing, and its beginning where it belongs.
func Takeable(tools []Tool, vendor string) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		if t.wraps(vendor) {
			said, _ := json.Marshal("All arguments, as one JSON object of this schema:\n" + string(t.Schema)) // a text
			t.Description += "\nWrite all arguments as one JSON object into " + wrapped + "."
			t.Schema = json.RawMessage(`{"type":"object","properties":{"` + wrapped + `":{"type":"string","description":` +
				string(said) + `}},"required":["` + wrapped + `"],"additionalProperties":false}`)
		}
		if most := schema.MaxDescription(vendor); t.Foreign && most > 0 && utf8.RuneCountInString(t.Description) > most {
			if top, err := Split(t.Schema); err == nil {
				top["description"] = t.Description
				t.Schema, _ = json.Marshal(top) // what was JSON can be written
			}
			t.Description = legible.Clip(t.Description, most)
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
