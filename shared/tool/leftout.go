package tool

import (
	"encoding/json"

	"ringi/shared/domain/aggregate"
)

// LeftOut are the default values in an MCP server's schema for arguments that a write leaves out,
// as an object by name; empty if there are none. Cards show them, because people who approve the
// call have not read the schema. Defaults of nested members are not included.
func LeftOut(s Spec, a Arguments) aggregate.JSON {
	if s.Pin == nil || s.Access != aggregate.Write {
		return ""
	}
	var input struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal([]byte(s.InputSchema), &input) != nil {
		return ""
	}
	out := map[string]json.RawMessage{}
	for name, schema := range input.Properties {
		var member struct {
			Default json.RawMessage `json:"default"`
		}
		if _, given := a.members[name]; given || json.Unmarshal(schema, &member) != nil { // true and false are schemas too
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
	if err != nil { // of JSON that was read
		return ""
	}
	return aggregate.JSON(b)
}
