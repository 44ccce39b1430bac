package card

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/legible"
)

// masked hides personal data in a text that may be JSON.
func masked(text string) string {
	v, ok := decoded(text)
	if !ok {
		return legible.Mask(text)
	}
	hidden := legible.MaskAll(v)
	if reflect.DeepEqual(v, hidden) {
		return text
	}
	return compact(hidden)
}

func compact(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil { // impossible for decoded JSON
		return "?"
	}
	return strings.TrimSpace(b.String())
}

// literal returns arguments as people see them. It masks personal data in values that come from earlier results. It
// masks nothing in planned values, in destinations, and in the arguments of an MCP server's tool, each of which may be
// a destination. hidden names the arguments in which something was masked.
func literal(planned any, members map[string]any, tool string) (shown map[string]any, hidden []string) {
	if _, _, foreign := tenancy.ServerTool(tool); foreign {
		return members, nil
	}
	plan, _ := planned.(map[string]any)
	shown = make(map[string]any, len(members))
	for _, name := range sorted(members) {
		v := members[name]
		shown[name] = v
		if destination(tool, name, v) {
			continue
		}
		of, had := plan[name]
		shown[name] = revealed(of, had, v)
		if !reflect.DeepEqual(shown[name], v) {
			hidden = append(hidden, name)
		}
	}
	return shown, hidden
}

// revealed masks personal data in a value, except in the parts that equal the planned value.
func revealed(planned any, had bool, v any) any {
	switch v := v.(type) {
	case map[string]any:
		plan, ok := planned.(map[string]any)
		if _, ref := plan["$ref"]; !ok || ref {
			return legible.MaskAll(v)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			of, had := plan[name]
			out[name] = revealed(of, had, member)
		}
		return out
	case []any:
		plan, ok := planned.([]any)
		if !ok || len(plan) != len(v) {
			return legible.MaskAll(v)
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = revealed(plan[i], true, v[i])
		}
		return out
	}
	if had && reflect.DeepEqual(planned, v) {
		return v
	}
	return legible.MaskAll(v)
}

// destinations are those arguments of Ringi's own tools that name the place a call writes or sends to, in the order of
// cards.
var destinations = []string{"recipient", "spreadsheet_id", "sheet"}

// destination reports whether an argument says where a call writes or sends to: by its name, or because it consists of
// addresses only.
func destination(tool, name string, v any) bool {
	if _, _, foreign := tenancy.ServerTool(tool); !foreign && slices.Contains(destinations, name) {
		return true
	}
	list, isList := v.([]any)
	return legible.MaskDestination(v) && (!isList || len(list) > 0)
}
